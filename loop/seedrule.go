package loop

import (
	"context"
	"fmt"

	"si/benchmark"
	"si/benchmark/duel"
	"si/track"
)

// compareBySeed is the original rule, for tracks that ask for it: the merged
// tree is measured once, and kept unless that run is worse than best_score. It
// keeps lucky noise, which the summary says.
func (r *round) compareBySeed(ctx context.Context, c comparison) (duelOutcome, error) {
	s, err := r.retake(ctx, request{round: r.n, key: c.key + "/merged", purpose: c.purpose, subject: c.afterName, commit: c.after, decides: true})
	if err != nil {
		return duelOutcome{}, err
	}
	if s.Score == nil {
		return failedRun(false, s), nil
	}
	out := duelOutcome{after: *s.Score, before: *s.Score, samplesAfter: []track.Sample{s}, readingsAfter: []benchmark.Reading{readingOf(s)}}
	if best := r.progress.Value.BestScore; best != nil {
		out.before = *best
	}
	d := r.settings.Value.BenchmarkDirection
	out.accepted = !d.Better(out.before, out.after)
	out.effect = &track.Effect{Value: relativeGain(d, out.before, out.after), Runs: 1}
	if out.accepted {
		out.reason = fmt.Sprintf("one run of the merged tree, %.6g, is not worse than best_score %.6g (the seed's rule)", out.after, out.before)
	} else {
		out.reason = fmt.Sprintf("one run of the merged tree, %.6g, is worse than best_score %.6g (the seed's rule)", out.after, out.before)
	}
	return out, nil
}

// relativeGain is the gain as a fraction of before, positive when better; 0
// where before has no size.
func relativeGain(d track.Direction, before, after float64) float64 {
	if before == 0 {
		return 0
	}
	g := (after - before) / abs(before)
	if d == track.LowerIsBetter {
		return -g
	}
	return g
}

// errorRate says how often a change that does nothing is kept.
func errorRate(s track.Settings, p track.AgentSettings) string {
	switch {
	case s.SI.Measure.Selection == "seed":
		return "selection is the seed's: where runs differ by 1 %, 97 of 100 campaigns of 20 rounds keep a change that does nothing"
	case p.SI.NoiseMode == "deterministic":
		return "the benchmark repeats exactly, so a change that does nothing is never kept"
	case p.SI.NoiseMode == "quasi-deterministic":
		return "the benchmark repeats within its tolerance, and smaller gains are not kept"
	}
	alpha := duel.Config{Mode: duel.Noisy, Alpha: s.SI.Measure.Alpha}.WithDefaults().Alpha
	if p.SI.LongestRun > expensiveRun {
		alpha = duel.Config{Mode: duel.Expensive}.WithDefaults().Alpha
	}
	return fmt.Sprintf("a change that does nothing is kept in at most %.2g of 100 rounds", 100*alpha)
}
