package slurm

import (
	"context"
	"errors"
	"fmt"

	"si/internal/proc"
)

// Place says which run it is and where it belongs.
type Place struct {
	// Key names the run for ever: the same key and command are one job, however
	// often they are asked for, until Forget. It has to name the tree too, since
	// what lies in the command's folder is no part of the command. Empty: a run
	// that is not found again.
	Key string
	// Node is the only node that will do. Empty: any.
	Node string
}

// Launch runs c as a job and waits for its end. When ctx ends the job is
// cancelled and the outcome is Cancelled; the error then says that the job would
// not end.
//
// When a job of that key is known, from this process or from one that was
// killed, its result is given, or waited for, and nothing is submitted. A known
// job of another command is cancelled first.
//
// The error is a *JobError of the kind ErrUndecided when nothing is known of the
// command (the job is gone by then; the call may be repeated), ErrImpossible when
// the request cannot be granted, and of no kind when the command could not be
// started on the node. Command.Stdin and Output.Line are refused.
func (l *Launcher) Launch(ctx context.Context, p Place, c proc.Command) (Report, error) {
	if ctx.Err() != nil {
		return Report{Result: proc.Result{Outcome: proc.Cancelled, Code: -1}, Load: -1}, nil
	}
	w, err := newWire(c)
	if err != nil {
		return Report{}, fmt.Errorf("run %s as a job: %w", c.Path, err)
	}
	once := p.Key == ""
	if once {
		if p.Key, err = l.random(16); err != nil {
			return Report{}, err
		}
	}
	name, release, err := l.claim(p)
	if err != nil {
		return Report{}, err
	}
	defer release()
	report, err := l.single(ctx, name, p, w)
	if once && !isAway(err) { // else Sweep ends it
		err = errors.Join(err, l.forget(name))
	}
	return report, err
}

func (l *Launcher) single(ctx context.Context, name string, p Place, w wire) (Report, error) {
	j, err := l.reuse(ctx, name, w)
	if err != nil {
		return Report{}, err
	}
	if j == nil {
		if j, err = l.create(name, p.Key, p.Node); err != nil {
			return Report{}, err
		}
		if _, err := j.order(p.Key, w, true); err != nil {
			return Report{}, err
		}
	}
	if w.Wall > 0 {
		j.limit = w.Wall + w.Grace + timeMargin
	}
	return j.finish(ctx, 1)
}

// reuse gives the job that the name has, if it is of the same command.
func (l *Launcher) reuse(ctx context.Context, name string, w wire) (*job, error) {
	rec, err := l.loadRecord(name)
	if err != nil || rec == nil {
		return nil, err
	}
	digest, err := w.digest()
	if err != nil {
		return nil, err
	}
	j := l.attach(rec)
	if len(rec.Runs) == 1 && rec.Runs[0].Digest == digest {
		undelivered, err := j.undelivered(1)
		if err == nil && undelivered {
			err = j.deliver(1, w, true)
		}
		return j, err
	}
	return nil, j.giveUp(ctx)
}

// finish submits the job if need be, waits for order seq, and leaves nothing of
// a job that failed to run it.
func (j *job) finish(ctx context.Context, seq int) (Report, error) {
	if a, ok, err := j.answer(seq); err == nil && ok && !stopped(a) {
		return j.report(a)
	}
	if err := j.submit(ctx); err != nil {
		if ctx.Err() != nil {
			return j.cancelled(ctx)
		}
		return Report{}, errors.Join(err, j.discard(ctx, err))
	}
	report, err := j.await(ctx, seq)
	if err != nil && report.Outcome != proc.Cancelled {
		err = errors.Join(err, j.discard(ctx, err))
	}
	return report, err
}

// discard gives the job up, unless the scheduler is only away: then the job may
// run, and the next call finds it.
func (j *job) discard(ctx context.Context, why error) error {
	if isAway(why) {
		return nil
	}
	return j.giveUp(ctx)
}
