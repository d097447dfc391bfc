package slurm

import (
	"context"
	"errors"
	"fmt"
)

// cancel ends the job and waits until the scheduler has it no longer, also when
// ctx has ended, for at most CancelLimit. A call that fails is repeated: the job would go on to
// occupy a node.
func (j *job) cancel(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	o := j.l.o
	end := o.Now().Add(o.CancelLimit)
	told := false
	for {
		id, err := j.id(ctx)
		if err == nil && id == "" {
			return nil
		}
		if err == nil && !told {
			err = j.l.sched.cancel(ctx, id)
			told = err == nil
		}
		if err == nil {
			st := j.l.sched.state(ctx, id)
			if st.phase.over() {
				return nil
			}
			err = errors.New("its state is " + st.String())
		}
		if !o.Now().Before(end) {
			return fmt.Errorf("cancel job %s (%s): it is not over after %s: %w; cancel it by hand", j.rec.Name, id, o.CancelLimit, err)
		}
		o.Pause(ctx, o.Poll/2)
	}
}

// id is the scheduler's number of the job, "" when it was never submitted.
func (j *job) id(ctx context.Context) (string, error) {
	if j.rec.Job != "" || j.fresh {
		return j.rec.Job, nil
	}
	return j.l.sched.find(ctx, j.submission())
}

// giveUp cancels the job and forgets it, so that the same key can be submitted
// anew. A job that could not be cancelled keeps its record: the next call, or
// Sweep, tries again.
func (j *job) giveUp(ctx context.Context) error {
	if err := j.cancel(ctx); err != nil {
		return err
	}
	return j.drop()
}
