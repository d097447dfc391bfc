package benchmark

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"si/track"
)

// GuardResult is what became of one guard.
type GuardResult struct {
	Guard Guard
	OK    bool
	What  string // what was compared, or why the command did not pass

	// For metrics: the candidate's median, what it may be, and how much of the
	// difference noise explains.
	Value, Limit, Noise float64
}

// Fault is nil when the guard held.
func (r GuardResult) Fault() *Fault {
	if r.OK {
		return nil
	}
	return &Fault{Category: track.CategoryRegression, What: fmt.Sprintf("the guard %s does not hold: %s", cleanLine(r.Guard.Name), r.What)}
}

// CheckGuard compares the candidate's readings with those of the guard's
// reference (champion or baseline, which the caller picks by g.Against), on
// medians. What lies beyond the limit by no more than the readings' own noise
// can explain (one-sided, 5 %) holds; with one reading each there is no noise
// to go by and any excess breaks the guard. A metric that the candidate no
// longer gives breaks it too.
func CheckGuard(g Guard, reference, candidate []Reading) GuardResult {
	r := GuardResult{Guard: g}
	got, missing := values(candidate, g.Metric)
	if missing || len(got) == 0 {
		r.What = fmt.Sprintf("the candidate gives no metric %q", g.Metric)
		return r
	}
	var ref []float64
	if g.Bound.Relative {
		if ref, missing = values(reference, g.Metric); missing || len(ref) == 0 {
			r.What = fmt.Sprintf("the %s gives no metric %q to compare with; correct si.guards", g.Against, g.Metric)
			return r
		}
		r.Limit = g.Bound.limit(median(ref))
		r.Noise = noise(got, ref, 1+math.Abs(g.Bound.Value))
	} else {
		r.Limit, r.Noise = g.Bound.Value, noise(got, nil, 0)
	}
	r.Value = median(got)
	r.OK = !g.Bound.breaks(g.Bound.excess(r.Value, r.Limit), r.Noise)
	r.What = fmt.Sprintf("%s is %.6g, allowed is %s (%s %.6g)", g.Metric, r.Value, g.Bound, g.Bound.Op, r.Limit)
	return r
}

// CommandGuard runs a guard's command in the tree of the job, in the same
// environment as the benchmark, and passes when it exits with code 0. The error
// is for what is not the tree's fault, as with Measure.
func (m *Measurer) CommandGuard(ctx context.Context, job Job, g Guard) (GuardResult, error) {
	_, res, err := m.shell(ctx, job, g.Command, nil)
	if err != nil {
		return GuardResult{}, fmt.Errorf("run the guard %s on %s: %w", g.Name, job.Label, err)
	}
	r := GuardResult{Guard: g, OK: true}
	if fault := endFault(res, job); fault != nil {
		r.OK, r.What = false, fault.String()
	}
	return r, nil
}

// NoWorse tells whether the candidate's scores are no worse than the reference's,
// on medians, beyond what the noise of both explains (one-sided, 5 %).
func NoWorse(dir track.Direction, reference, candidate []Reading) GuardResult {
	scores := func(readings []Reading) (out []float64) {
		for _, r := range readings {
			out = append(out, r.Score)
		}
		return out
	}
	ref, got := scores(reference), scores(candidate)
	r := GuardResult{Value: median(got), Limit: median(ref), Noise: noise(got, ref, 1)}
	r.OK = !dir.Better(r.Limit, r.Value) || math.Abs(r.Limit-r.Value) <= r.Noise
	r.What = fmt.Sprintf("%.6g against %.6g, of which noise explains %.3g", r.Value, r.Limit, r.Noise)
	return r
}

// values are the metric's values in the readings; missing when one has none.
func values(readings []Reading, metric string) (vs []float64, missing bool) {
	for _, r := range readings {
		v, ok := r.SubScores[metric]
		if !ok && (metric == r.Metric || metric == "primary") {
			v, ok = r.Score, true
		}
		if !ok {
			return nil, true
		}
		vs = append(vs, v)
	}
	return vs, false
}

// noise is how far the difference of two medians strays by chance: 1.645
// standard errors, one-sided 5 %. The standard error of a median is √(π/2)
// times that of a mean. weight is by how much the reference's own error counts.
func noise(candidate, reference []float64, weight float64) float64 {
	c, r := standardError(candidate), standardError(reference)*weight
	return 1.645 * math.Hypot(c, r)
}

func standardError(v []float64) float64 {
	if len(v) < 3 {
		return 0
	}
	return spread(v) * math.Sqrt(math.Pi/2/float64(len(v)))
}

// spread is 1.4826 times the median absolute deviation, which for normal noise
// is the standard deviation and which outliers do not move; the ordinary
// standard deviation when more than half of the values are equal.
func spread(v []float64) float64 {
	mid, dev := median(v), make([]float64, len(v))
	sum, squares := 0.0, 0.0
	for i, x := range v {
		dev[i] = math.Abs(x - mid)
		sum += x / float64(len(v))
	}
	if mad := median(dev); mad > 0 {
		return 1.4826 * mad
	}
	for _, x := range v {
		squares += (x - sum) * (x - sum)
	}
	return math.Sqrt(squares / float64(len(v)-1))
}

// CheckRegression names the sub-scores that became worse by more than the
// threshold, a fraction, and those that the candidate no longer gives. A
// sub-score is better in the direction of the primary metric, unless a guard
// names it (its comparison says the direction, and its bound is what holds, so
// it is left out here) or it has a unit of a tool whose direction is known.
// Noise counts as in CheckGuard. The primary metric itself is the duel's.
func CheckRegression(dir track.Direction, threshold float64, guards []Guard, reference, candidate []Reading) []string {
	var found []string
	for _, name := range subNames(reference) {
		if slices.ContainsFunc(guards, func(g Guard) bool { return g.Metric == name }) || isPrimary(reference, name) {
			continue
		}
		ref, partial := values(reference, name)
		if partial {
			continue // the reference itself does not always give it
		}
		b := Bound{Op: "<=", Value: threshold, Relative: true}
		if subDirection(dir, name) == track.HigherIsBetter {
			b = Bound{Op: ">=", Value: -threshold, Relative: true}
		}
		if r := CheckGuard(Guard{Metric: name, Bound: b, Against: "reference"}, reference, candidate); !r.OK {
			found = append(found, fmt.Sprintf("%s; it was %.6g", r.What, median(ref)))
		}
	}
	return found
}

func subNames(readings []Reading) []string {
	all := map[string]bool{}
	for _, r := range readings {
		for name := range r.SubScores {
			all[name] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

func isPrimary(readings []Reading, name string) bool {
	return slices.ContainsFunc(readings, func(r Reading) bool { return r.Metric == name })
}

// subDirection knows the units of go test; any other sub-score improves as the
// primary metric does.
func subDirection(primary track.Direction, name string) track.Direction {
	switch {
	case strings.HasSuffix(name, ":MB/s"):
		return track.HigherIsBetter
	case strings.HasSuffix(name, ":B/op"), strings.HasSuffix(name, ":allocs/op"), strings.HasSuffix(name, ":ns/op"):
		return track.LowerIsBetter
	}
	return primary
}

// Incomparable says why the candidate's score cannot be compared with the
// reference's, nil when it can: it is computed from other things, or something
// about the output is odd that is not odd in the reference's.
func Incomparable(reference, candidate Reading) *Fault {
	if reference.Metric != candidate.Metric || !slices.Equal(reference.Basis, candidate.Basis) {
		return parseFault(strings.Join(candidate.Basis, ", "), "the score is computed from other things than the baseline's")
	}
	for _, odd := range candidate.Odd {
		if !slices.Contains(reference.Odd, odd) {
			return parseFault("", "%s, which is not so with the baseline", odd)
		}
	}
	return nil
}
