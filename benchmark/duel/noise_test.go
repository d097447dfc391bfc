package duel

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestClassify(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name   string
		scores []float64
		mode   Mode
		more   int
		linear bool
	}{
		{"nothing yet", nil, 0, 3, false},
		{"two equal", []float64{5, 5}, 0, 1, false},
		{"three equal", []float64{5, 5, 5}, Deterministic, 0, false},
		{"three equal zeros", []float64{0, 0, 0}, Deterministic, 0, true},
		{"the last bit differs", []float64{5, 5, math.Nextafter(5, 6)}, 0, 3, false},
		{"not finite is no score", []float64{5, nan, 5, math.Inf(1)}, 0, 1, false},
		{"five", []float64{1, 2, 1, 2, 1}, 0, 1, false},
		{"within a quarter of min_effect", []float64{100, 100.01, 100.02, 100, 100.01, 100}, QuasiDeterministic, 0, false},
		{"narrow but not by six sigma", []float64{100, 100.1, 100, 100.1, 100, 100.1}, Noisy, 0, false},
		{"noisy", []float64{100, 101, 99, 100.5, 102, 98}, Noisy, 0, false},
		{"one odd run", []float64{100, 100, 100, 100, 100, 103}, Noisy, 0, false},
		{"not positive", []float64{-1, -1.1, -1, -0.9, -1, -1.2}, Noisy, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := Classify(c.scores, true, 0.005)
			if n.Mode != c.mode || n.NeedMore != c.more || n.Linear != c.linear {
				t.Errorf("%v, %d more, linear %v; want %v, %d, %v", n.Mode, n.NeedMore, n.Linear, c.mode, c.more, c.linear)
			}
			if noisy := n.Mode == Noisy || n.Mode == QuasiDeterministic; noisy != (n.Sigma > 0) {
				t.Errorf("mode %v with sigma %v", n.Mode, n.Sigma)
			}
			if (n.Mode == QuasiDeterministic) != (n.Tolerance > 0) {
				t.Errorf("mode %v with tolerance %v", n.Mode, n.Tolerance)
			}
		})
	}
}

// The factors are remembered numbers: a mean over normal samples checks them.
func TestSpreadIsUnbiased(t *testing.T) {
	const samples = 6000
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{3, 4, 5, 6, 7, 8, 9, 12} {
		sum := 0.0
		for range samples {
			v := make([]float64, n)
			for i := range v {
				v[i] = rng.NormFloat64()
			}
			sum += spread(v)
		}
		if mean := sum / samples; math.Abs(mean-1) > 0.03 {
			t.Errorf("%d values: mean estimate %v of a standard deviation of 1", n, mean)
		}
	}
}

func TestSpreadOfOneOddValue(t *testing.T) {
	want := math.Sqrt(6 * (1.0 / 6) * (5.0 / 6) / 5)
	if got := spread([]float64{0, 0, 1, 0, 0, 0}); math.Abs(got-want) > 1e-12 {
		t.Errorf("spread %v, want the ordinary standard deviation %v", got, want)
	}
}

func TestTracker(t *testing.T) {
	tracker := NewTracker(Noise{Sigma: 0.5}, true)
	tracker.Observe("a", 100)
	tracker.Observe("a", math.NaN())
	if got := tracker.Sigma(); got != 0.5 {
		t.Errorf("sigma %v before there is anything to judge by, want that of the set-up", got)
	}
	// Drift of a tenth of the noise a run, and a win of 100 % between trees.
	rng := rand.New(rand.NewPCG(1, 3))
	for i := range 400 {
		tree, level := "a", 100.0
		if i%2 == 1 {
			tree, level = "b", 200
		}
		tracker.Observe(tree, level*math.Exp(0.001*float64(i)+0.01*rng.NormFloat64()))
	}
	if got := tracker.Sigma(); math.Abs(got-0.01) > 0.003 {
		t.Errorf("sigma %v, want 0.01", got)
	}
	if len(tracker.diffs) != window {
		t.Errorf("%d differences are kept, want %d", len(tracker.diffs), window)
	}
}

func TestTrackerForgetsTrees(t *testing.T) {
	tracker := NewTracker(Noise{Sigma: 0.5}, false)
	for i := range 1000 {
		tracker.Observe(string(rune('A'+i)), float64(i+1))
	}
	if len(tracker.last) != treesMax || len(tracker.diffs) != 0 {
		t.Errorf("%d trees and %d differences are kept", len(tracker.last), len(tracker.diffs))
	}
}

func TestTrackerOfSteps(t *testing.T) {
	tracker := NewTracker(Noise{Sigma: 0.5, Linear: true}, true)
	for i := range 40 {
		score := 0.0
		if i%8 == 0 {
			score = 1 // most neighbours are equal: the median difference is 0
		}
		tracker.Observe("a", score)
	}
	if got := tracker.Sigma(); !(got > 0.2 && got < 0.5) {
		t.Errorf("sigma %v, want about 0.35", got)
	}
	still := NewTracker(Noise{Sigma: 0.5}, true)
	for range 40 {
		still.Observe("a", 7)
	}
	if got := still.Sigma(); got != 0.5 {
		t.Errorf("sigma %v of runs that do not differ, want that of the set-up: 0 cannot be planned with", got)
	}
}
