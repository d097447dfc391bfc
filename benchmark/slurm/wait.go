package slurm

import (
	"context"
	"fmt"
	"time"

	"si/internal/proc"
)

// Report is a proc.Result with where and how it came about.
type Report struct {
	proc.Result
	Job    string        // the scheduler's id
	Node   string        // that ran it; empty when the job could not say
	Load   float64       // the node's load average of one minute before the run, -1 when unknown
	Queued time.Duration // from the submission to the start, by two machines' clocks; 0 for later runs of a block
}

// looksPerPoll is how often the result is looked for between two questions to
// the scheduler: looking at a file costs the scheduler nothing.
const looksPerPoll = 8

// waiter waits for one run of a job.
type waiter struct {
	*job
	seq      int
	heard    time.Time // when the scheduler last answered
	interval time.Duration
	got      *answer
	shown    Progress
	hopeless int       // answers in a row that the request is impossible
	over     time.Time // when the end of the job was first seen
	requeued int       // answers in a row that a job which has begun is pending
	bad      error     // why the result that is there is none
}

// await waits for the answer to order seq. When ctx ends, the job is cancelled
// and the outcome is Cancelled.
func (j *job) await(ctx context.Context, seq int) (Report, error) {
	now := j.l.o.Now()
	w := &waiter{job: j, seq: seq, heard: now, interval: j.l.o.Poll}
	for ask := now; ; j.l.o.Pause(ctx, j.l.o.Poll/looksPerPoll) {
		if w.look(); w.decided() {
			return j.report(*w.got)
		}
		if ctx.Err() != nil {
			return j.cancelled(ctx)
		}
		if j.l.o.Now().Before(ask) {
			continue
		}
		st := j.l.sched.state(ctx, j.rec.Job)
		if ctx.Err() != nil {
			continue
		}
		if report, done, err := w.judge(st); done || err != nil {
			return report, err
		}
		ask = j.l.o.Now().Add(w.interval)
		w.interval = min(w.interval*3/2, j.l.o.Poll*5/2)
	}
}

// stopped reports whether the job was told to end, which its answer cannot tell
// the reason of: the scheduler's state does.
func stopped(a answer) bool {
	return a.Ran != nil && a.Ran.Outcome == proc.Cancelled
}

func (w *waiter) look() {
	if w.got != nil {
		return
	}
	a, ok, err := w.answer(w.seq)
	w.bad = err // the job, if it lives, will replace it
	if err == nil && ok {
		w.got = &a
	}
}

// decided reports whether the answer says all there is to know.
func (w *waiter) decided() bool { return w.got != nil && !stopped(*w.got) }

// judge takes the scheduler's answer into account.
func (w *waiter) judge(st state) (Report, bool, error) {
	w.show(st)
	now := w.l.o.Now()
	if st.phase == unknown {
		if now.Sub(w.heard) > w.l.o.Patience {
			return Report{}, true, w.away(st)
		}
		return Report{}, false, nil
	}
	w.heard = now
	switch st.phase {
	case pending:
		return Report{}, false, w.queued(st, now)
	case running:
		w.hopeless = 0
		return Report{}, false, nil
	case ended, lost, forgotten, unknown:
	}
	return w.ended(st, now)
}

// queued looks for reasons not to wait any longer.
func (w *waiter) queued(st state, now time.Time) error {
	if p, err := w.progress(); err == nil && p.Attempt == w.rec.Attempt {
		w.requeued++
	}
	if w.requeued >= 2 { // one answer may be older than the beginning
		return w.failure(st, ErrUndecided, "it was put back into the queue after it had begun")
	}
	w.hopeless++
	if !st.impossible {
		w.hopeless = 0
	}
	if w.hopeless >= 2 { // one answer may come from the middle of a change of the scheduler's settings
		return w.failure(st, ErrImpossible, "the scheduler will never start it; change the partition, the limits or the further options of the launcher")
	}
	if limit := w.l.o.QueueLimit; limit > 0 && now.Sub(w.rec.Made) > limit {
		return w.failure(st, ErrUndecided, "it has not started within %s", limit)
	}
	return nil
}

// ended turns the end of the job into a report. The result may be seen here
// later than the end; a lost node writes none.
func (w *waiter) ended(st state, now time.Time) (Report, bool, error) {
	if w.over.IsZero() {
		w.over = now
	}
	if w.look(); w.decided() { // it was written since the last look
		report, err := w.report(*w.got)
		return report, true, err
	}
	a := w.got
	if a == nil && st.phase != lost && now.Sub(w.over) < w.l.o.ResultLimit {
		w.interval = w.l.o.Poll
		return Report{}, false, nil
	}
	switch {
	case st.timedOut && a != nil:
		return w.byScheduler(*a, proc.TimedOut), true, nil
	case st.timedOut:
		return w.byScheduler(answer{Load: -1, Started: now, Node: st.node}, proc.TimedOut), true, nil
	case st.outOfMem && a == nil:
		report := w.byScheduler(answer{Load: -1, Started: now, Node: st.node}, proc.Signaled)
		report.Code, report.Signal = 128+9, "SIGKILL"
		return report, true, nil
	case st.phase == lost:
		return Report{}, true, w.failure(st, ErrUndecided, "the scheduler lost it")
	case a != nil:
		return Report{}, true, w.failure(st, ErrUndecided, "it was cancelled, and not by this program")
	case w.bad != nil:
		return Report{}, true, w.failure(st, ErrUndecided, "its result cannot be used: %v; the command may have interfered with the job", w.bad)
	}
	return Report{}, true, w.failure(st, ErrUndecided, "it left no result; does its node see the folder %s?", w.l.o.WorkDir)
}

// byScheduler is the report of a run that the scheduler itself ended.
func (w *waiter) byScheduler(a answer, outcome proc.Outcome) Report {
	r := Report{Job: w.rec.Job, Node: a.Node, Load: a.Load}
	if a.Ran != nil {
		r.Result = *a.Ran
	}
	r.Outcome, r.Warnings = outcome, append(r.Warnings, "the scheduler ended the job, not si: "+w.shown.State)
	return r
}

func (w *waiter) show(st state) {
	p := Progress{Key: w.rec.Key, Job: w.rec.Job, Node: st.node, State: st.word, Reason: st.reason}
	if p != w.shown {
		w.interval = w.l.o.Poll
		w.shown = p
		w.l.o.Watch(p)
	}
}

// away leaves the job alone: it may run, and the next call finds it.
func (w *waiter) away(st state) error {
	err := w.failure(st, ErrUndecided, "the scheduler has not answered for %s; the job may still run, and is found when it is asked for again", w.l.o.Patience)
	err.away = true
	return err
}

func (w *waiter) failure(st state, kind error, format string, args ...any) *JobError {
	node := st.node
	if p, err := w.progress(); node == "" && err == nil {
		node = p.Node
	}
	return &JobError{
		Job: w.rec.Job, Name: w.rec.Name, Node: node, State: st.String(),
		What: fmt.Sprintf(format, args...), Log: w.folder.logEnd(), Kind: kind,
	}
}

// report hands on what the job said.
func (j *job) report(a answer) (Report, error) {
	r := Report{Job: j.rec.Job, Node: a.Node, Load: a.Load}
	if a.Seq == 1 {
		r.Queued = max(0, a.Started.Sub(j.rec.Made))
	}
	if a.Ran != nil {
		r.Result = *a.Ran
	}
	if a.Fault != "" {
		return r, &JobError{Job: j.rec.Job, Name: j.rec.Name, Node: a.Node, What: a.Fault}
	}
	return r, nil
}

func (j *job) cancelled(ctx context.Context) (Report, error) {
	p, _ := j.progress() // where it ran, if it did; not worth an error
	r := Report{Result: proc.Result{Outcome: proc.Cancelled, Code: -1}, Job: j.rec.Job, Node: p.Node, Load: -1}
	return r, j.giveUp(ctx)
}
