package loop

import (
	"context"
	"fmt"
	"strings"
	"time"

	"si/gitops"
	"si/internal/clean"
	"si/track"
)

// layCommits makes the branch for the reviewer: on top of the starting commit one
// commit for each gain, with its evidence in the trailer.
func (l *Loop) layCommits(ctx context.Context, d *Delivery, onlyReal bool) error {
	tip, whole := d.Start, true
	for i := range d.Gains {
		g := &d.Gains[i]
		if onlyReal && (g.Worth == WorthRides || g.Worth == WorthHarmful || g.Worth == WorthReplaced) {
			whole = false
			continue
		}
		commit, err := l.layGain(ctx, tip, g, whole)
		if err != nil {
			return err
		}
		if commit == "" { // it needs one that was left off
			g.Reason += "; left off: it builds on a gain that was left off"
			whole = false
			continue
		}
		g.Commit, tip = commit, commit
	}
	d.Commit = tip
	if err := l.setBranch(ctx, "refs/heads/"+d.Branch, tip); err != nil {
		return err
	}
	if whole {
		return nil
	}
	return l.measureClean(ctx, d)
}

// layGain puts one gain on the clean branch; "" when it does not apply there.
// As long as no gain was left off, the trees are those of the merges.
func (l *Loop) layGain(ctx context.Context, tip string, g *Delivered, whole bool) (string, error) {
	meta := gitops.CommitMeta{Message: gainMessage(*g)}
	when, err := l.dateOf(ctx, g.Merged.Merge)
	if err != nil {
		return "", err
	}
	meta.When = when
	if whole {
		c, err := l.cfg.Repo.Replay(ctx, g.Merged.Merge, tip, meta)
		return c.ID, err
	}
	m, err := l.cfg.Repo.MergeTrees(ctx, g.Merged.TipBefore, tip, g.Merged.Merge, meta)
	return m.Commit, err
}

// gainMessage is the commit message of a gain: what was changed, and the evidence
// as trailers (git interpret-trailers).
func gainMessage(g Delivered) string {
	var b strings.Builder
	// One paragraph: a hypothesis must not be able to write trailers.
	fmt.Fprintf(&b, "%s\n\n%s\n\n", subject(g.Hypothesis), clean.Line(strings.Join(strings.Fields(clean.Text([]byte(g.Hypothesis))), " "), 2000))
	trailer := func(key, format string, args ...any) {
		fmt.Fprintf(&b, "Si-%s: %s\n", key, strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " "))
	}
	trailer("Round", "%d, %s, %s", g.Round, g.Merged.Executor, g.Family)
	trailer("Score", "%.6g -> %.6g", g.Merged.Before, g.Merged.After)
	trailer("Effect", "%s", effectWords(&g.Merged.Effect))
	if g.LeftOut != nil {
		trailer("Left-Out", "%s; %s", effectWords(g.LeftOut), g.Worth)
	} else {
		trailer("Left-Out", "%s", g.Reason)
	}
	if v := g.Merged.Validation; v != nil {
		trailer("Validation", "%.6g -> %.6g", v.Before, v.After)
	}
	trailer("Candidate", "%s", g.Merged.Commit)
	trailer("Merge", "%s", g.Merged.Merge)
	return b.String()
}

// effectWords tells an effect with its bounds, its p and its runs.
func effectWords(e *track.Effect) string {
	unit, scale := " %", 100.0
	if e.InSigma {
		unit, scale = " sigma", 1
	}
	bound := func(v *float64, none string) string {
		if v == nil {
			return none
		}
		return fmt.Sprintf("%+.2f", scale**v)
	}
	text := fmt.Sprintf("%+.2f%s", scale*e.Value, unit)
	switch {
	case e.Low != nil && e.High != nil && *e.Low == *e.High:
		return text + " exactly"
	case e.Low != nil || e.High != nil:
		text += fmt.Sprintf(" [%s, %s]", bound(e.Low, "-inf"), bound(e.High, "inf"))
	}
	if e.P != nil {
		text += fmt.Sprintf(", p %.3g", *e.P)
	}
	return text + fmt.Sprintf(", %d runs", e.Runs)
}

// dateOf is the author date of a commit.
func (l *Loop) dateOf(ctx context.Context, commit string) (time.Time, error) {
	log, err := l.cfg.Repo.Log(ctx, "", commit, 1)
	if err != nil {
		return time.Time{}, err
	}
	if len(log) == 0 {
		return time.Time{}, fmt.Errorf("read the date of %s: it is no commit", short(commit))
	}
	when, err := time.Parse(time.RFC3339, log[0].When)
	if err != nil {
		return when, fmt.Errorf("read the date of %s: %w", short(commit), err)
	}
	return when, nil
}

// setBranch makes a branch of ours name commit, whatever it named before.
func (l *Loop) setBranch(ctx context.Context, ref, commit string) error {
	old, _, err := l.cfg.Repo.Ref(ctx, ref)
	if err != nil || old == commit {
		return err
	}
	at, err := l.cfg.Repo.CheckedOutAt(ctx, strings.TrimPrefix(ref, "refs/heads/"))
	if err != nil {
		return err
	}
	if at != "" {
		return fmt.Errorf("branch %s is checked out in %s; switch that checkout to another branch, then deliver again", strings.TrimPrefix(ref, "refs/heads/"), at)
	}
	if err := l.cfg.Repo.MoveRef(ctx, ref, commit, old); err != nil {
		return err
	}
	return l.cfg.Repo.Sync()
}

// measureClean measures a branch whose tree nobody has measured yet.
func (l *Loop) measureClean(ctx context.Context, d *Delivery) error {
	key := "deliver/clean/" + short(d.Commit)
	out, err := l.compare(ctx, comparison{
		round: l.progress.Value.Iterations, key: key, purpose: "deliver", before: d.Start, after: d.Commit,
		beforeName: "start", afterName: "delivered", seed: hash(key),
	})
	if err != nil {
		return err
	}
	if out.effect == nil {
		d.Notes = append(d.Notes, "the branch without what rides along gives no score: "+out.reason)
		return nil
	}
	d.Whole = &track.WholeGain{Iterations: l.progress.Value.Iterations, Effect: *out.effect, Before: out.before, After: out.after}
	return nil
}
