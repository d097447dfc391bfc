package slurm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"si/internal/proc"
)

func TestMain(m *testing.M) {
	if code, was := proc.Supervise(os.Args); was {
		syscall.Exit(code) // os.Exit waits a second under the race detector
	}
	if code, was := Serve(os.Args, nil); was {
		syscall.Exit(code) // os.Exit waits a second under the race detector
	}
	if code, was := launchAlone(os.Args); was {
		syscall.Exit(code) // os.Exit waits a second under the race detector
	}
	goleak.VerifyTestMain(m)
}

// clock is a time that only Pause moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 3, 1, 22, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Pause(_ context.Context, d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// fake is a scheduler by hand. Its answers about a job are taken from states, one
// for each question, and the last one again and again.
type fake struct {
	t      *testing.T
	states []step
	asked  int

	submitted []submission
	cancelled []string
	searches  int
	known     map[string]string // mark → id
	onSubmit  func(n int, s submission) error
	onCancel  func() error
	afterward state // what cancelled jobs are in
}

// step is an answer, and what the job does before it.
type step struct {
	state state
	do    func(s submission)
}

func (f *fake) submit(ctx context.Context, s submission) (string, error) {
	f.submitted = append(f.submitted, s)
	id := strconv.Itoa(100 + len(f.submitted))
	if f.onSubmit != nil {
		if err := f.onSubmit(len(f.submitted), s); err != nil {
			return "", err
		}
	}
	f.known[s.mark] = id
	return id, ctx.Err() // sbatch would be ended with its context
}

func (f *fake) find(_ context.Context, s submission) (string, error) {
	f.searches++
	return f.known[s.mark], nil
}

func (f *fake) state(_ context.Context, id string) state {
	if id == "" {
		f.t.Error("the scheduler was asked for a job without an id")
	}
	if slices.Contains(f.cancelled, id) {
		return f.afterward
	}
	if len(f.states) == 0 {
		f.t.Fatal("the scheduler was asked for a state that the test does not foresee")
	}
	s := f.states[min(f.asked, len(f.states)-1)]
	f.asked++
	if s.do != nil {
		s.do(f.submitted[len(f.submitted)-1])
	}
	return s.state
}

func (f *fake) cancel(_ context.Context, id string) error {
	if f.onCancel != nil {
		if err := f.onCancel(); err != nil {
			return err
		}
	}
	f.cancelled = append(f.cancelled, id)
	return nil
}

// rig is a launcher with a fake scheduler and a clock.
type rig struct {
	*Launcher
	t     *testing.T
	fake  *fake
	clock *clock
	tree  string
	seen  []Progress
}

func newRig(t *testing.T) *rig {
	t.Helper()
	dir := t.TempDir()
	r := &rig{t: t, clock: newClock(), tree: filepath.Join(dir, "a tree")}
	r.fake = &fake{t: t, known: map[string]string{}, afterward: stateOf("CANCELLED", "")}
	if err := os.Mkdir(r.tree, 0o755); err != nil {
		t.Fatal(err)
	}
	r.restart(filepath.Join(dir, "work folder"))
	return r
}

// restart is what a new process would see.
func (r *rig) restart(workDir string) {
	r.t.Helper()
	l, err := New(Options{
		Local: refuser{r.t}, Self: testBinary(r.t), WorkDir: workDir, Patience: 10 * time.Minute, ResultLimit: 20 * time.Second,
		Now: r.clock.Now, Pause: r.clock.Pause, Watch: func(p Progress) { r.seen = append(r.seen, p) },
	})
	if err != nil {
		r.t.Fatal(err)
	}
	l.sched = r.fake
	r.Launcher = l
}

// refuser is the runner of a test whose scheduler needs no programs.
type refuser struct{ t *testing.T }

func (r refuser) Run(_ context.Context, c proc.Command) (proc.Result, error) {
	r.t.Errorf("unexpected program %s %v", c.Path, c.Args)
	return proc.Result{}, errors.New("refused")
}

func testBinary(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return self
}

func local(t *testing.T) *proc.Local {
	t.Helper()
	return proc.New(proc.Options{Self: testBinary(t), Mark: "slurm-test-" + strconv.Itoa(os.Getpid())})
}

// shell is a benchmark's command, as a Measurer makes it.
func (r *rig) shell(script string) proc.Command { return shellIn(r.tree, script) }

func shellIn(dir, script string) proc.Command {
	return proc.Command{
		Path: "/bin/sh", Args: []string{"-c", script}, Dir: dir, Supervised: true, Wall: time.Minute,
		// The last one spares each supervisor a second, when the race detector is on.
		Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir, "GORACE=atexit_sleep_ms=0"},
	}
}

// work is the job: it does in this process what Serve does on the node.
func (r *rig) work(s submission) { r.workUntil(context.Background(), s) }

func (r *rig) workUntil(ctx context.Context, s submission) {
	if err := r.server(s).serve(ctx); err != nil {
		r.t.Errorf("serve: %v", err)
	}
}

func (r *rig) server(s submission) *server {
	return serverFor(r.t, s, r.clock.Now, r.clock.Pause)
}

func serverFor(t *testing.T, s submission, now func() time.Time, pause func(context.Context, time.Duration)) *server {
	t.Helper()
	var attempt int
	if _, err := fmt.Sscanf(filepath.Base(s.script), "script.%d", &attempt); err != nil {
		t.Errorf("script %s: %v", s.script, err)
	}
	return &server{
		folder: folder(filepath.Dir(s.script)), attempt: attempt, node: "n1",
		run: local(t), now: now, pause: pause,
	}
}

// launch is Launch with a deadline that a broken wait would hit.
func (r *rig) launch(key string, c proc.Command) (Report, error) {
	r.t.Helper()
	return r.Launch(r.t.Context(), Place{Key: key}, c)
}

func (r *rig) mustLaunch(key string, c proc.Command) Report {
	r.t.Helper()
	report, err := r.launch(key, c)
	if err != nil {
		r.t.Fatal(err)
	}
	return report
}

// left lists what is still kept of jobs.
func (r *rig) left() []string {
	r.t.Helper()
	var out []string
	for _, dir := range []string{r.recordDir(), r.jobDir()} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			r.t.Fatal(err)
		}
		for _, e := range entries {
			out = append(out, filepath.Base(dir)+"/"+e.Name())
		}
	}
	return out
}

// stateOf is what the scheduler says, by its own word.
func stateOf(word, reason string) state {
	st, ok := parseState(word + "|n1|" + reason)
	if !ok {
		panic("no state: " + word)
	}
	return st
}

func says(word, reason string) step { return step{state: stateOf(word, reason)} }

func unreachable() step {
	return step{state: state{phase: unknown, word: "unknown", reason: "no answer"}}
}

func contains(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s: %q does not say %q", what, text, part)
		}
	}
}

func wants[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
