package loop

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"si/benchmark"
	"si/gitops"
	"si/internal/clean"
	"si/learn/place"
	"si/loop/report"
	"si/track"
)

// layCommits makes the branch for the reviewer: on top of the starting commit one
// commit for each gain, with its evidence in the trailer. Gains that are worth
// nothing alone can need each other: what is left without them is measured, and when
// it is no good the branch has them all.
func (l *Loop) layCommits(ctx context.Context, d *Delivery, o DeliverOptions) error {
	tip, whole, err := l.chain(ctx, d, o.OnlyReal)
	if err != nil {
		return err
	}
	if !whole {
		why, err := l.measureClean(ctx, d, tip)
		if err != nil {
			return err
		}
		if why != "" {
			d.Notes = append(d.Notes, "nothing was left off: without what seems to be worth nothing "+why)
			if tip, _, err = l.chain(ctx, d, false); err != nil {
				return err
			}
		}
	}
	if o.Learned {
		if tip, err = l.layLearned(ctx, d.Start, tip); err != nil {
			return err
		}
	}
	d.Commit = tip
	return l.setBranch(ctx, "refs/heads/"+d.Branch, tip)
}

// layLearned puts what the runs have learned on top of the gains.
func (l *Loop) layLearned(ctx context.Context, start, onto string) (string, error) {
	now, err := l.tip(ctx)
	if err != nil {
		return "", err
	}
	before, _, _, err := l.learnedFiles(ctx, start)
	if err != nil {
		return "", err
	}
	after, _, _, err := l.learnedFiles(ctx, now)
	if err != nil {
		return "", err
	}
	files := place.Changes(before, after)
	if len(files) == 0 {
		return onto, nil
	}
	when, err := l.dateOf(ctx, now)
	if err != nil {
		return "", err
	}
	c, err := l.cfg.Repo.Write(ctx, onto, files, gitops.CommitMeta{Message: "What the runs learned about this repository\n\nSi-Merge: none\n", When: when})
	return c.ID, err
}

// chain lays the commits one on the other; whole says that no gain was left off.
func (l *Loop) chain(ctx context.Context, d *Delivery, onlyReal bool) (tip string, whole bool, err error) {
	tip, whole = d.Start, true
	for i := range d.Gains {
		g := &d.Gains[i]
		g.Commit = ""
		if onlyReal && (g.Worth == report.WorthRides || g.Worth == report.WorthHarmful || g.Worth == report.WorthReplaced) {
			whole = false
			continue
		}
		commit, err := l.layGain(ctx, tip, g, whole)
		if err != nil {
			return "", false, err
		}
		if commit == "" { // it needs one that was left off
			whole = false
			continue
		}
		g.Commit, tip = commit, commit
	}
	return tip, whole, nil
}

// layGain puts one gain on the clean branch; "" when it does not apply there.
// As long as no gain was left off, and nothing but gains lies between, the trees are
// those of the merges. What was learned in between stays out.
func (l *Loop) layGain(ctx context.Context, tip string, g *Delivered, whole bool) (string, error) {
	meta := gitops.CommitMeta{Message: gainMessage(*g)}
	when, err := l.dateOf(ctx, g.Merged.Merge)
	if err != nil {
		return "", err
	}
	meta.When = when
	if whole && g.follows {
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
	fmt.Fprintf(&b, "%s\n\n%s\n\n", inert(subject(g.Hypothesis)), inert(clean.Line(strings.Join(strings.Fields(clean.Text([]byte(g.Hypothesis))), " "), 2000)))
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
	if g.Merged.Doubt != "" {
		trailer("Doubt", "%s", g.Merged.Doubt)
	}
	trailer("Candidate", "%s", g.Merged.Commit)
	trailer("Merge", "%s", g.Merged.Merge)
	return b.String()
}

// forgeWords are what a forge or its checks act on in a commit message: a hypothesis
// must not skip a reviewer's checks, close issues or call people.
var forgeWords = regexp.MustCompile(`(?i)\[(skip|ci|no)[ -]|[@#](\w)`)

// inert breaks them up.
func inert(text string) string {
	return forgeWords.ReplaceAllStringFunc(text, func(found string) string { return found[:1] + " " + found[1:] })
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
	if old != "" && old != l.progress.Value.SI.StartCommit {
		log, err := l.cfg.Repo.Log(ctx, "", old, 1)
		if err != nil {
			return err
		}
		if len(log) == 0 || !strings.Contains(log[0].Message, "\nSi-Merge: ") {
			return fmt.Errorf("branch %s ends in a commit that si did not make, %s; rename that branch, then deliver again", strings.TrimPrefix(ref, "refs/heads/"), short(old))
		}
	}
	if err := l.cfg.Repo.MoveRef(ctx, ref, commit, old); err != nil {
		return err
	}
	return l.cfg.Repo.Sync()
}

// measureClean measures a tree that nobody has measured yet: guards, against the
// champion, and against the start. why says what is wrong with it, "" when it is fit.
func (l *Loop) measureClean(ctx context.Context, d *Delivery, tip string) (why string, err error) {
	guards, err := benchmark.GuardsOf(l.settings.Value)
	if err != nil {
		return "", err
	}
	for _, g := range guards {
		if g.Command == "" {
			continue
		}
		result, err := l.lab.guard(ctx, l.progress.Value.Iterations, "delivered", tip, g)
		if err != nil {
			return "", err
		}
		if !result.OK {
			return fmt.Sprintf("guard %q does not pass: %s", g.Name, clean.Line(result.What, 300)), nil
		}
	}
	against, err := l.cleanDuel(ctx, "champion", d.Champion, tip)
	if err != nil {
		return "", err
	}
	if against.effect == nil {
		return "the benchmark gives no score: " + against.fault, nil
	}
	if against.effect.Value < -l.minEffect() {
		return fmt.Sprintf("the result is worse than the champion (%s)", effectWords(against.effect)), nil
	}
	out, err := l.cleanDuel(ctx, "start", d.Start, tip)
	if err != nil {
		return "", err
	}
	if out.effect == nil {
		return "the benchmark gives no score: " + out.fault, nil
	}
	d.wholeKey = cleanKey("start", tip)
	d.Whole = &track.WholeGain{Iterations: l.progress.Value.Iterations, Effect: *out.effect, Before: out.before, After: out.after}
	return "", nil
}

// cleanKey is the prefix of the keys of the runs that compare a clean branch.
func cleanKey(against, tip string) string {
	return fmt.Sprintf("deliver/clean/%s/%s", against, short(tip))
}

func (l *Loop) cleanDuel(ctx context.Context, name, before, tip string) (duelOutcome, error) {
	key := cleanKey(name, tip)
	c := comparison{
		round: l.progress.Value.Iterations, key: key, purpose: "deliver", before: before, after: tip,
		beforeName: name, afterName: "delivered", seed: hash(key),
	}
	out, err := l.compare(ctx, c)
	if errors.Is(err, errSwitched) {
		out, err = l.compare(ctx, c)
	}
	return out, err
}
