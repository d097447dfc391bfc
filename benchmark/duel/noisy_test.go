package duel

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func noisyConfig(seed uint64) Config {
	return Config{Mode: Noisy, HigherIsBetter: true, Sigma: 0.01, Seed: seed}
}

func start(t *testing.T, cfg Config) *Duel {
	t.Helper()
	d, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// play runs a duel to its end; score gets the arm and how many runs of that
// arm there were before.
func play(t *testing.T, d *Duel, score func(arm Arm, nth int) float64) Verdict {
	t.Helper()
	var runs [2]int
	for arm, more := d.Next(); more; arm, more = d.Next() {
		if err := d.Add(score(arm, runs[arm])); err != nil {
			t.Fatal(err)
		}
		runs[arm]++
	}
	return d.Verdict()
}

// separated scores: every run of the candidate is 10 % better.
func separated(arm Arm, nth int) float64 {
	return 100 + 10*float64(arm) + 0.01*float64(nth)
}

func TestFullSeparation(t *testing.T) {
	for _, c := range []struct {
		name  string
		alpha float64
		mode  Mode
		runs  int
	}{
		{"one of 70 is rare enough at 0.02", 0.02, Noisy, 8},
		{"at 0.01 it takes the second block", 0.01, Noisy, 12},
		{"expensive", 0, Expensive, 8},
	} {
		t.Run(c.name, func(t *testing.T) {
			for seed := range uint64(20) {
				cfg := noisyConfig(seed)
				cfg.Alpha, cfg.Mode = c.alpha, c.mode
				v := play(t, start(t, cfg), separated)
				if v.Decision != Accepted || v.Runs != c.runs {
					t.Fatalf("seed %d: %v after %d runs (%s), want accepted after %d", seed, v.Decision, v.Runs, v.Reason, c.runs)
				}
				if !(v.Low > 0 && v.Low <= v.Effect && v.Effect <= v.High) {
					t.Errorf("seed %d: effect %v in [%v, %v], want a positive interval around it", seed, v.Effect, v.Low, v.High)
				}
				if math.Abs(v.Effect-0.1) > 0.01 {
					t.Errorf("seed %d: effect %v, want 0.1", seed, v.Effect)
				}
			}
		})
	}
}

func TestOneInversionDoesNotCrossInTheFirstBlock(t *testing.T) {
	for _, alpha := range []float64{0.02, 0.01} {
		for seed := range uint64(20) {
			cfg := noisyConfig(seed)
			cfg.Alpha = alpha
			d := start(t, cfg)
			var runs [2]int
			for range 8 {
				arm, _ := d.Next()
				score := []float64{100, 100.1, 100.2, 101.1}[runs[arm]] // champion
				if arm == Candidate {
					score = []float64{101, 103, 103.1, 103.2}[runs[arm]]
				}
				runs[arm]++
				if err := d.Add(score); err != nil {
					t.Fatalf("alpha %v, seed %d: %v", alpha, seed, err)
				}
			}
			if v := d.Verdict(); v.Decision != Undecided || v.P < 2.0/70-1e-12 {
				t.Errorf("alpha %v, seed %d: %v with p %v, want undecided with at least 2/70", alpha, seed, v.Decision, v.P)
			}
		}
	}
}

func TestNothingToFindIsNeverAccepted(t *testing.T) {
	scores := map[string]func(Arm, int) float64{
		"constant":     func(Arm, int) float64 { return 7 },
		"two values":   func(_ Arm, nth int) float64 { return 7 + float64(nth%2) },
		"all at floor": func(Arm, int) float64 { return -3 },
		"one outlier": func(arm Arm, nth int) float64 {
			if arm == Candidate && nth == 2 {
				return 1e300
			}
			return 7
		},
	}
	for name, score := range scores {
		for _, cfg := range []Config{
			{Mode: Noisy, Sigma: 0.01},
			{Mode: Noisy, Sigma: 1e-9, Alpha: 0.25},
			{Mode: Expensive, Sigma: 0.01},
			{Mode: Noisy, Sigma: 2, Linear: true},
			{Mode: Noisy, Sigma: math.SmallestNonzeroFloat64, Linear: true},
		} {
			for seed := range uint64(50) {
				cfg.Seed, cfg.HigherIsBetter = seed, seed%2 == 0
				if v := play(t, start(t, cfg), score); v.Decision != Refused {
					t.Fatalf("%s: %+v: %v (%s)", name, cfg, v.Decision, v.Reason)
				}
			}
		}
	}
}

func TestRealButTooSmall(t *testing.T) {
	cfg := noisyConfig(1)
	cfg.Sigma, cfg.MinEffect = 1e-4, 0.005
	v := play(t, start(t, cfg), func(arm Arm, nth int) float64 {
		return 100 + 0.45*float64(arm) + 0.01*float64(nth%3)
	})
	// Without the futility rule it would get to its first look.
	if v.Decision != Refused || v.Runs > 12 {
		t.Errorf("%v after %d runs (%s), want a refusal", v.Decision, v.Runs, v.Reason)
	}
	n := newNoisy(cfg.WithDefaults())
	for range 12 {
		arm := n.arms[n.runs()]
		if last := n.put(run{arm: arm, value: 0.0045*float64(arm) + 1e-5*float64(n.runs()%3)}); len(last.value) == n.size(len(n.blocks)-1) {
			n.test.add(last)
		}
	}
	if !n.test.crossed {
		t.Fatal("a gain of 45 sigmas did not cross")
	}
	if r := n.accept(); r.decision != Refused || !strings.Contains(r.reason, "real but too small") {
		t.Errorf("crossed with a gain below min_effect: %v (%s)", r.decision, r.reason)
	}
}

func TestWorseCandidateEndsEarly(t *testing.T) {
	v := play(t, start(t, noisyConfig(3)), func(arm Arm, _ int) float64 { return 100 - 10*float64(arm) })
	if v.Decision != Refused || v.Runs > 5 {
		t.Errorf("10 %% worse: %v after %d runs, want refused as soon as both arms ran", v.Decision, v.Runs)
	}
	if !math.IsInf(v.Low, -1) || !math.IsInf(v.High, 1) || v.P != 1 {
		t.Errorf("before the first look: [%v, %v], p %v, want nothing said", v.Low, v.High, v.P)
	}
}

// Futility must not be decided by one run that went wrong.
func TestOutlierDoesNotEndTheDuel(t *testing.T) {
	b := block{candidate: []bool{true, false, true, false}, value: []float64{0.02, 0, -50, 0.001}}
	if got, weight := b.difference(0.03); weight != 1 || got < -0.02 {
		t.Errorf("difference %v with weight %v, want the outlier clipped at 0.03", got, weight)
	}
	one := block{candidate: []bool{true, true}, value: []float64{1, 2}}
	if got, weight := one.difference(1); got != 0 || weight != 0 {
		t.Errorf("one arm alone: difference %v with weight %v", got, weight)
	}
}

func TestLowerIsBetter(t *testing.T) {
	cfg := noisyConfig(4)
	cfg.HigherIsBetter = false
	seconds := func(arm Arm, nth int) float64 { return 2 - float64(arm) + 0.001*float64(nth) }
	v := play(t, start(t, cfg), seconds)
	if v.Decision != Accepted || math.Abs(v.Effect-0.5) > 0.01 {
		t.Errorf("half the time: %v, effect %v, want accepted, 0.5", v.Decision, v.Effect)
	}
	cfg.HigherIsBetter = true
	if v := play(t, start(t, cfg), seconds); v.Decision != Refused {
		t.Errorf("half the score: %v, want refused", v.Decision)
	}
}

// A count of failures that reaches zero: the log of it is not a number.
func TestScoreOfZero(t *testing.T) {
	cfg := noisyConfig(5)
	cfg.HigherIsBetter = false
	v := play(t, start(t, cfg), func(arm Arm, nth int) float64 { return float64(1-arm) * float64(3+nth%2) })
	if v.Decision != Accepted || v.Effect != 1 || !finite(v.Low) {
		t.Errorf("no failures left: %v, effect %v from %v, want accepted, 1", v.Decision, v.Effect, v.Low)
	}
}

func TestNegativeScores(t *testing.T) {
	noise := Classify([]float64{-12, -12.2, -11.9, -12.1, -12, -11.8}, true, 0.005)
	cfg := Config{Mode: noise.Mode, Sigma: noise.Sigma, Linear: noise.Linear, HigherIsBetter: true, Seed: 6}
	v := play(t, start(t, cfg), func(arm Arm, nth int) float64 { return -12 + float64(arm) + 0.1*float64(nth%2) })
	if v.Decision != Accepted || math.Abs(v.Effect-1/noise.Sigma) > 0.01 {
		t.Errorf("%v, effect %v, want accepted with 1/%v", v.Decision, v.Effect, noise.Sigma)
	}
	if math.Abs(v.Sigma-noise.Sigma) > 1e-12 {
		t.Errorf("reported sigma %v is not that of the score, %v", v.Sigma, noise.Sigma)
	}
}

func TestAddRefusesWhatIsNoScore(t *testing.T) {
	d := start(t, noisyConfig(7))
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		before, _ := d.Next()
		if err := d.Add(bad); err == nil {
			t.Errorf("Add(%v) was taken", bad)
		}
		if after, more := d.Next(); !more || after != before || d.Verdict().Runs != 0 {
			t.Errorf("Add(%v) changed the duel", bad)
		}
	}
	play(t, d, separated)
	runs := d.Verdict().Runs
	if err := d.Add(100); err == nil || d.Verdict().Runs != runs {
		t.Errorf("a run after the decision was taken: %v", err)
	}
}

func TestOrders(t *testing.T) {
	order := func(seed uint64) []Arm { return newNoisy(noisyConfig(seed).WithDefaults()).order() }
	if !slices.Equal(order(1), order(1)) {
		t.Error("the same seed gave two orders")
	}
	const seeds = 7000
	seen := map[string]int{}
	for seed := range uint64(seeds) {
		arms := order(seed)
		if len(arms) != 24 {
			t.Fatalf("%d runs are planned, want 24", len(arms))
		}
		for _, b := range [][]Arm{arms[:8], arms[8:12], arms[12:16], arms[20:]} {
			if sum := sumOf(b); 2*sum != len(b) {
				t.Fatalf("seed %d: block %v has %d runs of the candidate", seed, b, sum)
			}
		}
		seen[name(arms[:8])]++
		seen[name(arms[8:12])]++
	}
	checkUniform(t, seen, 8, 70, seeds)
	checkUniform(t, seen, 4, 6, seeds)
}

func sumOf(arms []Arm) int {
	sum := 0
	for _, a := range arms {
		sum += int(a)
	}
	return sum
}

func name(arms []Arm) string {
	var b strings.Builder
	for _, a := range arms {
		b.WriteString(a.String()[1:2])
	}
	return b.String()
}

// checkUniform compares with five standard deviations of chi squared.
func checkUniform(t *testing.T, seen map[string]int, length, kinds, draws int) {
	t.Helper()
	chi, found, expected := 0.0, 0, float64(draws)/float64(kinds)
	for arrangement, n := range seen {
		if len(arrangement) == length {
			chi += (float64(n) - expected) * (float64(n) - expected) / expected
			found++
		}
	}
	if free := float64(kinds - 1); found != kinds || chi > free+5*math.Sqrt(2*free) {
		t.Errorf("blocks of %d: %d arrangements with chi squared %.1f, want %d equally likely", length, found, chi, kinds)
	}
}

func TestResumedDuelIsTheSame(t *testing.T) {
	configs := []Config{
		noisyConfig(8), noisyConfig(9),
		{Mode: Expensive, Sigma: 0.01, Seed: 10},
		{Mode: Deterministic, ChampionScore: 100, CandidateScore: 101, HigherIsBetter: true},
	}
	for _, cfg := range configs {
		rng := rand.New(rand.NewPCG(cfg.Seed, 1))
		whole := start(t, cfg)
		want := play(t, whole, func(arm Arm, _ int) float64 {
			if cfg.Mode == Deterministic {
				return 100 + float64(arm)
			}
			return 100 * math.Exp(0.015*float64(arm)+0.01*rng.NormFloat64())
		})
		for stop := range want.Runs {
			d := start(t, cfg)
			for i, score := range want.Scores {
				if i == stop {
					d = again(t, cfg, want.Scores[:stop])
				}
				arm, more := d.Next()
				if twice, _ := d.Next(); !more || arm != want.Order[i] || twice != arm {
					t.Fatalf("killed after %d runs: run %d is %v, want %v", stop, i+1, arm, want.Order[i])
				}
				if err := d.Add(score); err != nil {
					t.Fatal(err)
				}
			}
			if got := d.Verdict(); !reflect.DeepEqual(got, want) {
				t.Fatalf("killed after %d runs: %+v, want %+v", stop, got, want)
			}
		}
	}
}

func again(t *testing.T, cfg Config, scores []float64) *Duel {
	t.Helper()
	d := start(t, cfg)
	for _, s := range scores {
		if err := d.Add(s); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func TestPlannedRuns(t *testing.T) {
	for _, c := range []struct {
		sigma float64
		max   int
		want  int
	}{
		{1e-6, 24, 12},  // never less than the first look that can accept
		{0.003, 24, 12}, // k² is 2.3
		{0.004, 24, 20}, // k² is 4.2: 17 runs, whole blocks
		{0.01, 24, 24},
		{0.01, 27, 24}, // whole blocks only
		{0.01, 60, 60},
		{1e300, 60, 60},
	} {
		cfg := noisyConfig(1)
		cfg.Sigma, cfg.MaxRuns = c.sigma, c.max
		if got := start(t, cfg).Verdict().MaxRuns; got != c.want {
			t.Errorf("sigma %v, max_runs %d: %d runs planned, want %d", c.sigma, c.max, got, c.want)
		}
	}
	cfg := noisyConfig(1)
	cfg.Mode = Expensive
	if got := start(t, cfg).Verdict().MaxRuns; got != 8 {
		t.Errorf("expensive: %d runs planned, want 8", got)
	}
}

func TestBlocks(t *testing.T) {
	d := start(t, noisyConfig(1))
	want := []int{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2}
	for i, blocks := range want {
		if got := d.Blocks(); got != blocks {
			t.Errorf("after %d runs: %d blocks, want %d", i, got, blocks)
		}
		arm, more := d.Next()
		if !more {
			break
		}
		if err := d.Add(separated(arm, i)); err != nil {
			t.Fatal(err)
		}
	}
}
