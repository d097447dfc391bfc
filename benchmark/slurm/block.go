package slurm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"si/internal/proc"
)

// Block is one job that takes several runs, one after another: those of a block
// of a duel. It holds its node from the first run to Close, so that the runs are
// compared on one machine and, with Options.Exclusive, nothing comes between
// them; and the queue is waited for once. Its calls must not overlap.
//
// A job that no longer hears from this program ends after Options.Lease. Runs
// that come later are taken on the same node by another job.
type Block struct {
	l     *Launcher
	place Place
	name  string
	limit time.Duration
	job   *job // nil until the first run
	free  func()
}

// Block opens the block of a key; nothing is submitted before its first run.
// limit is how long the scheduler may let the job live: all runs and the time
// between them; 0 is its own limit. After a restart the same key finds the same
// block, and the results of the runs that it has taken.
func (l *Launcher) Block(p Place, limit time.Duration) (*Block, error) {
	if p.Key == "" {
		return nil, errors.New("open a block: it needs a key")
	}
	name, free, err := l.claim(p)
	if err != nil {
		return nil, fmt.Errorf("open a block: %w", err)
	}
	b := &Block{l: l, place: p, name: name, limit: limit, free: free}
	rec, err := l.loadRecord(name)
	if err != nil {
		free()
		return nil, fmt.Errorf("open a block: %w", err)
	}
	if rec != nil {
		b.hold(l.attach(rec))
	}
	return b, nil
}

func (b *Block) hold(j *job) {
	j.limit = b.limit
	b.job = j
}

// At returns the runner of one run of the block. The key is unique in the block.
func (b *Block) At(key string) *Bound {
	return &Bound{launch: func(ctx context.Context, c proc.Command) (Report, error) { return b.Launch(ctx, key, c) }}
}

// Launch takes one run. Keys, cancelling and errors are those of Launcher.Launch.
// After an error, and when ctx has ended, the job is gone and the runs that were
// taken are no longer known: the next run may come on another node, so compare
// Report.Node, or take the block again.
func (b *Block) Launch(ctx context.Context, key string, c proc.Command) (Report, error) {
	if ctx.Err() != nil {
		return Report{Result: proc.Result{Outcome: proc.Cancelled, Code: -1}, Load: -1}, nil
	}
	w, err := newWire(c)
	if err != nil {
		return Report{}, fmt.Errorf("run %s as a job: %w", c.Path, err)
	}
	seq, err := b.ask(ctx, key, w)
	if err != nil {
		return Report{}, err
	}
	report, err := b.job.finish(ctx, seq)
	b.loosen(report, err)
	return report, err
}

// Recall waits for a run of the block that was asked for before, by this process
// or by one that was killed; false when there is none.
func (b *Block) Recall(ctx context.Context, key string) (Report, bool, error) {
	if b.job == nil {
		return Report{}, false, nil
	}
	seq := b.job.rec.numberOf(key)
	if seq == 0 {
		return Report{}, false, nil
	}
	known, err := b.job.locate(ctx, seq)
	if err != nil || !known {
		return Report{}, false, err
	}
	report, err := b.job.finish(ctx, seq)
	b.loosen(report, err)
	return report, true, err
}

// loosen lets go of a job that is gone.
func (b *Block) loosen(report Report, err error) {
	if report.Outcome == proc.Cancelled || err != nil && !isAway(err) {
		b.job = nil
	}
}

// ask gives the run its number, and the order to the job if it has not got it.
func (b *Block) ask(ctx context.Context, key string, w wire) (int, error) {
	if b.job == nil {
		j, err := b.l.create(b.name, b.place.Key, b.place.Node)
		if err != nil {
			return 0, err
		}
		b.hold(j)
		return j.order(key, w, false)
	}
	seq, err := b.known(ctx, key, w)
	if err != nil || seq > 0 {
		return seq, err
	}
	if err := b.job.revive(ctx); err != nil {
		return 0, err
	}
	return b.job.order(key, w, false)
}

// known is the number of the run if it was asked for before, with the same
// command.
func (b *Block) known(ctx context.Context, key string, w wire) (int, error) {
	j := b.job
	seq := j.rec.numberOf(key)
	if seq == 0 {
		return 0, nil
	}
	digest, err := w.digest()
	if err != nil {
		return 0, err
	}
	if j.rec.Runs[seq-1].Digest != digest {
		return 0, fmt.Errorf("run %q of block %q: it was asked for with another command; close the block and open one with another key", key, j.rec.Key)
	}
	if _, done, _ := j.answer(seq); done { // a file that cannot be read is no answer yet
		return seq, nil
	}
	undelivered, err := j.undelivered(seq)
	if err != nil || !undelivered {
		return seq, err
	}
	if err := j.revive(ctx); err != nil {
		return 0, err
	}
	return seq, j.deliver(seq, w, false)
}

// revive prepares another submission, on the same node, when the job has ended
// between two runs: its lease was over while this program was not there.
func (j *job) revive(ctx context.Context) error {
	if j.rec.Job == "" {
		return nil
	}
	st := j.l.sched.state(ctx, j.rec.Job)
	if !st.phase.over() {
		return nil
	}
	p, err := j.progress()
	if err != nil {
		return err
	}
	if j.rec.Node == "" {
		j.rec.Node = p.Node
	}
	j.rec.Attempt++
	j.rec.Job, j.rec.Made = "", j.l.o.Now()
	return j.l.saveRecord(j.rec)
}

// Node is where the block runs, "" before its job has started.
func (b *Block) Node() string {
	if b.job == nil {
		return ""
	}
	p, err := b.job.progress()
	if err != nil {
		return ""
	}
	return p.Node
}

// Close ends the job and waits until its node is free again. The results stay
// known until Forget.
func (b *Block) Close(ctx context.Context) error {
	defer b.free()
	if b.job == nil || b.job.rec.Job == "" {
		return nil
	}
	return b.job.cancel(ctx)
}
