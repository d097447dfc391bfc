package loop

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"si/benchmark"
	"si/internal/clean"
	"si/track"
)

// commandGuards runs the guards that are commands on the tree that would be
// merged. It returns why the candidate is refused, or "".
func (r *round) commandGuards(ctx context.Context, e entrant, commit string) (string, error) {
	guards, err := benchmark.GuardsOf(r.settings.Value)
	if err != nil {
		return "", err
	}
	for _, g := range guards {
		if g.Command == "" {
			continue
		}
		result, err := r.lab.guard(ctx, r.n, e.executor, commit, g)
		if err != nil {
			return "", err
		}
		if reason, err := r.guarded(e, result); err != nil || reason != "" {
			return reason, err
		}
	}
	return "", nil
}

// guarded announces a guard's answer and returns why it refuses, or "".
func (r *round) guarded(e entrant, result benchmark.GuardResult) (string, error) {
	what := clean.Line(result.What, 500)
	ev := track.GuardEvent{Subject: e.executor, Guard: result.Guard.Name, Passed: result.OK, Reason: what}
	if err := r.emit(track.EvGuard, "si", ev); err != nil || result.OK {
		return "", err
	}
	return fmt.Sprintf("guard %q: %s", result.Guard.Name, what), nil
}

// guard runs one command guard in a clean checkout of commit.
func (b *lab) guard(ctx context.Context, round int, subject, commit string, g benchmark.Guard) (benchmark.GuardResult, error) {
	failed := benchmark.GuardResult{Guard: g}
	if err := b.l.helm.pending(); err != nil {
		return failed, err
	}
	tree, err := b.l.cfg.Repo.TreeOf(ctx, commit)
	if err != nil {
		return failed, err
	}
	a, err := b.lay(ctx, commit, tree)
	if err != nil {
		return failed, err
	}
	if a.fault != "" {
		failed.What = a.fault
		return failed, nil
	}
	job, err := b.job(a, filepath.Join(b.l.cfg.Paths.LogDir(round), "guard_"+subject+".log"), access{})
	if err != nil {
		return failed, err
	}
	job.Timeout = b.patience()
	result, err := b.meter.CommandGuard(ctx, job, g)
	if err != nil {
		return failed, err
	}
	if subject == "start" && result.OK {
		err = b.keepHome(a) // with what the guard has built
	}
	return result, err
}

// metricGuards checks the bounds of settings and the regression threshold on
// the duel's own runs.
func (r *round) metricGuards(e entrant, out duelOutcome) (string, error) {
	s := r.settings.Value
	guards, err := benchmark.GuardsOf(s)
	if err != nil {
		return "", err
	}
	for _, g := range guards {
		if g.Metric == "" {
			continue
		}
		reference := out.readingsBefore
		if b := r.progress.Value.SI.Baseline; g.Against == "baseline" && b != nil {
			reference = []benchmark.Reading{readingOf(*b)}
		}
		if reason, err := r.guarded(e, benchmark.CheckGuard(g, reference, out.readingsAfter)); err != nil || reason != "" {
			return reason, err
		}
	}
	bad := benchmark.CheckRegression(s.BenchmarkDirection, s.RegressionThreshold, guards, out.readingsBefore, out.readingsAfter)
	if len(bad) == 0 {
		return "", nil
	}
	return "sub-scores fell by more than regression_threshold: " + strings.Join(bad, "; "), nil
}
