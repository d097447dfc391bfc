package duel

import (
	"math"
	"testing"
)

func TestDeterministic(t *testing.T) {
	for _, c := range []struct {
		name                string
		champion, candidate float64 // in the screen
		again               [2]float64
		lower               bool
		want                Decision
		runs                int
		switched            bool
	}{
		{name: "a win costs two runs", champion: 100, candidate: 100.001, again: [2]float64{100, 100.001}, want: Accepted, runs: 2},
		{name: "lower is better", champion: 3, candidate: 0, again: [2]float64{3, 0}, lower: true, want: Accepted, runs: 2},
		{name: "a tie costs nothing", champion: 100, candidate: 100, want: Refused},
		{name: "a loss costs nothing", champion: 100, candidate: 99, want: Refused},
		{name: "flaky champion", champion: 100, candidate: 101, again: [2]float64{100.5, 0}, runs: 1, switched: true},
		{name: "flaky candidate", champion: 100, candidate: 101, again: [2]float64{100, 101.5}, runs: 2, switched: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := start(t, Config{Mode: Deterministic, HigherIsBetter: !c.lower, ChampionScore: c.champion, CandidateScore: c.candidate})
			v := play(t, d, func(arm Arm, _ int) float64 { return c.again[arm] })
			if v.Decision != c.want || v.Runs != c.runs || v.Switched != c.switched {
				t.Errorf("%v after %d runs, switched %v (%s); want %v, %d, %v", v.Decision, v.Runs, v.Switched, v.Reason, c.want, c.runs, c.switched)
			}
			if v.Switched != (v.Sigma > 0) || v.Reason == "" {
				t.Errorf("sigma %v, reason %q", v.Sigma, v.Reason)
			}
		})
	}
}

// What switched must be able to go on as noisy with the noise it was given.
func TestSwitchedNoiseStartsANoisyDuel(t *testing.T) {
	for _, linear := range []bool{false, true} {
		cfg := Config{Mode: Deterministic, HigherIsBetter: true, Linear: linear, ChampionScore: 100, CandidateScore: 110}
		v := play(t, start(t, cfg), func(arm Arm, _ int) float64 { return 101 + 9*float64(arm) })
		want := math.Log(101.0/100) / math.Sqrt2
		if linear {
			want = 1 / math.Sqrt2
		}
		if !v.Switched || math.Abs(v.Sigma-want) > 1e-12 {
			t.Errorf("linear %v: sigma %v, want %v", linear, v.Sigma, want)
		}
		cfg.Mode, cfg.Sigma = Noisy, v.Sigma
		if _, err := New(cfg); err != nil {
			t.Error(err)
		}
	}
}

func TestQuasiDeterministic(t *testing.T) {
	for _, c := range []struct {
		name      string
		candidate float64
		again     [2]float64
		want      Decision
		runs      int
		switched  bool
	}{
		{"repeats within the tolerance", 102, [2]float64{100.05, 102.05}, Accepted, 2, false},
		{"below min_effect", 100.4, [2]float64{}, Refused, 0, false},
		{"champion beyond the tolerance", 102, [2]float64{100.2, 0}, Undecided, 1, true},
		{"candidate beyond the tolerance", 102, [2]float64{100, 101.5}, Undecided, 2, true},
		{"fresh gain too small", 100.55, [2]float64{100.09, 100.5}, Refused, 2, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := Config{Mode: QuasiDeterministic, HigherIsBetter: true, Sigma: 1e-4, Tolerance: 1e-3, ChampionScore: 100, CandidateScore: c.candidate}
			v := play(t, start(t, cfg), func(arm Arm, _ int) float64 { return c.again[arm] })
			if v.Decision != c.want || v.Runs != c.runs || v.Switched != c.switched {
				t.Errorf("%v after %d runs, switched %v (%s)", v.Decision, v.Runs, v.Switched, v.Reason)
			}
			if v.Decision == Accepted && !(v.Low > 0 && v.Low < v.Effect && v.Effect < v.High) {
				t.Errorf("effect %v in [%v, %v]", v.Effect, v.Low, v.High)
			}
		})
	}
}
