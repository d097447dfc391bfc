package duel

import (
	"math"
	"strings"
	"testing"
)

func TestDefaults(t *testing.T) {
	n := Config{Mode: Noisy}.WithDefaults()
	if n.Alpha != 0.01 || n.MinEffect != 0.005 || n.Target != 0.01 || n.MaxRuns != 24 {
		t.Errorf("noisy: %+v", n)
	}
	e := Config{Mode: Expensive, MaxRuns: 24}.WithDefaults()
	if e.Alpha != 0.10 || e.MaxRuns != 8 {
		t.Errorf("expensive: %+v", e)
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		name  string
		cfg   Config
		wants []string // parts of the message; none: valid
	}{
		{"noisy", Config{Mode: Noisy, Sigma: 0.01}, nil},
		{"deterministic needs no noise", Config{Mode: Deterministic}, nil},
		{"no mode", Config{Sigma: 0.01}, []string{"mode 0"}},
		{"no noise", Config{Mode: Noisy}, []string{"sigma is 0"}},
		{"all at once", Config{Mode: Noisy, Sigma: math.NaN(), Alpha: 0.5, MinEffect: -1, Target: 2, Tolerance: -1}, []string{"sigma", "alpha", "min_effect", "target", "tolerance"}},
		{"negative alpha", Config{Mode: Noisy, Sigma: 0.01, Alpha: -1}, []string{"alpha"}},
		{"NaN alpha", Config{Mode: Noisy, Sigma: 0.01, Alpha: math.NaN()}, []string{"alpha"}},
		{"cannot accept", Config{Mode: Noisy, Sigma: 0.01, MaxRuns: 8}, []string{"max_runs is 8", "needs 12"}},
		{"negative runs", Config{Mode: Noisy, Sigma: 0.01, MaxRuns: -4}, []string{"max_runs is -4"}},
		{"too many runs", Config{Mode: Noisy, Sigma: 0.01, MaxRuns: 1e6}, []string{"max_runs"}},
		{"expensive cannot use a small alpha", Config{Mode: Expensive, Sigma: 0.01, Alpha: 0.01}, []string{"max_runs is 8"}},
		{"quasi-deterministic on a linear scale", Config{Mode: QuasiDeterministic, Linear: true}, []string{"quasi"}},
		{"nothing to repeat", Config{Mode: Deterministic, ChampionScore: math.NaN()}, []string{"finite"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.cfg.Validate()
			if _, made := New(c.cfg); (made == nil) != (err == nil) {
				t.Errorf("New says %v, Validate %v", made, err)
			}
			if (err == nil) != (c.wants == nil) {
				t.Fatalf("error %v", err)
			}
			for _, want := range c.wants {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not mention %q", err, want)
				}
			}
		})
	}
}

func TestModeNames(t *testing.T) {
	for m := Deterministic; m <= Expensive; m++ {
		if got, err := ParseMode(m.String()); err != nil || got != m {
			t.Errorf("%v reads as %v: %v", m, got, err)
		}
	}
	for _, bad := range []string{"", "unknown", "Noisy"} {
		if m, err := ParseMode(bad); err == nil {
			t.Errorf("%q reads as %v", bad, m)
		}
	}
}

func TestScaleInverts(t *testing.T) {
	for _, higher := range []bool{true, false} {
		s := Config{HigherIsBetter: higher}.scale()
		for _, e := range []float64{-0.5, -0.01, 0, 0.005, 0.5} {
			if got := s.effect(s.difference(e)); math.Abs(got-e) > 1e-12 {
				t.Errorf("higher %v: effect %v comes back as %v", higher, e, got)
			}
		}
		better, worse := s.value(110), s.value(100)
		if !higher {
			better, worse = worse, better
		}
		if better <= worse {
			t.Errorf("higher %v: the better score has the smaller value", higher)
		}
	}
}
