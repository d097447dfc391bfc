package stream

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"si/agents"
	"si/internal/proc"
)

// ran is what came of a run.
type ran struct {
	answer agents.Answer
	err    error
	events []agents.Event
	task   agents.Task
	took   time.Duration
}

func (r ran) failure(t *testing.T) *agents.Failure {
	t.Helper()
	var f *agents.Failure
	if !errors.As(r.err, &f) {
		t.Fatalf("answer %q, error %v; want a failure", r.answer.Text, r.err)
	}
	return f
}

func (r ran) texts(kind agents.EventKind) []string {
	var out []string
	for _, e := range r.events {
		if e.Kind == kind {
			out = append(out, e.Text)
		}
	}
	return out
}

// run plays one task in the mode.
func run(ctx context.Context, t *testing.T, mode string, change func(*agents.Task, *Options)) ran {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	files := filepath.Join(t.TempDir(), "files")
	o := Options{
		Run: proc.New(proc.Options{Self: self, Mark: "stream-" + t.Name()}), Program: self, Dir: files, Grace: 50 * time.Millisecond, Kill: 100 * time.Millisecond,
		Lookup: func(name string) (string, bool) { return "sk-0123456789", name == "MY_API_KEY" },
	}
	var mu sync.Mutex
	var r ran
	r.task = agents.Task{
		Role: agents.Planner, ID: "planner_a", Dir: t.TempDir(), Prompt: "the prompt", Wall: 30 * time.Second,
		Log: filepath.Join(t.TempDir(), "logs", "planner_a.log"), Env: []string{"GORACE=atexit_sleep_ms=0", "PATH=/usr/bin:/bin", modeKey + "=" + mode, "OTHER_KEY=x"},
		Watch: func(e agents.Event) {
			mu.Lock()
			defer mu.Unlock()
			if len(r.events) < 1000 {
				r.events = append(r.events, e)
			}
		},
	}
	if change != nil {
		change(&r.task, &o)
	}
	o = o.WithDefaults("fake")
	began := time.Now()
	r.answer, r.err = New(fakeProgram{o: o}, o).Run(ctx, r.task)
	r.took = time.Since(began)
	if left, err := os.ReadDir(files); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	return r
}

func TestRunsThatEndWell(t *testing.T) {
	for _, tc := range []struct {
		mode   string
		notice string
	}{
		{"good", ""},
		{"deaf", ""},
		{"giant line", "1 lines of more than 4 MiB were not read"},
		{"no last newline", ""},
		{"chatter", "3 lines were no JSON"},
		{"never ends", ""},
		{"ignores TERM", ""},
		{"leaves a child", ""},
	} {
		t.Run(tc.mode, func(t *testing.T) {
			t.Parallel()
			r := run(t.Context(), t, tc.mode, func(task *agents.Task, _ *Options) {
				if tc.mode == "deaf" {
					task.Prompt = strings.Repeat("nobody reads this ", 100_000)
				}
			})
			if r.err != nil || r.answer.Text != "all good" {
				t.Fatalf("answer %q, error %v", r.answer.Text, r.err)
			}
			if r.took > 20*time.Second { // the wall limit is 30 s
				t.Errorf("it was ended by its limit only, after %s", r.took)
			}
			if got := strings.Join(r.texts(agents.EventNotice), "|"); !strings.Contains(got, tc.notice) || tc.notice == "" && got != "" {
				t.Errorf("notices %q, want %q", got, tc.notice)
			}
			if tc.mode != "deaf" && r.answer.Spent.Session != "s-1" {
				t.Errorf("spent %+v", r.answer.Spent)
			}
			if left := running(t, "sleep 98765"); tc.mode == "leaves a child" && left != "" {
				t.Errorf("left running: %s", left)
			}
		})
	}
}

// running finds processes by their command line.
func running(t *testing.T, text string) string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if line, err := os.ReadFile(f); err == nil && strings.Contains(strings.ReplaceAll(string(line), "\x00", " "), text) {
			return f
		}
	}
	return ""
}

func TestRunsThatFail(t *testing.T) {
	for _, tc := range []struct {
		mode   string
		change func(*agents.Task, *Options)
		kind   agents.FailureKind
		text   string
	}{
		{"no end", nil, agents.FailTruncated, "it ended without saying that it was done"},
		{"no end, code", nil, agents.FailExit, "exit code 3; it said last: Error: cannot open display [key]"},
		{"error, code 0", nil, agents.FailUsage, "its usage limit is reached: unexpected status 429 with [key]; try again in 2 hours"},
		{"silent", func(t *agents.Task, _ *Options) { t.Idle = 300 * time.Millisecond }, agents.FailIdle, "after 300ms without output"},
		{"asks", func(t *agents.Task, _ *Options) { t.Idle = 300 * time.Millisecond }, agents.FailIdle, "after 300ms without output"},
		{"silent", func(t *agents.Task, _ *Options) { t.Wall = 300 * time.Millisecond }, agents.FailTimeout, "after its limit of 300ms"},
		{"goes on", func(t *agents.Task, o *Options) { t.Wall, o.Grace = 500*time.Millisecond, 100*time.Millisecond }, agents.FailTimeout, "after its limit of 500ms"},
		{"loops", func(t *agents.Task, _ *Options) { t.Limits.Steps = 5 }, agents.FailLimit, "it made more than 5 tool calls"},
		{"repeats", func(t *agents.Task, _ *Options) { t.Limits.Repeats = 7 }, agents.FailLimit, "the same tool call 8 times in a row"},
		{"panics its reader", nil, agents.FailTruncated, "handle a line of output: panic: a bug"},
		{"good", func(_ *agents.Task, o *Options) { o.Program = "/absent/agent" }, agents.FailStart, "it cannot be run"},
		{"good", func(t *agents.Task, _ *Options) { t.Dir += "/absent" }, agents.FailStart, "it cannot be run"},
	} {
		t.Run(tc.mode+" "+string(tc.kind), func(t *testing.T) {
			t.Parallel()
			r := run(t.Context(), t, tc.mode, tc.change)
			f := r.failure(t)
			if f.Kind != tc.kind || !strings.Contains(f.Error(), tc.text) {
				t.Errorf("error %s: %v; want %s: %q", f.Kind, f, tc.kind, tc.text)
			}
			if f.Role != r.task.Role || f.ID != r.task.ID || f.Log != r.task.Log || r.answer.Text != "" {
				t.Errorf("failure %+v, answer %q", f, r.answer.Text)
			}
			if f.Kind != agents.FailStart && f.Spent.Session != "s-1" {
				t.Errorf("what it cost is lost: %+v", f.Spent)
			}
		})
	}
}

func TestAUsageLimitSaysUntilWhen(t *testing.T) {
	r := run(t.Context(), t, "error, code 0", nil)
	want := time.Date(2026, 12, 2, 14, 0, 0, 0, time.UTC)
	if f := r.failure(t); !f.Until.Equal(want) {
		t.Errorf("until %s", f.Until)
	}
	last := r.events[len(r.events)-1]
	if last.Kind != agents.EventLimit || !last.Failed || !last.Until.Equal(want) || strings.Contains(last.Text, "0123") {
		t.Errorf("last event %+v", last)
	}
}

func TestWhoIsNotLoggedInIsTold(t *testing.T) {
	r := run(t.Context(), t, "not logged in", nil)
	if f := r.failure(t); f.Kind != agents.FailAuth || f.Code != 1 || !strings.Contains(f.Error(), "/login") {
		t.Errorf("%s: %v", f.Kind, f)
	}
}

func TestAnAnswerThatWasGivenIsKept(t *testing.T) {
	slow := func(task *agents.Task, o *Options) { task.Wall, o.Grace = 400*time.Millisecond, time.Minute }
	if r := run(t.Context(), t, "never ends", slow); r.err != nil || r.answer.Text != "all good" {
		t.Errorf("at the wall limit: answer %q, error %v", r.answer.Text, r.err)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := run(ctx, t, "silent", func(task *agents.Task, _ *Options) { task.Watch = func(agents.Event) { cancel() } })
	if !errors.Is(r.err, context.Canceled) || agents.KindOf(r.err) != "" || r.answer.Spent.Session != "s-1" {
		t.Errorf("error %v, spent %+v", r.err, r.answer.Spent)
	}
}

func TestEventsAreToldAtOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "go on")
	r := run(t.Context(), t, "waits for a file", func(task *agents.Task, _ *Options) {
		task.Env = append(task.Env, "FILE="+file)
		task.Watch = func(e agents.Event) {
			if e.Text == "now" {
				if err := os.WriteFile(file, nil, 0o600); err != nil {
					t.Error(err)
				}
			}
		}
	})
	if r.err != nil || r.answer.Text != "all good" {
		t.Errorf("answer %q, error %v", r.answer.Text, r.err)
	}
}

func TestAFloodCostsNoMemory(t *testing.T) {
	var peak uint64
	count := 0
	before := heap()
	r := run(t.Context(), t, "flood", func(task *agents.Task, _ *Options) {
		task.Watch = func(agents.Event) {
			if count++; count%100 == 0 {
				peak = max(peak, heap())
			}
		}
	})
	if r.err != nil || r.answer.Text != "all good" || count < floodMiB*50 {
		t.Fatalf("answer %q, error %v, %d events", r.answer.Text, r.err, count)
	}
	if grown := int64(peak) - int64(before); grown > 16<<20 {
		t.Errorf("%d MiB of output grew the heap by %d MiB", floodMiB, grown>>20)
	}
	info, err := os.Stat(r.task.Log)
	if err != nil || info.Size() > 65<<20 {
		t.Errorf("the log: %v, %v", info, err)
	}
	t.Logf("%d events in %s: %.0f a second; heap +%d KiB", count, r.took, float64(count)/r.took.Seconds(), (int64(peak)-int64(before))>>10)
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}
