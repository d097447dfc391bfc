package httpmodel_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"si/agents"
	"si/agents/anthropic"
	"si/agents/httpmodel"
	"si/agents/openai"
	"si/internal/modelserver"
	"si/internal/proc"
)

const key = "sk-secret-1234567890"

func TestMain(m *testing.M) {
	if code, was := proc.Supervise(os.Args); was {
		syscall.Exit(code) // os.Exit waits a second under the race detector
	}
	goleak.VerifyTestMain(m)
}

// clock lets short waits pass at once, and long ones when a test says so.
type clock struct {
	mu     sync.Mutex
	now    time.Time
	long   map[int]timer
	n      int
	waited []time.Duration
}

type timer struct {
	d time.Duration
	f func()
}

func newClock() *clock {
	return &clock{now: time.Date(2026, 11, 30, 22, 0, 0, 0, time.UTC), long: map[int]timer{}}
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) AfterFunc(d time.Duration, f func()) func() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d <= 2*time.Minute {
		c.waited = append(c.waited, d)
		c.now = c.now.Add(d)
		go f()
		return func() bool { return false }
	}
	c.n++
	id := c.n
	c.long[id] = timer{d, f}
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		_, waiting := c.long[id]
		delete(c.long, id)
		return waiting
	}
}

// pass lets d go by: the timers of that length ring.
func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	c.now = c.now.Add(d)
	var due []func()
	for id, t := range c.long {
		if t.d == d {
			due = append(due, t.f)
			delete(c.long, id)
		}
	}
	c.mu.Unlock()
	for _, f := range due {
		f()
	}
}

// wires are the formats, each with the path that its base address wants.
func wires() map[string]struct {
	wire httpmodel.Wire
	path string
} {
	return map[string]struct {
		wire httpmodel.Wire
		path string
	}{
		"openai":    {openai.Wire{}, "/v1"},
		"anthropic": {anthropic.Wire{}, ""},
	}
}

// eachWire runs a test for each format.
func eachWire(t *testing.T, test func(t *testing.T, wire string)) {
	t.Helper()
	for name := range wires() {
		t.Run(name, func(t *testing.T) { test(t, name) })
	}
}

// player is a backend with its server and its task.
type player struct {
	clock  *clock
	server *modelserver.Server
	o      httpmodel.Options
	task   agents.Task
	run    proc.Runner
	events []agents.Event
	wire   httpmodel.Wire
	made   *httpmodel.Backend
}

func newPlayer(t *testing.T, wire string, script modelserver.Script) *player {
	t.Helper()
	server, err := modelserver.Start(script)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	w := wires()[wire]
	p := &player{clock: newClock(), server: server, wire: w.wire, run: noRunner{}}
	p.o = httpmodel.Options{
		BaseURL: server.URL() + w.path, KeyEnv: "MODEL_KEY", Model: "m-1", Clock: p.clock, Jitter: func() float64 { return 0.5 },
	}
	p.task = agents.Task{
		Role: agents.Executor, ID: "executor_a", Round: 1, Dir: t.TempDir(), Prompt: "Make it faster.",
		Log: filepath.Join(t.TempDir(), "logs", "executor_a.log"), Env: []string{"PATH=/usr/bin:/bin", "MODEL_KEY=" + key},
		Wall: time.Hour, Idle: 15 * time.Minute,
		Watch: func(e agents.Event) { p.events = append(p.events, e) },
	}
	return p
}

func (p *player) backend() *httpmodel.Backend {
	if p.made == nil {
		p.made = httpmodel.New(p.run, p.wire, p.o)
	}
	return p.made
}

func (p *player) play(ctx context.Context) (agents.Answer, error) {
	return p.backend().Run(ctx, p.task)
}

func (p *player) kinds(kind agents.EventKind) []agents.Event {
	var out []agents.Event
	for _, e := range p.events {
		if e.Kind == kind {
			out = append(out, e)
		}
	}
	return out
}

func (p *player) log(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(p.task.Log)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// noRunner runs nothing.
type noRunner struct{}

func (noRunner) Run(context.Context, proc.Command) (proc.Result, error) {
	return proc.Result{}, errors.New("nothing is to be run")
}

// failure is the agent's failure that err is.
func failure(t *testing.T, err error) *agents.Failure {
	t.Helper()
	var f *agents.Failure
	if !errors.As(err, &f) {
		t.Fatalf("error %v, want a failure", err)
	}
	return f
}

// inTurn answers the first request with the first reply, and so on; the last one
// again and again.
func inTurn(replies ...modelserver.Reply) modelserver.Script {
	return func(r modelserver.Request) modelserver.Reply { return replies[min(r.N, len(replies))-1] }
}

func said(text string) modelserver.Reply { return modelserver.Reply{Text: text} }

func fault(f modelserver.Fault) modelserver.Reply {
	return modelserver.Reply{Text: "a text that must not be taken for an answer", Fault: f}
}

func call(name, args string, more ...any) modelserver.Reply {
	return modelserver.Reply{Calls: []modelserver.Call{{Name: name, Args: fmt.Sprintf(args, more...)}}}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func contains(t *testing.T, what, text, want string) {
	t.Helper()
	if !strings.Contains(text, want) {
		t.Errorf("%s: %q is not in %q", what, want, text)
	}
}
