package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"si/learn/mistakes"
	"si/learn/place"
	"si/learn/policy"
	"si/learn/proposals"
	"si/learn/retro"
	"si/track"
)

// LookBackOptions say which runs are looked back on by hand.
type LookBackOptions struct {
	Run    string // "" for those that are owed, or else the last one
	DryRun bool   // say what would be done, and write nothing
}

// LookedBack is what looking back on one run came to.
type LookedBack struct {
	Event  track.RetroEvent `json:"event"`
	Record retro.Record     `json:"record"`
}

// LookBack lets the repository learn from runs that are over, as the loop does at the
// end of each. It holds the track's lock.
func LookBack(ctx context.Context, cfg Config, o LookBackOptions) ([]LookedBack, error) {
	l := &Loop{cfg: cfg, started: cfg.Now()}
	lock, err := track.AcquireLock(cfg.Paths.LockPath(), track.Holder{Command: "si retro", StartedAt: cfg.Now()})
	if err != nil {
		return nil, err
	}
	defer lock.Release() //nolint:errcheck // the system releases it when the process ends
	if err := l.open(); err != nil {
		return nil, err
	}
	defer l.close(context.WithoutCancel(ctx))
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	box := l.steer(cancel)
	defer box.close()
	out, err := l.lookByHand(ctx, o)
	if errors.Is(context.Cause(ctx), ErrInterrupted) || errors.Is(err, errStop) {
		err = fmt.Errorf("looking back was %w; it is owed still", ErrInterrupted)
	}
	return out, errors.Join(err, l.lastCheck(ctx))
}

func (l *Loop) lookByHand(ctx context.Context, o LookBackOptions) ([]LookedBack, error) {
	if err := firstOf(l.sweepProcesses(), l.sweepJobs(ctx), l.sweepArms(ctx)); err != nil {
		return nil, err
	}
	var err error
	if l.guard, err = newCheckoutGuard(ctx, l); err != nil {
		return nil, err
	}
	tip, err := l.tip(ctx)
	if err != nil {
		return nil, err
	}
	if err := l.learner.lay(ctx, tip); err != nil {
		return nil, err
	}
	runs, err := l.runsToLookAt(o.Run)
	if err != nil {
		return nil, err
	}
	if !o.DryRun {
		if err := l.follow(ctx); err != nil {
			return nil, err
		}
	}
	var out []LookedBack
	for _, run := range runs {
		one, err := l.lookAt(ctx, run, o.DryRun)
		if err != nil {
			return out, err
		}
		out = append(out, one)
	}
	return out, nil
}

// runsToLookAt are the run that was asked for, those that are owed, or the last one
// that played a round.
func (l *Loop) runsToLookAt(asked string) ([]string, error) {
	known, last := false, ""
	for ev, err := range l.allEvents() {
		if err != nil {
			return nil, err
		}
		known = known || ev.Run == asked
		if ev.Ev == track.EvRoundEnded {
			last = ev.Run
		}
	}
	switch {
	case asked != "" && known:
		return []string{asked}, nil
	case asked != "":
		return nil, fmt.Errorf("look back: the journal has no run %.60q", asked)
	}
	owed, err := retro.OwedRuns(l.allEvents(), l.cfg.RunID)
	if err != nil {
		return nil, err
	}
	var runs []string
	for _, o := range owed {
		runs = append(runs, o.Run)
	}
	if len(runs) == 0 && last != "" {
		runs = append(runs, last)
	}
	if len(runs) == 0 {
		return nil, fmt.Errorf("look back: %w", retro.ErrNothing)
	}
	return runs, nil
}

func (l *Loop) lookAt(ctx context.Context, run string, dry bool) (LookedBack, error) {
	if dry {
		return l.wouldLearn(ctx, run)
	}
	if err := l.retrospect(ctx, run, retro.ByHand); err != nil {
		return LookedBack{}, err
	}
	var out LookedBack
	for ev, err := range l.allEvents() {
		if err != nil {
			return out, err
		}
		if ev.Ev != track.EvRetro {
			continue
		}
		var r track.RetroEvent
		if err := ev.Decode(&r); err != nil {
			return out, err
		}
		if r.Of == run && r.Outcome != track.RetroStarted {
			out.Event = r
		}
	}
	if out.Event.Record == "" {
		return out, fmt.Errorf("look back on the run %s: %w", run, retro.ErrNothing)
	}
	data, err := l.learner.place.Read(out.Event.Record)
	if err == nil {
		err = json.Unmarshal(data, &out.Record)
	}
	if err != nil {
		return out, fmt.Errorf("read the record of the retrospective: %w", err)
	}
	return out, nil
}

// wouldLearn is a dry run. What a repository needs to learn is laid into our own
// folder only, and taken out again by the next laying.
func (l *Loop) wouldLearn(ctx context.Context, run string) (LookedBack, error) {
	in, err := l.retroInput(ctx, run, retro.ByHand)
	if err != nil {
		return LookedBack{}, err
	}
	if !l.progress.Value.SI.Seeded {
		tip := l.learner.laid
		defer func() { l.learner.laid = "" }()
		if _, err := policy.Seed(ctx, l.learner.place); err != nil {
			return LookedBack{}, err
		}
		if _, err := mistakes.Seed(ctx, l.learner.place); err != nil {
			return LookedBack{}, err
		}
		l.learner.laid = tip
		in.Policy = l.learner.policy()
	}
	in.DryRun, in.Commit, in.Keep = true, nil, nil
	out, err := retro.Look(ctx, in, l.judge())
	return LookedBack{out.Event, out.Record}, err
}

// follow takes over what people decided about proposals in their own checkout.
func (l *Loop) follow(ctx context.Context) error {
	theirs, err := place.Open(l.cfg.Store, l.cfg.Repo.Toplevel())
	if err != nil {
		return err
	}
	p := l.learner.policy()
	allow := func(name string) error {
		if d := p.DecideTree(name); d.Class == policy.Kernel {
			return fmt.Errorf("%s is KERNEL by %s: %s", name, d.Rule, d.Reason)
		}
		if !l.learner.place.Owns(name) {
			return fmt.Errorf("%s is no learned file; it is changed where you approved it", name)
		}
		return nil
	}
	var taken []proposals.Proposal
	err = l.learner.edit(ctx, "Learn: take over what people decided about proposals\n", track.Learned{What: "proposal", Text: "what people decided about proposals"}, func() (err error) {
		taken, _, err = proposals.Follow(ctx, l.learner.place, theirs, allow)
		return err
	})
	if err != nil {
		return err
	}
	for _, t := range taken {
		ev := track.ProposalEvent{ID: t.ID, Action: string(t.State), Title: t.Title, Paths: t.Paths(), Reason: t.Said}
		if err := l.events.emit(track.EvProposal, l.progress.Value.Iterations, "si", ev); err != nil {
			return err
		}
	}
	return nil
}
