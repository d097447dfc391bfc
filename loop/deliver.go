package loop

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"si/gitops"
	"si/loop/report"
	"si/track"
)

// DeliverOptions say what Deliver prepares.
type DeliverOptions struct {
	NoMeasure bool   // do not run the benchmark: gains keep the figures of their rounds
	OnlyReal  bool   // leave out the gains that leaving out shows to be worth nothing
	Learned   bool   // put what was learned into a last commit
	Out       string // folder of the report; "" is the track's own
	Push      bool   // push the branch to origin
	Pull      bool   // and open a pull request with gh
}

// Delivery is what a reviewer is given.
type Delivery struct {
	Branch   string           `json:"branch"` // one clean commit for each gain
	Commit   string           `json:"commit"`
	Start    string           `json:"start_commit"`
	Champion string           `json:"champion_commit"`
	Whole    *track.WholeGain `json:"whole"` // the start against the champion, measured afresh
	Gains    []Delivered      `json:"gains"`
	Markdown string           `json:"report_markdown"`
	HTML     string           `json:"report_html"`
	Notes    []string         `json:"notes,omitempty"`

	wholeKey string // of the runs that Whole rests on, when they are not those of the run's end
}

// Delivered is one kept gain with what leaving it out has shown.
type Delivered struct {
	Round      int           `json:"round"`
	Merged     track.Merged  `json:"merged"`
	Hypothesis string        `json:"hypothesis"`
	Family     string        `json:"approach_family"`
	Worth      report.Worth  `json:"worth"`
	Reason     string        `json:"reason"`
	LeftOut    *track.Effect `json:"left_out_effect,omitempty"` // the champion against the champion without it
	Commit     string        `json:"commit,omitempty"`          // on the clean branch; "" when it was left off

	follows bool // the gain before it, and nothing else
}

// ErrNothingKept says that there is nothing to deliver.
var ErrNothingKept = errors.New("nothing was kept")

// Deliver prepares the result of a track for a reviewer: each kept gain measured
// again by leaving it out, a branch with one commit for each, and a report. The
// improve branch stays as it is. What was measured is in the journal, so that a
// second delivery of the same champion takes no run again.
func Deliver(ctx context.Context, cfg Config, o DeliverOptions) (Delivery, error) {
	l := &Loop{cfg: cfg, started: cfg.Now()}
	lock, err := track.AcquireLock(cfg.Paths.LockPath(), track.Holder{Command: "si deliver", StartedAt: cfg.Now()})
	if err != nil {
		return Delivery{}, err
	}
	defer lock.Release() //nolint:errcheck // the system releases it when the process ends
	if err := l.open(); err != nil {
		return Delivery{}, err
	}
	defer l.close(context.WithoutCancel(ctx))
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	box := l.steer(cancel)
	defer box.close()
	d, err := l.deliver(ctx, o)
	if errors.Is(context.Cause(ctx), ErrInterrupted) || errors.Is(err, errStop) {
		err = fmt.Errorf("the delivery was %w; start it again, no run that was taken is taken again", ErrInterrupted)
	}
	return d, errors.Join(err, l.lastCheck(ctx))
}

func (l *Loop) deliver(ctx context.Context, o DeliverOptions) (Delivery, error) {
	if err := firstOf(l.sweepProcesses(), l.sweepJobs(ctx)); err != nil {
		return Delivery{}, err
	}
	if err := l.sweepArms(ctx); err != nil {
		return Delivery{}, err
	}
	if err := l.checkOut(o.Out); err != nil {
		return Delivery{}, err
	}
	var err error
	if l.guard, err = newCheckoutGuard(ctx, l); err != nil {
		return Delivery{}, err
	}
	d, err := l.keptGains(ctx)
	if err != nil {
		return d, err
	}
	if !o.NoMeasure {
		if err := l.measureGains(ctx, &d); err != nil {
			return d, err
		}
	}
	if err := l.layCommits(ctx, &d, o); err != nil {
		return d, err
	}
	if err := l.writeReport(ctx, &d, o); err != nil {
		return d, err
	}
	return d, l.offer(ctx, &d, o)
}

// sweepArms removes measuring worktrees that a crash left, and nothing that an
// unfinished round still needs.
func (l *Loop) sweepArms(ctx context.Context) error {
	_, err := l.cfg.Repo.SweepWorkspaces(ctx, l.lab.folder(), l.lab.uses)
	return err
}

// keptGains lists what the recorded rounds kept, in order.
func (l *Loop) keptGains(ctx context.Context) (Delivery, error) {
	p := l.progress.Value
	d := Delivery{Branch: l.refs.delivery(), Start: p.SI.StartCommit, Gains: []Delivered{}}
	if w := p.SI.Whole; w != nil && w.Iterations == p.Iterations && p.SI.BenchmarkID == benchmarkID(l.settings.Value) {
		d.Whole = w
	}
	histories, err := track.LoadHistory(l.cfg.Paths, p.Iterations)
	if err != nil {
		return d, err
	}
	d.Champion = d.Start
	for _, h := range histories {
		for _, m := range h.SI.Winners {
			g := Delivered{Round: h.Iteration, Merged: m, Hypothesis: hypothesisOf(h, m.PlanID), Family: familyOf(h, m.PlanID)}
			g.follows = m.TipBefore == d.Champion
			g.Worth, g.Reason = report.WorthUntried, "it was not left out and measured again"
			d.Gains = append(d.Gains, g)
			d.Champion = m.Merge
		}
	}
	if len(d.Gains) == 0 {
		return d, fmt.Errorf("%w in %d rounds, so there is nothing to deliver; 'si history' tells what was tried", ErrNothingKept, p.Iterations)
	}
	for _, commit := range []string{d.Start, d.Champion} {
		if !l.cfg.Repo.HasCommit(ctx, commit) {
			return d, fmt.Errorf("the commit %s of the track is gone from %s; restore it (git fsck --lost-found)", short(commit), l.cfg.Repo.Toplevel())
		}
	}
	note, err := l.beyond(ctx, d.Champion)
	if note != "" {
		d.Notes = append(d.Notes, note)
	}
	return d, err
}

// beyond says what the improve branch holds after the champion of the last recorded
// round, "" when it stands there.
func (l *Loop) beyond(ctx context.Context, champion string) (string, error) {
	tip, there, err := l.cfg.Repo.Ref(ctx, "refs/heads/"+l.refs.improve())
	if err != nil || !there || tip == champion { // a branch that is gone takes nothing from what is delivered
		return "", err
	}
	changes, err := l.cfg.Repo.Diff(ctx, champion, tip)
	if err != nil {
		return "", err
	}
	holds := "other changes, too, which were not measured"
	if !slices.ContainsFunc(changes, func(c gitops.Change) bool { return !onlyLearned(c.Path) && !isLearnedAtTop(c.Path) }) {
		holds = "only what was learned, which --with-learned delivers"
	}
	return fmt.Sprintf("branch %s stands at %s; what is delivered is the champion of the last recorded round, %s: after it the branch holds %s",
		l.refs.improve(), short(tip), short(champion), holds), nil
}

func familyOf(h track.History, plan string) string {
	for _, item := range h.Items() {
		if item.PlanID == plan {
			return item.ApproachFamily
		}
	}
	return ""
}

// measureGains measures the whole gain, if the end of the run has not, and each
// gain by leaving it out.
func (l *Loop) measureGains(ctx context.Context, d *Delivery) error {
	if err := l.calibrate(ctx); err != nil {
		return err
	}
	whole := l.progress.Value.SI.Whole // calibrating has dropped that of another benchmark
	if whole == nil || whole.Iterations != l.progress.Value.Iterations {
		out, err := l.wholeGain(ctx)
		if err != nil {
			return err
		}
		if out != nil {
			whole = &track.WholeGain{Iterations: l.progress.Value.Iterations, Effect: *out.effect, Before: out.before, After: out.after}
			l.progress.Value.SI.Whole = whole
			if err := l.progress.Save(l.cfg.Store); err != nil {
				return err
			}
		}
	}
	d.Whole = whole
	for i := range d.Gains {
		if err := l.leaveOut(ctx, d, &d.Gains[i]); err != nil {
			return err
		}
		g := d.Gains[i]
		ev := track.LeftOutEvent{Executor: g.Merged.Executor, Merge: g.Merged.Merge, Worth: string(g.Worth), Reason: g.Reason, Effect: g.LeftOut}
		if err := l.events.emit(track.EvLeftOut, g.Round, "si", ev); err != nil {
			return err
		}
		if err := l.guard.check(ctx, g.Round, "the delivery"); err != nil {
			return err
		}
	}
	return nil
}
