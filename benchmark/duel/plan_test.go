package duel

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestPlanNoisy(t *testing.T) {
	cfg := noisyConfig(1)
	p, err := cfg.Plan(3)
	if err != nil {
		t.Fatal(err)
	}
	if p.MaxRuns != 24 || math.Abs(p.NullRuns-8) > 0.7 {
		t.Errorf("%d runs, %v in a null round, want 24 and about 8", p.MaxRuns, p.NullRuns)
	}
	// What it promises holds for other noise than that it was found with.
	rng, kept := rand.New(rand.NewPCG(9, 9)), 0
	const duels = 250
	for range duels {
		if _, decision := cfg.WithDefaults().playDuel(math.Log1p(p.Smallest), rng); decision == Accepted {
			kept++
		}
	}
	if share := float64(kept) / duels; math.Abs(share-0.8) > 0.1 {
		t.Errorf("a gain of %v is kept in %v of duels, promised are 0.8", p.Smallest, share)
	}
	if again, _ := cfg.Plan(3); again != p {
		t.Errorf("the same settings gave %+v and %+v", p, again)
	}
}

func TestPlanRepeating(t *testing.T) {
	p, err := Config{Mode: Deterministic}.Plan(3)
	if want := (Plan{MaxRuns: 2, NullRuns: 3}); err != nil || p != want {
		t.Errorf("deterministic: %+v (%v), want %+v", p, err, want)
	}
	p, err = Config{Mode: QuasiDeterministic, Tolerance: 0.001}.Plan(3)
	if err != nil || math.Abs(p.Smallest-0.005) > 1e-12 {
		t.Errorf("quasi-deterministic: %+v (%v), want a smallest gain of 0.005", p, err)
	}
	if _, err := (Config{Mode: Noisy}).Plan(3); err == nil {
		t.Error("a plan without noise was made")
	}
}
