package stream

import (
	"cmp"
	"context"
	"strings"
	"time"

	"si/agents"
	"si/internal/proc"
)

// Options say which program plays, and with what.
type Options struct {
	Run     proc.Runner
	Program string // path or name; the adapter's own name when empty
	Name    string // shown to people; the program's when empty
	Dir     string // folder outside every workspace for the files of a run; the system's when empty
	Model   string // when the task names none
	Effort  string // when the task names none
	Args    []string

	// Lookup is the environment of si, of which the program gets its own keys; nil
	// is an empty one.
	Lookup func(string) (string, bool)
	// Open says that nothing enforces the containment of a task: the program's own
	// sandbox is asked for, where it has one.
	Open bool
	Root bool // si runs as root, which some programs refuse without being told that it is harmless

	Grace time.Duration  // from the final event to the end of the program, default 5 s
	Kill  time.Duration  // from TERM to KILL; the runner's default when 0
	Zone  *time.Location // of times that a program prints, default the machine's
	Price func(model string, u agents.Usage) *float64
	Now   func() time.Time
	After func(d time.Duration, f func()) (stop func() bool) // a timer, default time.AfterFunc
}

// WithDefaults fills in what is not said.
func (o Options) WithDefaults(program string) Options {
	o.Program = cmp.Or(o.Program, program)
	o.Name = cmp.Or(o.Name, program)
	o.Grace = cmp.Or(o.Grace, 5*time.Second)
	if o.Lookup == nil {
		o.Lookup = func(string) (string, bool) { return "", false }
	}
	if o.Zone == nil {
		o.Zone = time.Local
	}
	if o.Price == nil {
		o.Price = func(string, agents.Usage) *float64 { return nil }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.After == nil {
		o.After = func(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }
	}
	return o
}

// Contained says whether the task's containment is enforced, so that a sandbox of
// the program's own is neither needed nor sure to work inside.
func (o Options) Contained(t agents.Task) bool { return t.Contain != nil && !o.Open }

// Backend plays roles with a program. It is safe for concurrent use.
type Backend struct {
	p Program
	o Options
}

var _ agents.Backend = (*Backend)(nil)

// New returns a backend that plays with p. Its adapter has filled in o by
// WithDefaults.
func New(p Program, o Options) *Backend { return &Backend{p, o} }

// Name is what people call the backend.
func (b *Backend) Name() string { return b.o.Name }

// Run is as promised by agents.Backend. An answer whose final event had come is
// kept, however the program ended after it.
func (b *Backend) Run(ctx context.Context, t agents.Task) (agents.Answer, error) {
	t.Model, t.Effort = cmp.Or(t.Model, b.o.Model), cmp.Or(t.Effort, b.o.Effort)
	files, err := newFiles(b.o.Dir, t.Log)
	if err != nil {
		return agents.Answer{}, failure(t, agents.FailStart, "its files cannot be made", err)
	}
	defer files.remove()
	order, err := b.p.Order(t, files.dir)
	if err == nil {
		err = files.write(order.Files)
	}
	if err != nil {
		return agents.Answer{}, failure(t, agents.FailStart, "its order cannot be made", err)
	}
	run, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s := newSession(b, t, order, cancel)
	result, err := b.o.Run.Run(run, b.command(t, order, files, s))
	return s.end(ctx, result, err)
}

// command is the child. Its own cap on lines lets the one byte through by which a
// line that is too long is known.
func (b *Backend) command(t agents.Task, o Order, files *files, s *session) proc.Command {
	return proc.Command{
		Path: b.o.Program, Args: append(o.Args, b.o.Args...), Dir: t.Dir, Env: o.Env,
		Stdin:  strings.NewReader(o.Stdin),
		Stdout: proc.Output{File: t.Log, HeadMax: -1, TailMax: maxSaid, Line: s.hear, LineMax: MaxLine + 1, Hide: s.hide},
		Stderr: proc.Output{File: agents.ErrorLog(t.Log), HeadMax: -1, TailMax: maxSaid, Hide: s.hide},
		Wall:   t.Wall, Idle: t.Idle, Grace: b.o.Kill, Supervised: true, Contain: files.contain(t.Contain),
	}
}
