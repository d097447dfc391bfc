package loop

import (
	"context"
	"errors"
	"fmt"
	"time"

	"si/gitops"
	"si/loop/report"
	"si/track"
)

// leaveOut measures the champion against the champion without one gain. A sum of
// gains that were kept one by one hides those that later ones have made worthless.
func (l *Loop) leaveOut(ctx context.Context, d *Delivery, g *Delivered) error {
	m := g.Merged
	meta := gitops.CommitMeta{Message: "without " + short(m.Merge), When: time.Unix(0, 0).UTC()}
	without, err := l.cfg.Repo.MergeTrees(ctx, m.Merge, d.Champion, m.TipBefore, meta)
	if err != nil {
		return err
	}
	if len(without.Conflicts) > 0 {
		g.Worth, g.Reason = report.WorthBuiltOn, "later gains change the same lines of "+quoted(without.Conflicts)+", so it cannot be left out alone"
		return nil
	}
	tree, err := l.cfg.Repo.TreeOf(ctx, d.Champion)
	if err != nil {
		return err
	}
	if tree == without.Tree {
		g.Worth, g.Reason = report.WorthReplaced, "leaving it out changes nothing: a later gain has replaced it"
		return nil
	}
	out, err := l.leftOutDuel(ctx, d, m, without)
	if err != nil {
		return err
	}
	g.LeftOut = out.effect
	g.Worth, g.Reason = l.worth(out)
	return nil
}

func (l *Loop) leftOutDuel(ctx context.Context, d *Delivery, m track.Merged, without gitops.Merge) (duelOutcome, error) {
	n := l.progress.Value.Iterations
	key := fmt.Sprintf("deliver/%s/%s", short(d.Champion), short(m.Merge))
	c := comparison{
		round: n, key: key, purpose: "deliver", before: without.Commit, after: d.Champion,
		beforeName: "without " + m.PlanID, afterName: "champion", seed: hash(key),
	}
	out, err := l.compare(ctx, c)
	if errors.Is(err, errSwitched) {
		out, err = l.compare(ctx, c)
	}
	return out, err
}

// worth reads the duel of the champion against the champion without the gain.
func (l *Loop) worth(out duelOutcome) (report.Worth, string) {
	e := out.effect
	switch {
	case e == nil && (!out.undecided || out.failed == track.CategoryTimeout || out.failed == track.CategoryInfrastructure):
		return report.WorthUndecided, "a run gave no score: " + out.fault
	case e == nil:
		return report.WorthNeeded, "without it the benchmark gives no score: " + out.fault
	case out.accepted:
		return report.WorthReal, "without it the champion is worse"
	case e.High != nil && *e.High < 0, e.Low == nil && e.High == nil && e.Value < 0:
		return report.WorthHarmful, "without it the champion is better"
	case e.High != nil && *e.High < l.minEffect(): // no sign of a worth is no proof of none
		return report.WorthRides, "without it the champion is as good: " + out.reason
	}
	return report.WorthUndecided, "the runs do not tell: " + out.reason
}
