package duel

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestCoverage(t *testing.T) {
	const duels, alpha, gain = 150, 0.10, 0.02
	noises := map[string]func(*rand.Rand) float64{
		"normal": func(r *rand.Rand) float64 { return 0.01 * r.NormFloat64() },
		"heavy":  func(r *rand.Rand) float64 { return 0.01 * r.NormFloat64() / (0.1 + r.Float64()) },
	}
	for name, noise := range noises {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 7))
			below, above, bounded := 0, 0, 0
			for i := range duels {
				cfg := noisyConfig(uint64(i))
				cfg.Alpha, cfg.Sigma = alpha, 0.012
				v := play(t, start(t, cfg), func(arm Arm, _ int) float64 {
					return 100 * math.Pow(1+gain, float64(arm)) * math.Exp(noise(rng))
				})
				if v.Low > gain {
					below++
				}
				if v.High < gain {
					above++
				}
				if !math.IsInf(v.Low, 0) && !math.IsInf(v.High, 0) {
					bounded++
				}
				if v.Decision == Accepted && v.Low <= 0 {
					t.Fatalf("accepted with a lower bound of %v", v.Low)
				}
			}
			limit := alpha + 3*math.Sqrt(alpha*(1-alpha)/duels)
			if misses := float64(below) / duels; misses > limit {
				t.Errorf("the gain lies below the interval in %v of duels, nominal %v", misses, alpha)
			}
			if misses := float64(above) / duels; misses > limit {
				t.Errorf("the gain lies above the interval in %v of duels, nominal %v", misses, alpha)
			}
			if bounded < duels/2 {
				t.Errorf("only %d of %d intervals are bounded", bounded, duels)
			}
		})
	}
}

// Rounding and clipping leave islands of possible shifts, of which the bound
// may miss the narrowest. Four of these duels have some that are missed by
// looking where the ranks change alone.
func TestBoundsHoldPossibleShifts(t *testing.T) {
	seeds := []uint64{1, 2, 3, 4, 125, 150, 167, 220}
	missed := 0.0 // in sigmas
	for _, seed := range seeds {
		n := heavyDuel(seed)
		low, high := n.bounds()
		if !(low < high) || math.IsInf(low, 0) || math.IsInf(high, 0) {
			t.Fatalf("duel %d: bounds [%v, %v] after two looks", seed, low, high)
		}
		for k := range 200 {
			if !n.rejects(n.blocks, low-float64(k+1)*n.sigma/50) {
				missed += 1.0 / 50
			}
		}
	}
	if mean := missed / float64(len(seeds)); mean > 0.01 {
		t.Errorf("below the bounds %v sigmas of possible shifts a duel are missed, at most 0.01 expected", mean)
	}
}

// heavyDuel has taken 16 runs with tails far heavier than a benchmark's.
func heavyDuel(seed uint64) *noisy {
	cfg := noisyConfig(seed)
	cfg.Alpha = 0.05
	n := newNoisy(cfg.WithDefaults())
	rng := rand.New(rand.NewPCG(seed, 7))
	for n.runs() < 16 {
		value := 0.01 * rng.NormFloat64() * math.Exp(2*rng.NormFloat64())
		n.put(run{arm: n.arms[n.runs()], value: value})
	}
	return n
}

func TestBoundsNarrowToTheGain(t *testing.T) {
	cfg := noisyConfig(1)
	cfg.Alpha, cfg.MaxRuns, cfg.Target = 0.05, 80, 0.001
	n := newNoisy(cfg.WithDefaults())
	rng := rand.New(rand.NewPCG(3, 7))
	for _, arm := range n.arms {
		value := 0.02*float64(arm) + 0.01*rng.NormFloat64()
		if last := n.put(run{arm: arm, value: value}); len(last.value) == n.size(len(n.blocks)-1) {
			n.test.add(last)
		}
	}
	// 40 runs of each arm: a standard error of 0.0022.
	if low, high := n.bounds(); !(low > 0.010 && low < 0.020 && high > 0.020 && high < 0.030) {
		t.Errorf("bounds [%v, %v] of a gain of 0.02", low, high)
	}
}
