package slurm

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"si/internal/durable"
	"si/internal/proc"
)

const serveArg = "__si_job"

// How a job waits for orders: the first one is there before the job is.
const (
	firstOrder = 2 * time.Minute
	inboxPause = 100 * time.Millisecond
)

// Contain makes a runner of commands that have a Containment, on the node and
// for one job, out of one that has none.
type Contain func(ctx context.Context, inner proc.Runner) proc.Runner

// Serve runs this process as a job, if its arguments say so, and returns the
// exit code. main calls it with os.Args before anything else, like
// proc.Supervise: the job is a copy of this program. Without contain, commands
// that have a Containment are refused on the node.
func Serve(args []string, contain Contain) (code int, was bool) {
	if len(args) < 2 || args[1] != serveArg {
		return 0, false
	}
	hide()
	// TERM is what a scheduler sends before it kills: on a cancel, a time limit, a
	// preemption. The command's tree is ended and the answer says so.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer stop()
	s, err := newServer(args[2:])
	if err == nil {
		if contain != nil {
			s.run = contain(ctx, s.run)
		}
		err = s.serve(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "si: take the measurements of a job:", err)
		return 1, true
	}
	return 0, true
}

// server is the job's side.
type server struct {
	folder  folder
	attempt int
	node    string
	store   durable.Store
	run     proc.Runner
	pause   func(ctx context.Context, d time.Duration)
	now     func() time.Time
	last    int // number of the run that was begun last
}

func newServer(args []string) (*server, error) {
	if len(args) != 2 || !filepath.IsAbs(args[0]) {
		return nil, errors.New("this is for the program's own use: it needs a folder and a number")
	}
	attempt, err := strconv.Atoi(args[1])
	if err != nil {
		return nil, fmt.Errorf("read the number of the submission: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	dir := folder(args[0])
	return &server{
		folder: dir, attempt: attempt, node: nodeName(), pause: pause, now: time.Now,
		run: proc.New(proc.Options{Self: self, Mark: "job-" + filepath.Base(args[0])}),
	}, nil
}

// nodeName is the scheduler's name of this machine, which need not be its own.
func nodeName() string {
	if name := os.Getenv("SLURMD_NODENAME"); name != "" {
		return name
	}
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	return name
}

// serve works until the last order, the end of the lease, or the end of ctx.
func (s *server) serve(ctx context.Context) error {
	if err := s.claim(); err != nil {
		return err
	}
	lease := firstOrder
	for {
		o, err := s.next(ctx, lease)
		if err != nil || o == nil {
			return err
		}
		if err := s.answer(ctx, *o); err != nil {
			return err
		}
		if o.Last {
			return nil
		}
		lease = o.Lease
	}
}

// claim makes this the one job of its submission: a scheduler may start a job
// again, and a run must not be taken twice at once.
func (s *server) claim() error {
	f, err := os.OpenFile(s.folder.claim(s.attempt), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("submission %d was started before; it is not run twice", s.attempt)
	}
	if err != nil {
		return fmt.Errorf("claim the job: %w", err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("claim the job: %w", err)
	}
	var p progress
	if _, err := s.folder.load(s.folder.progress(), 64<<10, &p); err != nil {
		return err
	}
	s.last = p.Seq
	return s.tell()
}

func (s *server) tell() error {
	return s.folder.write(&s.store, s.folder.progress(), progress{Attempt: s.attempt, Seq: s.last, Node: s.node})
}

// next waits for an order; nil when none has come within the lease, or when ctx
// has ended.
func (s *server) next(ctx context.Context, lease time.Duration) (*order, error) {
	for end := s.now().Add(lease); ctx.Err() == nil && s.now().Before(end); s.pause(ctx, inboxPause) {
		var o order
		there, err := s.folder.load(s.folder.inbox(), messageMax, &o)
		if err != nil {
			return nil, err
		}
		if there && o.Seq > s.last {
			return &o, s.accept(o)
		}
	}
	return nil, nil
}

// accept says that the run is begun, and then empties the inbox: the command
// must not find the nonce there.
func (s *server) accept(o order) error {
	s.last = o.Seq
	if err := s.tell(); err != nil {
		return err
	}
	if err := os.Truncate(s.folder.inbox(), 0); err != nil {
		return fmt.Errorf("empty the inbox: %w", err)
	}
	return nil
}

// answer runs the command and writes down how it went.
func (s *server) answer(ctx context.Context, o order) error {
	a := answer{Seq: o.Seq, Nonce: o.Nonce, Node: s.node, Load: loadAverage(), Started: s.now()}
	if fault := s.missing(o.Command); fault != "" {
		a.Fault = fault
		return s.folder.write(&s.store, s.folder.result(o.Seq), a)
	}
	res, err := s.run.Run(ctx, o.Command.command())
	a.Ran = &res
	if err != nil {
		a.Fault = err.Error()
	}
	return s.folder.write(&s.store, s.folder.result(o.Seq), a)
}

// missing names a folder of the run that this node does not see. A folder that
// the containment shows elsewhere is looked for where it is.
func (s *server) missing(w wire) string {
	for _, f := range []struct{ what, path string }{
		{"the folder to run in", string(w.Dir)},
		{"HOME", w.variable("HOME")},
		{"TMPDIR", w.variable("TMPDIR")},
	} {
		if f.path == "" {
			continue
		}
		f.path = outside(f.path, w.Contain)
		if info, err := os.Stat(f.path); err != nil || !info.IsDir() {
			return fmt.Sprintf("%s, %s, is not there on node %s; put it on a file system that this node mounts", f.what, f.path, s.node)
		}
	}
	return ""
}

// outside is where a path lies that the command sees at path.
func outside(path string, c *proc.Containment) string {
	if c == nil {
		return path
	}
	deepest := proc.Bind{}
	for _, b := range c.Bind {
		if rel, err := filepath.Rel(b.To, path); err == nil && filepath.IsLocal(rel) && len(b.To) > len(deepest.To) {
			deepest = b
		}
	}
	if deepest.To == "" {
		return path
	}
	rel, err := filepath.Rel(deepest.To, path)
	if err != nil {
		return path
	}
	return filepath.Join(deepest.From, rel)
}
