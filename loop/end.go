package loop

import (
	"context"
	"errors"
	"fmt"

	"si/learn/retro"
	"si/track"
)

// end brings the run to its close: the status, the fresh measurement of the
// whole gain, the chart and the summary. err is how the rounds ended.
func (l *Loop) end(ctx context.Context, err error) (track.Summary, error) {
	switch {
	case errors.Is(err, ErrAskResume), errors.Is(err, ErrNotSetUp):
		return track.Summary{}, err
	case errors.Is(err, ErrFinished):
		s, sumErr := l.summarize(ctx)
		return s, firstOf(sumErr, err)
	case errors.Is(err, ErrInterrupted):
		// The second request: nothing more is done, the next start cleans up. But a
		// change to the user's side would be taken for theirs then.
		return track.Summary{}, errors.Join(err, l.lastCheck(ctx), l.setStatus(track.StatusUserStopped, "stopped at once"))
	case errors.Is(err, errStop):
		return l.endStopped(ctx)
	case err != nil:
		return l.endFailed(ctx, err)
	}
	whole, err := l.wholeGain(ctx)
	if errors.Is(err, errStop) {
		err = l.note("stopped before the whole gain was measured afresh")
	}
	if err != nil {
		return l.endFailed(ctx, err)
	}
	if whole != nil {
		l.progress.Value.SI.Whole = &track.WholeGain{Iterations: l.progress.Value.Iterations, Effect: *whole.effect, Before: whole.before, After: whole.after}
	}
	// The run counts as running until it has been looked back on: killed in between, the
	// next start does it.
	if err := l.afterwards(ctx); err != nil {
		if ctx.Err() != nil {
			return track.Summary{}, errors.Join(ErrInterrupted, l.lastCheck(ctx), l.setStatus(track.StatusUserStopped, "stopped at once"))
		}
		return l.endFailed(ctx, err)
	}
	if err := l.setStatus(l.final, l.finalReason); err != nil {
		return track.Summary{}, err
	}
	return l.conclude(ctx)
}

// afterwards is what is done with a run once its rounds are over: reviews end, skills
// age, and it is looked back on.
func (l *Loop) afterwards(ctx context.Context) error {
	if err := firstOf(l.closeAids(ctx), l.curate(ctx)); err != nil {
		return err
	}
	err := l.learn(ctx, retro.ByEnd)
	if errors.Is(err, errStop) {
		return l.note("stopped before the run was looked back on; the next run, or 'si retro', does it")
	}
	return err
}

func (l *Loop) endStopped(ctx context.Context) (track.Summary, error) {
	step := track.Step("")
	if st, err := track.LoadIteration(l.cfg.Paths); err == nil {
		step = st.Value.CurrentStep
	}
	reason := fmt.Sprintf("stopped by the user at iteration %d, step %s", l.progress.Value.Iterations+1, step)
	if err := l.setStatus(track.StatusUserStopped, reason); err != nil {
		return track.Summary{}, err
	}
	if err := l.cleanUp(ctx, l.progress.Value.Iterations+1); err != nil {
		return track.Summary{}, err
	}
	return l.conclude(ctx)
}

// endFailed records why the loop cannot go on. The round stays in progress on
// disk, so that the next start takes it up.
func (l *Loop) endFailed(ctx context.Context, cause error) (track.Summary, error) {
	ctx = context.WithoutCancel(ctx)
	cause = errors.Join(cause, l.lastCheck(ctx))
	if err := l.setStatus(track.StatusFailed, cause.Error()); err != nil {
		return track.Summary{}, errors.Join(cause, err)
	}
	s, err := l.summarize(ctx)
	if err != nil {
		return track.Summary{}, errors.Join(cause, err)
	}
	return s, errors.Join(cause, l.events.emit(track.EvRunEnded, 0, "si", s))
}

// lastCheck looks at the user's side of the repository once more.
func (l *Loop) lastCheck(ctx context.Context) error {
	if l.guard == nil {
		return nil
	}
	return l.guard.check(context.WithoutCancel(ctx), 0, "the run")
}

// conclude draws the chart, makes the summary and writes it down.
func (l *Loop) conclude(ctx context.Context) (track.Summary, error) {
	if err := l.lastCheck(ctx); err != nil {
		return l.endFailed(ctx, err)
	}
	if l.guard != nil {
		l.notes = append(l.notes, l.guard.seen.notes()...)
	}
	if err := l.chart(); err != nil {
		l.notes = append(l.notes, fmt.Sprintf("the chart was not drawn: %v", err))
	}
	if err := l.openPull(ctx); err != nil {
		return track.Summary{}, err
	}
	s, err := l.summarize(ctx)
	if err != nil {
		return s, err
	}
	return s, l.events.emit(track.EvRunEnded, 0, "si", s)
}

// wholeGain measures the starting commit against the champion afresh: the sum
// of the kept effects is biased upwards, since each was kept for being large.
func (l *Loop) wholeGain(ctx context.Context) (*duelOutcome, error) {
	champion, err := l.tip(ctx)
	if err != nil {
		return nil, err
	}
	start := l.progress.Value.SI.StartCommit
	if start == "" || start == champion || !l.cfg.Repo.HasCommit(ctx, start) {
		return nil, nil
	}
	n := l.progress.Value.Iterations
	c := comparison{
		round: n, key: "end", purpose: "end", before: start, after: champion,
		beforeName: "start", afterName: "champion", seed: hash(fmt.Sprintf("end/%d", n)),
	}
	out, err := l.compare(ctx, c)
	if errors.Is(err, errSwitched) {
		out, err = l.compare(ctx, c)
	}
	if err != nil || out.effect == nil {
		return nil, err
	}
	return &out, nil
}
