package loop

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"si/benchmark"
	"si/benchmark/duel"
	"si/gitops"
	"si/internal/clean"
	"si/track"
)

// A canary is a change whose worth is known: one that changes nothing must not
// win, and one that breaks everything in scope must not get a good score. A
// benchmark that fails a canary measures something else than the change.

// canaryRounds is how many rounds pass between two looks at the canaries.
const canaryRounds = 10

// nonsense is no program and no data in any language that is in use.
const nonsense = "si: a canary stood here \x01 {[(<\"'`\nthis is no program and no data; a benchmark that looks at this file must fail\n"

// errUntrusted says that the benchmark failed a canary.
var errUntrusted = errors.New("the benchmark cannot be trusted")

// canaryDue tells whether a round begins with a look at the canaries.
func (l *Loop) canaryDue(round int) bool {
	every := l.settings.Value.SI.Measure.CanaryEvery
	if every == 0 {
		every = canaryRounds
	}
	return every > 0 && round > 1 && (round-1)%every == 0
}

// canaries looks at both canaries on commit. The error wraps errUntrusted, with
// the evidence, when the benchmark fails one.
func (l *Loop) canaries(ctx context.Context, round int, commit string) error {
	if l.settings.Value.SI.Measure.CanaryEvery < 0 {
		return nil
	}
	for _, look := range []func(context.Context, int, string) (track.CanaryEvent, error){l.sameCanary, l.brokenCanary} {
		ev, err := look(ctx, round, commit)
		if err != nil {
			return err
		}
		if err := l.events.emit(track.EvCanary, round, "si", ev); err != nil {
			return err
		}
		if !ev.Passed {
			return fmt.Errorf("%w: %s; its runs are in %s", errUntrusted, ev.What, l.cfg.Paths.LogDir(round))
		}
	}
	return nil
}

// sameCanary lets a tree duel itself from a second checkout and build. At the
// rate of the duel it wins by chance once in a while, so a win is looked at twice.
func (l *Loop) sameCanary(ctx context.Context, round int, commit string) (track.CanaryEvent, error) {
	ev := track.CanaryEvent{Name: track.CanarySame}
	for try := 1; ; try++ {
		key := fmt.Sprintf("canary/same/%d", try)
		c := comparison{
			round: round, key: key, purpose: "canary", before: commit, after: commit, beforeName: "champion", afterName: "twin",
			twin: true, seed: hash(fmt.Sprintf("%s/%d", key, round)),
		}
		out, err := l.compare(ctx, c)
		if errors.Is(err, errSwitched) {
			out, err = l.compare(ctx, c)
		}
		if err != nil {
			return ev, err
		}
		ev.Effect = out.effect
		switch {
		case out.effect == nil && (out.failed == track.CategoryInfrastructure || out.failed == track.CategoryTimeout):
			ev.Passed, ev.What = true, "not looked at: "+out.fault
			return ev, nil
		case out.effect == nil:
			ev.What = "a second checkout of the same commit gave no score: " + out.reason
			return ev, nil
		case !out.accepted:
			ev.Passed, ev.What = true, "the same commit from a second checkout does not win: "+out.reason
			return ev, nil
		case try == 2:
			ev.What = "the same commit from a second checkout won twice: the score depends on where or when it is taken: " + out.reason
			return ev, nil
		}
	}
}

// brokenCanary runs the benchmark on a commit in which every file in scope is
// nonsense.
func (l *Loop) brokenCanary(ctx context.Context, round int, commit string) (track.CanaryEvent, error) {
	ev := track.CanaryEvent{Name: track.CanaryBroken}
	broken, n, err := l.breakScope(ctx, commit)
	if err != nil {
		return ev, err
	}
	if n == 0 {
		ev.Passed, ev.What = true, "not looked at: no file in scope is there yet"
		return ev, nil
	}
	s, err := l.lab.take(ctx, request{round: round, key: "canary/broken", purpose: "canary", subject: "nonsense", commit: broken})
	if err != nil {
		return ev, err
	}
	if s.Category == track.CategoryInfrastructure {
		ev.Passed, ev.What = true, "not looked at: "+s.Fault
		return ev, nil
	}
	what := fmt.Sprintf("with nonsense in all %d files in scope", n)
	if s.Score == nil {
		ev.Passed, ev.What = true, "no score "+what+": "+clean.Line(s.Fault, 200)
		return ev, nil
	}
	worst, err := l.worstKnown(ctx, commit)
	if err != nil {
		return ev, err
	}
	p := l.progress.Value.SI
	reach := 6 * p.Sigma // where scores can be 0, the noise is in their own units
	if !p.Linear {
		reach = max(reach, p.Tolerance) * abs(worst)
	}
	if l.settings.Value.BenchmarkDirection.Better(worst, *s.Score) && abs(worst-*s.Score) > reach {
		ev.Passed, ev.What = true, fmt.Sprintf("the score falls to %.6g %s", *s.Score, what)
		return ev, nil
	}
	ev.What = fmt.Sprintf("the score %s is %.6g, no worse than without (%.6g): the benchmark does not look at what may be changed; "+
		"correct the command or the scope, or turn this check off with --no-canary", what, *s.Score, worst)
	return ev, nil
}

// worstKnown is the worst run that is known of a commit. The other canary has just
// run it.
func (l *Loop) worstKnown(ctx context.Context, commit string) (float64, error) {
	tree, err := l.cfg.Repo.TreeOf(ctx, commit)
	if err != nil {
		return 0, err
	}
	dir, worst := l.settings.Value.BenchmarkDirection, math.NaN()
	for _, p := range l.lab.past {
		if p.Tree == tree && p.Score != nil && p.Purpose != "validation" && (math.IsNaN(worst) || dir.Better(worst, *p.Score)) {
			worst = *p.Score
		}
	}
	if math.IsNaN(worst) {
		return 0, fmt.Errorf("look at the canaries: no run of %s is known", short(commit))
	}
	return worst, nil
}

// breakScope makes a commit in which the files that a candidate may change are
// nonsense, and counts them.
func (l *Loop) breakScope(ctx context.Context, commit string) (string, int, error) {
	entries, err := l.cfg.Repo.ListTree(ctx, commit)
	if err != nil {
		return "", 0, err
	}
	seals, err := benchmark.NewSeals(l.settings.Value.SealedFiles)
	if err != nil {
		return "", 0, err
	}
	files := map[string][]byte{}
	for _, e := range entries {
		if slices.Contains([]string{"100644", "100755"}, e.Mode) && inScope(l.goal, e.Path) && !seals.Match(e.Path) {
			files[e.Path] = []byte(nonsense)
		}
	}
	meta := gitops.CommitMeta{Message: "si canary: nonsense in every file in scope", When: time.Unix(0, 0).UTC()}
	c, err := l.cfg.Repo.Write(ctx, commit, files, meta)
	return c.ID, len(files), err
}

// plan says what the settings can find and what that costs, at the noise that
// is known.
func (l *Loop) plan() (duel.Plan, error) {
	return l.duelConfig(comparison{}).Plan(l.settings.Value.NumberOfAgents)
}
