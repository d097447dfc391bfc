package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Bounds on what a child that does not want to end can cost its caller.
const (
	defaultGrace  = 4 * time.Second
	leftoverGrace = time.Second            // TERM to KILL for what outlives a command that ended by itself
	killLimit     = 5 * time.Second        // how long KILL is repeated; only a process in the kernel's hands outlasts it
	drainLimit    = 250 * time.Millisecond // from the end of the tree to the end of its output
	answerLimit   = 20 * time.Second       // a supervisor's first word, on a machine under heavy load
	slack         = 2 * time.Second        // scheduling
)

// Options configure a Local.
type Options struct {
	// Self is the path of an executable whose main calls Supervise before
	// anything else: this program. Supervised runs are refused without it,
	// because another program would do whatever it does with the arguments.
	Self string
	// Mark is the value of SI_RUN in the environment of every process, by which
	// Sweep finds what was left behind. It is unique to one run of the program.
	Mark string
	// Registry is a folder that names the living children by pid, start time and
	// boot, for Sweep. Empty: none.
	Registry string
}

// Local runs children on this machine. It is safe for concurrent use; every
// call of Run waits for all that it started.
//
// On Linux the tree of a supervised child is found whatever it does: the
// supervisor adopts orphans. On other unixes, and for unsupervised children,
// only the child's process group is certain to end; a process that left it for
// a session of its own is found by the next Sweep (Linux).
type Local struct {
	o Options
	// patience is how long a supervisor may take beyond the grace before it is done
	// without.
	patience time.Duration
}

var _ Runner = (*Local)(nil)

// New returns a runner.
func New(o Options) *Local { return &Local{o: o, patience: killLimit + slack} }

// Run starts c, waits until its whole tree has ended, and says how it went. A
// context that is done before the start gives Cancelled with code -1. The error
// wraps fs.ErrNotExist when the program or its folder is not there; an error
// together with a filled Result means that the child ran, but that something of
// it could not be ended or read.
func (l *Local) Run(ctx context.Context, c Command) (Result, error) {
	if ctx.Err() != nil {
		return Result{Outcome: Cancelled, Code: -1}, nil
	}
	if c.Grace <= 0 {
		c.Grace = defaultGrace
	}
	plan, err := l.plan(c)
	if err != nil {
		return Result{}, fmt.Errorf("start %s: %w", c.Path, err)
	}
	s, err := openStreams(c)
	if err != nil {
		return Result{}, fmt.Errorf("start %s: %w", c.Path, err)
	}
	began := time.Now()
	ch, err := l.start(plan, s.forChild)
	s.closeChildEnds()
	if err != nil {
		s.abandon()
		return Result{}, fmt.Errorf("start %s: %w", c.Path, err)
	}
	defer ch.release()
	s.pump()
	r := run{c: c, child: ch, streams: s, began: began}
	return r.finish(r.untilEnd(ctx))
}

// run is one child under way.
type run struct {
	c       Command
	child   child
	streams *streams
	began   time.Time
}

// untilEnd waits for the command's end or for the first reason to end it.
func (r *run) untilEnd(ctx context.Context) Outcome {
	wall, stopWall := timer(r.c.Wall)
	defer stopWall()
	idle, stopIdle := timer(r.c.Idle)
	defer func() { stopIdle() }()
	for {
		select {
		case <-r.child.ended():
			return ""
		case <-ctx.Done():
			return Cancelled
		case <-wall:
			return TimedOut
		case <-idle:
			left := r.c.Idle - r.streams.quiet()
			if left <= 0 {
				return IdledOut
			}
			idle, stopIdle = timer(left)
		}
	}
}

// timer returns a channel that never fires for a limit of 0.
func timer(d time.Duration) (<-chan time.Time, func()) {
	if d <= 0 {
		return nil, func() {}
	}
	t := time.NewTimer(d)
	return t.C, func() { t.Stop() }
}

// finish ends the tree, if why says so by force, drains the output and reports.
func (r *run) finish(why Outcome) (Result, error) {
	if why != "" {
		r.child.stop()
	}
	var errs []error
	if !r.child.waitGone(r.c.Grace) {
		errs = append(errs, fmt.Errorf("end %s (pid %d): it still lives after KILL; it may wait for a device", r.c.Path, r.child.pid()))
	}
	swept, left := r.child.endRest()
	more, err := r.streams.finish(r.child.pid())
	errs = append(errs, err)
	if left > 0 {
		errs = append(errs, fmt.Errorf("end the processes of %s: %d could not be ended; look for them with ps, they may belong to another user", r.c.Path, left))
	}
	res := r.result(why)
	res.Swept = swept + more
	return res, errors.Join(errs...)
}

func (r *run) result(why Outcome) Result {
	res := Result{Stdout: r.streams.stdout.sink.captured(), Warnings: r.warnings()}
	if r.streams.stderr != nil {
		res.Stderr = r.streams.stderr.sink.captured()
	}
	if r.streams.report != nil {
		res.Report = r.streams.report.sink.captured()
	}
	e := r.child.ending()
	res.Wall, res.CPU, res.MaxRSS = e.at.Sub(r.began), e.cpu, e.maxRSS
	res.Outcome, res.Code = Exited, e.status.ExitStatus()
	if e.status.Signaled() {
		res.Outcome = Signaled
		res.Code = 128 + int(e.status.Signal())
		res.Signal = unix.SignalName(e.status.Signal())
	}
	if why != "" {
		res.Outcome = why
	}
	return res
}

func (r *run) warnings() []string {
	return append(r.streams.warnings(), r.child.warnings()...)
}

// closeAll closes what is not nil; the errors of pipes and of /dev/null say nothing.
func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}
