package duel

import (
	"math"
	"slices"
)

const (
	repeatRuns = 3 // baseline runs that must be equal to call it deterministic
	noiseRuns  = 6 // baseline runs to estimate noise from
)

// Noise is what some runs of one tree say about a benchmark.
type Noise struct {
	Mode Mode // 0 while NeedMore
	// NeedMore is how many more runs of the same tree are needed to tell.
	NeedMore int
	// Sigma is the noise of one run, Tolerance how far runs may differ in the
	// quasi-deterministic mode; both as in Config.
	Sigma, Tolerance float64
	// Linear says that a score was zero or negative, so that Sigma is in units
	// of the score and effects will be multiples of it.
	Linear bool
	// Median of the scores.
	Median float64
}

// Classify tells how a benchmark behaves from the scores of one tree: three
// that are equal to the last bit make it deterministic, else it needs six.
// minEffect is a fraction of the score. Scores that are not finite are left
// out. Expensive is never returned: that is a matter of the time of a run.
func Classify(scores []float64, higher bool, minEffect float64) Noise {
	scores = slices.DeleteFunc(slices.Clone(scores), func(s float64) bool { return !finite(s) })
	if len(scores) < repeatRuns {
		return Noise{NeedMore: repeatRuns - len(scores)}
	}
	noise := Noise{Median: median(scores), Linear: slices.Min(scores) <= 0}
	if slices.Min(scores) == slices.Max(scores) {
		noise.Mode = Deterministic
		return noise
	}
	if len(scores) < noiseRuns {
		return Noise{NeedMore: noiseRuns - len(scores)}
	}
	return noise.measure(scores, Config{HigherIsBetter: higher, Linear: noise.Linear}.scale(), minEffect)
}

// measure fills in the noise; scale is that of one unit of the score.
func (n Noise) measure(scores []float64, s scale, minEffect float64) Noise {
	values := make([]float64, len(scores))
	for i, v := range scores {
		values[i] = s.value(v)
	}
	n.Mode, n.Sigma = Noisy, spread(values)
	width := slices.Max(values) - slices.Min(values)
	least := s.difference(minEffect)
	if !n.Linear && width <= least/4 && 6*n.Sigma <= least/2 {
		n.Mode, n.Tolerance = QuasiDeterministic, max(6*n.Sigma, width)
	}
	return n
}

// spread is the standard deviation, estimated by the median absolute
// deviation, which one odd run does not change; by the ordinary one when more
// than half of the values are equal.
func spread(values []float64) float64 {
	if s := smallSample(len(values)) * deviation(values, median(values)); s > 0 {
		return s
	}
	mean, sum := 0.0, 0.0
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		sum += (v - mean) * (v - mean) / float64(len(values)-1)
	}
	return math.Sqrt(sum)
}

// smallSample makes the median absolute deviation of n normal values unbiased.
// Factors of Croux and Rousseeuw, Time-efficient algorithms for two highly
// robust estimators of scale, Computational Statistics 1 (1992), 411-428.
func smallSample(n int) float64 {
	factors := [...]float64{2: 1.196, 3: 1.495, 4: 1.363, 5: 1.206, 6: 1.200, 7: 1.140, 8: 1.129, 9: 1.107}
	switch {
	case n < 2:
		return 1
	case n < len(factors):
		return factors[n]
	}
	return float64(n) / (float64(n) - 0.8)
}
