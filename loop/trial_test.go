package loop

import (
	"testing"

	"si/track"
)

func TestWhatARunTakes(t *testing.T) {
	for name, tc := range map[string]struct {
		walls []float64
		want  float64
	}{
		"none":                             {nil, 0},
		"one":                              {[]float64{9}, 9},
		"the first builds":                 {[]float64{60, 1, 2}, 1.5},
		"alike":                            {[]float64{2.5, 2, 1.5}, 2},
		"a slow one that is not the first": {[]float64{1, 10, 1}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			var samples []track.Sample
			for _, w := range tc.walls {
				samples = append(samples, track.Sample{Wall: w})
			}
			if got := secondsOf(samples); got < tc.want-1e-9 || got > tc.want+1e-9 {
				t.Errorf("%g s, want %g s", got, tc.want)
			}
		})
	}
}
