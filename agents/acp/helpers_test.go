package acp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"si/agents"
	"si/internal/proc"
	"si/internal/sandbox"
)

// modeKey makes the test binary play an agent program.
const modeKey = "ACP_MODE"

const key = "sk-secret-1234567890"

func TestMain(m *testing.M) {
	if code, was := sandbox.Exec(os.Args); was {
		syscall.Exit(code) // os.Exit waits a second under the race detector
	}
	if code, was := proc.Supervise(os.Args); was {
		syscall.Exit(code) // os.Exit waits a second under the race detector
	}
	if mode := os.Getenv(modeKey); mode != "" {
		(&agent{in: bufio.NewReader(os.Stdin), out: os.Stdout}).play(mode)
		return
	}
	goleak.VerifyTestMain(m)
}

// clock is wound by hand. Waits of a length in quick are over at once.
type clock struct {
	mu    sync.Mutex
	now   time.Time
	quick map[time.Duration]bool
	set   map[int]timer
	armed *sync.Cond // a timer was set
	n     int
}

type timer struct {
	at time.Time
	f  func()
}

func newClock(quick ...time.Duration) *clock {
	c := &clock{now: time.Date(2026, 12, 1, 22, 0, 0, 0, time.UTC), quick: map[time.Duration]bool{}, set: map[int]timer{}}
	for _, d := range quick {
		c.quick[d] = true
	}
	c.armed = sync.NewCond(&c.mu)
	return c
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) AfterFunc(d time.Duration, f func()) func() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.quick[d] {
		f()
		return func() bool { return false }
	}
	c.n++
	id := c.n
	c.set[id] = timer{c.now.Add(d), f}
	c.armed.Broadcast()
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		_, waiting := c.set[id]
		delete(c.set, id)
		return waiting
	}
}

// passWhenSet lets a limit pass when its timer has been set.
func (c *clock) passWhenSet(d time.Duration) {
	c.mu.Lock()
	for !slices.ContainsFunc(slices.Collect(maps.Values(c.set)), func(t timer) bool { return t.at.Equal(c.now.Add(d)) }) {
		c.armed.Wait()
	}
	c.mu.Unlock()
	c.pass(d)
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	c.now = c.now.Add(d)
	var due []func()
	for id, t := range c.set {
		if !t.at.After(c.now) {
			due = append(due, t.f)
			delete(c.set, id)
		}
	}
	c.mu.Unlock()
	for _, f := range due {
		f()
	}
}

// agent is the program's side of a conversation.
type agent struct {
	in  *bufio.Reader
	out io.Writer
	err io.Writer
	got []map[string]any // all that si sent
}

// read gives si's next message; false at the end.
func (a *agent) read() (map[string]any, bool) {
	text, err := a.in.ReadBytes('\n')
	if err != nil {
		return nil, false
	}
	var m map[string]any
	if json.Unmarshal(text, &m) != nil {
		m = map[string]any{"broken": string(text)}
	}
	a.got = append(a.got, m)
	return m, true
}

func (a *agent) say(text string) { fmt.Fprintln(a.out, text) }

// result answers m with JSON.
func (a *agent) result(m map[string]any, result string) {
	a.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"result":%s}`, m["id"], result))
}

func (a *agent) update(update string) {
	a.say(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":` + update + `}}`)
}

func (a *agent) text(text string) {
	quoted, _ := json.Marshal(text)
	a.update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":` + string(quoted) + `}}`)
}

// ask sends a request and gives what is answered, passing over all else.
func (a *agent) ask(id, method, params string) map[string]any {
	a.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params))
	for {
		m, more := a.read()
		if !more || fmt.Sprint(m["id"]) == strings.Trim(id, `"`) && m["method"] == nil {
			return m
		}
	}
}

// until answers requests as a good program does, and returns the first message of
// the method; false at the end.
func (a *agent) until(method string) (map[string]any, bool) {
	for {
		m, more := a.read()
		if !more || m["method"] == method {
			return m, more
		}
		switch m["method"] {
		case "initialize":
			a.result(m, `{"protocolVersion":1,"agentInfo":{"name":"fake","version":"1.0"}}`)
		case "session/new":
			a.result(m, `{"sessionId":"s1"}`)
		default:
			if m["id"] != nil {
				a.result(m, `{}`)
			}
		}
	}
}

// done ends the turn that m asked for.
func (a *agent) done(m map[string]any) { a.result(m, `{"stopReason":"end_turn"}`) }

// inProcess is a runner whose program is a function.
type inProcess struct {
	play    func(*agent)
	code    int
	command proc.Command
	agent   *agent
}

func (r *inProcess) Run(ctx context.Context, c proc.Command) (proc.Result, error) {
	r.command = c
	out := &liner{call: c.Stdout.Line, max: c.Stdout.LineMax}
	r.agent = &agent{in: bufio.NewReader(c.Stdin), out: out, err: &liner{call: c.Stderr.Line, max: c.Stderr.LineMax}}
	ended := make(chan struct{})
	go func() {
		select {
		case <-ctx.Done():
			_ = c.Stdin.(io.Closer).Close()
		case <-ended:
		}
	}()
	r.play(r.agent)
	close(ended)
	_ = c.Stdin.(io.Closer).Close() // as a runner does when the program has ended
	if ctx.Err() != nil {
		return proc.Result{Outcome: proc.Cancelled, Code: -1}, nil
	}
	return proc.Result{Outcome: proc.Exited, Code: r.code}, nil
}

// liner cuts what is written into lines, as a runner does.
type liner struct {
	call func([]byte)
	max  int
	rest []byte
}

func (l *liner) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	for {
		i := bytes.IndexByte(l.rest, '\n')
		if i < 0 {
			return len(p), nil
		}
		text := append([]byte{}, l.rest[:min(i, l.max)]...)
		l.rest = append([]byte{}, l.rest[i+1:]...)
		l.call(text)
	}
}

// stage is a task and those who hear of it.
type stage struct {
	o      Options
	task   agents.Task
	events []agents.Event
	clock  *clock
	on     func(agents.Event)
}

func newStage(t *testing.T) *stage {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{clock: newClock()}
	s.o = Options{Profile: Command("an agent"), Clock: s.clock}
	s.task = agents.Task{
		Role: agents.Executor, ID: "executor_a", Round: 1, Dir: dir, Prompt: "Make it faster.",
		Log: filepath.Join(t.TempDir(), "logs", "executor_a.log"), Env: []string{"PATH=/usr/bin:/bin", "MODEL_KEY=" + key},
		Wall: time.Hour, Idle: 15 * time.Minute,
	}
	s.task.Watch = func(e agents.Event) {
		s.events = append(s.events, e)
		if s.on != nil {
			s.on(e)
		}
	}
	return s
}

// play lets an in-process program play.
func (s *stage) play(t *testing.T, play func(*agent)) (agents.Answer, *inProcess, error) {
	t.Helper()
	r := &inProcess{play: play}
	answer, err := New(r, s.o).Run(t.Context(), s.task)
	return answer, r, err
}

// run lets the test binary play as a process.
func (s *stage) run(ctx context.Context, t *testing.T, mode string) (agents.Answer, error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s.o.Profile = Profile{Name: "fake", Program: self}
	s.task.Env = append(s.task.Env, modeKey+"="+mode, "GORACE=atexit_sleep_ms=0")
	return New(proc.New(proc.Options{Self: self, Mark: "acp-test-" + mode}), s.o).Run(ctx, s.task)
}

func (s *stage) logged(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(s.task.Log)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (s *stage) of(kind agents.EventKind) []agents.Event {
	var out []agents.Event
	for _, e := range s.events {
		if e.Kind == kind {
			out = append(out, e)
		}
	}
	return out
}

// wantFailure checks an error's kind and words.
func wantFailure(t *testing.T, err error, kind agents.FailureKind, words ...string) *agents.Failure {
	t.Helper()
	var f *agents.Failure
	if !errors.As(err, &f) || f.Kind != kind {
		t.Fatalf("error %v, want a failure of kind %s", err, kind)
	}
	for _, w := range words {
		if !strings.Contains(f.Error(), w) {
			t.Errorf("failure %q does not say %q", f.Error(), w)
		}
	}
	return f
}
