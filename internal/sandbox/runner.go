package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"si/internal/clean"
	"si/internal/proc"
)

// Runner runs commands that have a containment in Sandbox, and others as they
// are. The supervisor stays outside and ends the tree; the command is inside.
//
// Exit code, signal, CPU time and peak memory are the command's and its
// children's, with some 10 ms and the size of this program added by the sandbox
// itself. With bubblewrap Swept is always 0: the kernel ends what outlives the
// command, and nobody counts it.
type Runner struct {
	Inner   proc.Runner
	Sandbox *Sandbox
}

var _ proc.Runner = Runner{}

// Run is as promised by proc.Runner. A sandbox that could not be set up is an
// error, never the command's exit code. What this machine cannot enforce does not
// stop a command, with two exceptions: a bind, without which it would not find its
// files, and a hidden path that would be laid open (Landlock, inside a writable
// folder).
func (r Runner) Run(ctx context.Context, c proc.Command) (proc.Result, error) {
	if c.Contain == nil {
		return r.Inner.Run(ctx, c)
	}
	for try := 1; ; try++ {
		res, vanished, err := r.once(ctx, c)
		if !vanished || try == mostTries || !again(c.Stdin) {
			return res, err
		}
	}
}

// mostTries bounds how often a sandbox is made for a command that has not begun.
const mostTries = 3

// once makes a sandbox and runs c in it. vanished: it did not come about, and something
// that it was to hide is gone since it was looked for, such as the socket of a program
// that ended just then.
func (r Runner) once(ctx context.Context, c proc.Command) (res proc.Result, vanished bool, err error) {
	w, err := r.Sandbox.wrap(c)
	if err != nil {
		return proc.Result{}, false, fmt.Errorf("contain %s: %w", c.Path, err)
	}
	defer w.started.remove()
	res, err = r.Inner.Run(ctx, w.command)
	res, err = w.judge(c.Path, res, err)
	vanished = err != nil && res.Outcome == "" && slices.ContainsFunc(w.hidden, func(path string) bool {
		_, err := os.Lstat(path)
		return err != nil
	})
	return res, vanished, err
}

// again tells whether a command's input can be given once more.
func again(in io.Reader) bool {
	if in == nil {
		return true
	}
	s, ok := in.(io.Seeker)
	if !ok {
		return false
	}
	_, err := s.Seek(0, io.SeekStart)
	return err == nil
}

// wrapped is a command as it is run, and how its start is known.
type wrapped struct {
	command proc.Command
	started *startPipe // nil when the command runs as it is
	hidden  []string
}

func (s *Sandbox) wrap(c proc.Command) (wrapped, error) {
	profile := *c.Contain
	c.Contain = nil
	if s.report.Kind != Bubblewrap && len(profile.Bind) > 0 {
		return wrapped{}, fmt.Errorf("show %s at %s: only bubblewrap can (%s)", profile.Bind[0].From, profile.Bind[0].To, s.report.Line())
	}
	if s.report.Kind == None && (profile.Limits == proc.Limits{} || !helperWorks) {
		return wrapped{command: c}, nil
	}
	r, err := resolve(profile)
	if err != nil {
		return wrapped{}, err
	}
	path, dir, err := find(c, r.bind)
	if err != nil {
		return wrapped{}, err
	}
	pipe, err := newStartPipe(s.o.Scratch)
	if err != nil {
		return wrapped{}, err
	}
	w := wrapped{command: c, started: pipe, hidden: r.hidden}
	w.command.Supervised = true
	w.command.Env = disguise(c.Env)
	o := order{Path: pathBytes(path), Started: pathBytes(pipe.path), Limits: s.limits(profile.Limits)}
	if err := s.into(&w.command, profile, r, o, dir); err != nil {
		pipe.remove()
		return wrapped{}, err
	}
	return w, nil
}

// into makes c the command that starts the sandbox with c in it.
func (s *Sandbox) into(c *proc.Command, p Profile, r resolved, o order, dir string) (err error) {
	argv := append([]string{c.Path}, c.Args...)
	switch s.report.Kind {
	case Bubblewrap:
		return s.intoBwrap(c, p, r, o, argv, dir)
	case Landlock:
		if o.Land, err = landOf(p, r); err != nil {
			return err
		}
	case None: // only limits
	}
	return s.intoHelper(c, o, argv)
}

// limits leaves out the one that would count what the user does elsewhere.
func (s *Sandbox) limits(l proc.Limits) proc.Limits {
	if !s.report.Enforces(ProcessLimit) {
		l.Processes = 0
	}
	return l
}

// find looks for the program and its folder on this machine, where those that a
// bind shows have another name, and gives both as they are called inside.
func find(c proc.Command, binds []proc.Bind) (path, dir string, err error) {
	if c.Dir, err = filepath.Abs(c.Dir); err != nil {
		return "", "", fmt.Errorf("find its folder: %w", err)
	}
	dir = c.Dir
	outside, bind := c, proc.Bind{}
	for _, b := range binds {
		to, from := outsideOf(c.Dir, b)
		if from {
			outside.Dir, bind = to, b
		}
		if full, from := outsideOf(c.Path, b); from {
			outside.Path, bind = full, b
		}
	}
	if path, err = outside.Find(); err != nil {
		return "", "", err
	}
	if bind.From != "" && within(path, bind.From) {
		path = bind.To + strings.TrimPrefix(path, bind.From)
	}
	return path, dir, nil
}

func outsideOf(path string, b proc.Bind) (string, bool) {
	path = filepath.Clean(path)
	if path == b.To || within(path, b.To) {
		return b.From + strings.TrimPrefix(path, b.To), true
	}
	return path, false
}

func (s *Sandbox) intoBwrap(c *proc.Command, p Profile, r resolved, o order, argv []string, dir string) error {
	flags, err := bwrapFlags(p, r, s.keepUserns)
	if err != nil {
		return err
	}
	flags = append(flags,
		"--ro-bind", s.o.Self, selfInside, "--ro-bind", o.Started.String(), startedInside,
		"--chdir", dir, "--", selfInside)
	o.First, o.Started, o.Report = true, pathBytes(startedInside), c.Report != nil
	args, err := o.args(argv)
	if err != nil {
		return err
	}
	c.Path, c.Args, c.Dir, c.Shield = s.bwrap, append(flags, args...), "/", true
	return nil
}

func (s *Sandbox) intoHelper(c *proc.Command, o order, argv []string) (err error) {
	c.Path = s.o.Self
	c.Args, err = o.args(argv)
	return err
}

// judge tells a sandbox that did not come about from a command that failed.
func (w wrapped) judge(name string, res proc.Result, err error) (proc.Result, error) {
	if w.started == nil || err != nil && res.Outcome == "" {
		return res, err
	}
	news := w.started.read()
	switch {
	case news.started:
		if res.Outcome == proc.Exited && news.signal > 0 && res.Code == 128+news.signal {
			res.Outcome, res.Signal = proc.Signaled, signalName(news.signal)
		}
		res.Swept += news.left
		return res, err
	case res.Outcome != proc.Exited && res.Outcome != proc.Signaled:
		return res, err // ended from outside before it began
	case news.why != "":
		return proc.Result{}, fmt.Errorf("start %s in its sandbox: %w", name, news)
	}
	said := saidBy(res)
	msg := fmt.Sprintf("start %s in its sandbox: %s", name, said)
	if more := advice(said); len(more) > 0 {
		msg += "; " + strings.Join(more, "; ")
	}
	return proc.Result{}, errors.Join(errors.New(msg), err)
}

// saidBy is what the sandbox's program complained of.
func saidBy(res proc.Result) string {
	text := res.Stderr.Tail
	if len(text) == 0 {
		text = res.Stdout.Tail
	}
	if said := clean.Line(strings.TrimSpace(clean.Text(text)), 500); said != "" {
		return said
	}
	return fmt.Sprintf("it ended with code %d and said nothing", res.Code)
}

// scratch makes a folder for one run.
func scratch(parent string) (string, error) {
	dir, err := os.MkdirTemp(parent, "si-sandbox-")
	if err != nil {
		return "", fmt.Errorf("make a folder for the sandbox: %w", err)
	}
	return dir, nil
}
