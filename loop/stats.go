package loop

import (
	"hash/fnv"
	"math"
	"slices"

	"si/track"
)

func abs(v float64) float64 { return math.Abs(v) }

// median of a list that is not empty.
func median(values []float64) float64 {
	s := slices.Sorted(slices.Values(values))
	n := len(s)
	if n%2 == 1 {
		return s[n/2]
	}
	return (s[n/2-1] + s[n/2]) / 2
}

// medianSubScores is the median of each sub-score that every run has.
func medianSubScores(samples []track.Sample) track.SubScore {
	all := map[string][]float64{}
	for _, s := range samples {
		for name, v := range s.SubScores {
			all[name] = append(all[name], v)
		}
	}
	out := track.SubScore{}
	for name, values := range all {
		if len(values) == len(samples) {
			out[name] = median(values)
		}
	}
	return out
}

func hash(text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // a hash takes every write
	return h.Sum64()
}
