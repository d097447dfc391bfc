package benchmark

import (
	"strings"
	"testing"

	"si/track"
)

func timings(scores, walls, cpus []float64) []Timing {
	var out []Timing
	for i := range scores {
		out = append(out, Timing{scores[i], walls[i], cpus[i]})
	}
	return out
}

func TestTimeUnit(t *testing.T) {
	second := []Timing{{Score: 0.9, Wall: 1, CPU: 1}}
	tests := map[string]struct {
		metric string
		dir    track.Direction
		named  string
		runs   []Timing
		want   float64
	}{
		"seconds":             {"total_time", track.LowerIsBetter, "", second, 1},
		"milliseconds":        {"total_ms", track.LowerIsBetter, "", []Timing{{900, 1, 1}}, 1e-3},
		"nanoseconds":         {"wall-ns", track.LowerIsBetter, "", []Timing{{8e8, 1, 1}}, 1e-9},
		"a rate":              {"time", track.HigherIsBetter, "", second, 0},
		"no time by its name": {"loss", track.LowerIsBetter, "", second, 0},
		"named":               {"loss", track.LowerIsBetter, "s", second, 1},
		"named otherwise":     {"time", track.LowerIsBetter, "ms", second, 0},
		"turned off":          {"time", track.LowerIsBetter, "none", second, 0},
		"per operation":       {"ns/op", track.LowerIsBetter, "", []Timing{{120, 1.3, 1.3}}, 0},
		"no run":              {"time", track.LowerIsBetter, "", nil, 0},
		"a statistic":         {"p99_ms", track.LowerIsBetter, "", []Timing{{900, 1, 1}}, 0},
		"latency":             {"latency_ms", track.LowerIsBetter, "", []Timing{{900, 1, 1}}, 0},
		"a small part":        {"parse_time", track.LowerIsBetter, "", []Timing{{0.3, 1, 1}}, 0},
		"too short":           {"time", track.LowerIsBetter, "", []Timing{{0.03, 0.04, 0.03}}, 0},
		"a busy machine":      {"time", track.LowerIsBetter, "", []Timing{{0.3, 0.9, 0.2}, {0.3, 0.35, 0.2}, {0.3, 1.1, 0.2}}, 1},
		"a part of a word":    {"timeliness", track.LowerIsBetter, "", second, 0},
	}
	for name, c := range tests {
		got, ok := TimeUnit(Spec{Metric: c.metric, Direction: c.dir}, c.named, c.runs)
		if got != c.want || ok != (c.want > 0) {
			t.Errorf("%s: %v %v, want %v", name, got, ok, c.want)
		}
	}
}

func TestLookForGain(t *testing.T) {
	before := timings([]float64{0.90, 0.91, 0.90, 0.92}, []float64{1, 1.01, 1, 1.02}, []float64{0.95, 0.96, 0.95, 0.97})
	// A busy machine: the score is exact, and the clock strays by a quarter of it.
	busy := timings([]float64{0.2, 0.2, 0.2, 0.2}, []float64{0.27, 0.34, 0.24, 0.41}, []float64{0.01, 0.01, 0.01, 0.01})
	tests := map[string]struct {
		before, after []Timing
		want          Sight
	}{
		"true":                      {before, timings([]float64{0.70, 0.71, 0.70, 0.72}, []float64{0.8, 0.81, 0.8, 0.82}, []float64{0.75, 0.76, 0.75, 0.77}), Seen},
		"parallel":                  {before, timings([]float64{0.50, 0.51, 0.50, 0.52}, []float64{0.6, 0.61, 0.6, 0.62}, []float64{0.99, 0.98, 0.97, 0.99}), Seen},
		"sleeps less":               {before, timings([]float64{0.80, 0.80, 0.80, 0.80}, []float64{1, 1, 1, 1}, []float64{0.8, 0.8, 0.8, 0.8}), Seen},
		"forged":                    {before, timings([]float64{0.45, 0.45, 0.45, 0.45}, []float64{1, 1.01, 1, 1.02}, []float64{0.95, 0.96, 0.95, 0.97}), Unseen},
		"forged and slower":         {before, timings([]float64{0.45, 0.45, 0.45, 0.45}, []float64{1.2, 1.2, 1.2, 1.2}, []float64{1.1, 1.1, 1.1, 1.1}), Unseen},
		"claims nothing":            {before, timings([]float64{0.95, 0.95, 0.95, 0.95}, []float64{1, 1, 1, 1}, []float64{1, 1, 1, 1}), Seen},
		"only its own runs spread":  {before, timings([]float64{0.45, 0.45, 0.45, 0.45}, []float64{0.9, 1.2, 1, 1.3}, []float64{0.9, 1.1, 1, 1.2}), Unseen},
		"one run of each, and luck": {busy[1:2], timings([]float64{0.1}, []float64{0.27}, []float64{0.01}), Likely},
		"one run of each":           {busy[:1], timings([]float64{0.1}, []float64{0.34}, []float64{0.01}), Unlikely},
		"no run":                    {before, nil, Seen},
		"true on a busy machine":    {busy, timings([]float64{0.1, 0.1, 0.1, 0.1}, []float64{0.2, 0.19, 0.17, 0.3}, []float64{0.01, 0.01, 0.01, 0.01}), Likely},
		"forged on a busy machine":  {busy, timings([]float64{0.1, 0.1, 0.1, 0.1}, []float64{0.28, 0.33, 0.25, 0.4}, []float64{0.01, 0.01, 0.01, 0.01}), Unlikely},
		"its processors tell, its clock does not": {
			timings([]float64{0.2, 0.2, 0.2, 0.2}, []float64{0.27, 0.34, 0.24, 0.41}, []float64{0.20, 0.21, 0.20, 0.21}),
			timings([]float64{0.1, 0.1, 0.1, 0.1}, []float64{0.28, 0.33, 0.25, 0.4}, []float64{0.10, 0.11, 0.10, 0.11}), Seen,
		},
	}
	for name, c := range tests {
		got, what := LookForGain(1, c.before, c.after)
		if got != c.want || (what == "") != (got == Seen) {
			t.Errorf("%s: %v %q, want %v", name, got, what, c.want)
		}
		if strings.HasPrefix(name, "forged") && !strings.Contains(what, "claims to save 0.") {
			t.Errorf("%s: %q names no figure", name, what)
		}
	}
}
