package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"si/agents"
	"si/internal/proc"
	"si/internal/secret"
)

// modeKey makes the test binary play an agent program.
const modeKey = "AGENT_MODE"

func TestMain(m *testing.M) {
	if code, was := proc.Supervise(os.Args); was {
		syscall.Exit(code) // os.Exit waits a second under the race detector
	}
	if mode := os.Getenv(modeKey); mode != "" {
		syscall.Exit(play(mode)) // as above
	}
	os.Exit(m.Run())
}

// play is the agent program.
func play(mode string) int {
	prompt, err := io.ReadAll(os.Stdin)
	if err != nil {
		return 90
	}
	answer := os.Getenv("SI_ANSWER_FILE")
	if text, says := strings.CutPrefix(mode, "fail says "); says {
		fmt.Println(text)
		return 1
	}
	if text, says := strings.CutPrefix(mode, "says "); says {
		fmt.Println(text)
		return 0
	}
	switch mode {
	case "echo":
		dir, err := os.Getwd()
		file, ferr := os.ReadFile(os.Getenv("SI_PROMPT_FILE"))
		if err != nil || ferr != nil {
			return 91
		}
		fmt.Printf("%s|%s|%s|%s|%s|%s|%s", prompt, file, dir, os.Getenv("SI_ROLE"), os.Getenv("SI_ROUND"), os.Getenv("SI_TASK"), os.Getenv("MODEL_KEY"))
		fmt.Fprint(os.Stderr, "noise")
	case "file":
		fmt.Print("chatter")
		return write(answer, []byte("from the file"))
	case "blank file":
		fmt.Print("from stdout")
		return write(answer, []byte(" \n"))
	case "huge file":
		return write(answer, make([]byte, maxAnswer+1))
	case "link":
		if err := os.Symlink("/etc/passwd", answer); err != nil {
			return 92
		}
	case "pipe":
		if err := syscall.Mkfifo(answer, 0o600); err != nil {
			return 93
		}
	case "flood":
		fmt.Print(strings.Repeat("x", maxTail+1000), "the end")
	case "fail":
		fmt.Print(`{"a": "valid answer"}`)
		fmt.Fprint(os.Stderr, strings.Repeat("old line\n", 50), "\x1b[31mno such model\x1b[0m\n\n")
		return 3
	case "fail on stdout":
		fmt.Print("usage limit reached")
		return 1
	case "hang":
		fmt.Println("working")
		wait()
	case "killed":
		if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
			return 94
		}
		wait()
	case "undeletable":
		dir := filepath.Join(filepath.Dir(answer), "deep")
		if os.Mkdir(dir, 0o700) != nil || write(filepath.Join(dir, "x"), nil) != 0 || os.Chmod(dir, 0) != nil {
			return 95
		}
		fmt.Print("answer")
	}
	return 0
}

// wait never returns, without being a deadlock to the runtime.
func wait() {
	never := make(chan os.Signal, 1)
	signal.Notify(never, syscall.SIGUSR2)
	<-never
}

func write(path string, data []byte) int {
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return 96
	}
	return 0
}

// run plays one task in the mode.
func run(ctx context.Context, t *testing.T, mode string, change func(*agents.Task)) (agents.Answer, agents.Task, error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	work, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	task := agents.Task{
		Role: agents.Planner, ID: "planner_a", Round: 3, Dir: work, Prompt: "the prompt",
		Log: filepath.Join(t.TempDir(), "logs", "planner_a.log"),
		Env: []string{"GORACE=atexit_sleep_ms=0", "PATH=/usr/bin:/bin", modeKey + "=" + mode, "MODEL_KEY=k"}, Wall: time.Minute,
	}
	if change != nil {
		change(&task)
	}
	files := filepath.Join(t.TempDir(), "files")
	b := New(proc.New(proc.Options{Self: self, Mark: "command-test"}), Options{Command: "exec '" + self + "'", Dir: files})
	answer, err := b.Run(ctx, task)
	if left, lerr := os.ReadDir(files); mode != "undeletable" && (lerr != nil || len(left) > 0) {
		t.Errorf("left behind: %v, %v", left, lerr)
	}
	if left, lerr := os.ReadDir(work); lerr != nil || len(left) > 0 {
		t.Errorf("left in the workspace: %v, %v", left, lerr)
	}
	return answer, task, err
}

func TestAnswers(t *testing.T) {
	for _, tc := range []struct{ mode, want string }{
		{"file", "from the file"},
		{"blank file", "from stdout"},
		{"undeletable", "answer"},
	} {
		t.Run(tc.mode, func(t *testing.T) {
			answer, _, err := run(t.Context(), t, tc.mode, nil)
			if err != nil || answer.Text != tc.want {
				t.Errorf("answer %q, error %v; want %q", answer.Text, err, tc.want)
			}
		})
	}
}

func TestTheProgramIsToldItsTask(t *testing.T) {
	answer, task, err := run(t.Context(), t, "echo", nil)
	want := "the prompt|the prompt|" + task.Dir + "|planner|3|planner_a|k"
	if err != nil || answer.Text != want {
		t.Errorf("answer %q, error %v; want %q", answer.Text, err, want)
	}
	for path, want := range map[string]string{task.Log: want, agents.ErrorLog(task.Log): "noise"} {
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("log %s: %q, %v; want %q", path, got, err, want)
		}
	}
}

func TestOfAFloodTheEndIsKept(t *testing.T) {
	answer, _, err := run(t.Context(), t, "flood", nil)
	if err != nil || len(answer.Text) != maxTail || !strings.HasSuffix(answer.Text, "xthe end") {
		t.Errorf("%d bytes, error %v", len(answer.Text), err)
	}
	answer, _, err = run(t.Context(), t, "flood", func(task *agents.Task) { task.Role = agents.Executor })
	if err != nil || len(answer.Text) != maxSaid {
		t.Errorf("an executor's report has %d bytes, error %v", len(answer.Text), err)
	}
}

func TestFailures(t *testing.T) {
	for _, tc := range []struct {
		mode   string
		change func(*agents.Task)
		kind   agents.FailureKind
		text   string
	}{
		{"fail", nil, agents.FailExit, "exit code 3; it said last: old line old line"},
		{"fail on stdout", nil, agents.FailUsage, "its usage limit is reached; it said last: usage limit reached"},
		{"fail says Error: 401 Unauthorized: invalid api key", nil, agents.FailAuth, "it is not logged in, or its key is not taken"},
		{"fail says Not logged in · Please run /login", nil, agents.FailAuth, "Please run /login"},
		{"fail says prompt is too long: 210000 tokens > 200000 maximum", nil, agents.FailContext, "the task is too long for its model"},
		{"fail says 3 tests failed", nil, agents.FailExit, "exit code 1; it said last: 3 tests failed"},
		{"says You have hit your usage limit.", nil, agents.FailUsage, "its usage limit is reached"},
		{"killed", nil, agents.FailExit, "SIGKILL"},
		{"hang", func(t *agents.Task) { t.Idle = 300 * time.Millisecond }, agents.FailIdle, "ended after 300ms without output"},
		{"hang", func(t *agents.Task) { t.Wall = 300 * time.Millisecond }, agents.FailTimeout, "ended after its limit of 300ms"},
		{"huge file", nil, agents.FailAnswer, "more than the 4194304 of an answer"},
		{"link", nil, agents.FailAnswer, "its answer file cannot be used"},
		{"pipe", nil, agents.FailAnswer, "no regular file"},
		{"echo", func(t *agents.Task) { t.Dir += "/absent" }, agents.FailStart, "it cannot be run"},
	} {
		t.Run(tc.mode+" "+string(tc.kind), func(t *testing.T) {
			answer, task, err := run(t.Context(), t, tc.mode, func(task *agents.Task) {
				if tc.change != nil {
					tc.change(task)
				}
			})
			var f *agents.Failure
			if !errors.As(err, &f) || f.Kind != tc.kind || !strings.Contains(f.Error(), tc.text) {
				t.Fatalf("answer %q, error %v; want %s: %q", answer.Text, err, tc.kind, tc.text)
			}
			if f.Role != task.Role || f.ID != task.ID || f.Log != task.Log || answer.Text != "" {
				t.Errorf("failure %+v, answer %q", f, answer.Text)
			}
		})
	}
}

func TestALimitSaysUntilWhen(t *testing.T) {
	var heard []agents.Event
	_, _, err := run(t.Context(), t, "fail says Claude usage limit reached. Your limit will reset at 3pm (UTC).", func(task *agents.Task) {
		task.Watch = func(e agents.Event) { heard = append(heard, e) }
	})
	var f *agents.Failure
	if !errors.As(err, &f) || f.Kind != agents.FailUsage || f.Until.UTC().Hour() != 15 {
		t.Fatalf("%+v", err)
	}
	if len(heard) != 1 || heard[0].Kind != agents.EventLimit || !heard[0].Until.Equal(f.Until) {
		t.Errorf("events %+v", heard)
	}
}

// A report may be about limits: it is no reason to throw the work away.
func TestAReportAboutLimitsIsAReport(t *testing.T) {
	answer, _, err := run(t.Context(), t, "says I moved the rate limit and the usage limit into one table.", func(task *agents.Task) { task.Role = agents.Executor })
	if err != nil || !strings.HasPrefix(answer.Text, "I moved") {
		t.Errorf("%q, %v", answer.Text, err)
	}
	answer, _, err = run(t.Context(), t, `says {"a": "usage limit reached"}`, nil)
	if err != nil || answer.Text == "" {
		t.Errorf("a document: %q, %v", answer.Text, err)
	}
}

func TestTheKeyIsKeptNowhere(t *testing.T) {
	const key = "sk-planted-0123456789"
	for _, mode := range []string{"echo", "fail says my key is " + key, "says my key is " + key} {
		var said string
		answer, task, err := run(t.Context(), t, mode, func(task *agents.Task) {
			task.Env = append(task.Env, "MODEL_KEY="+key)
			task.Watch = func(e agents.Event) { said += e.Text }
		})
		logs, readErr := os.ReadFile(task.Log)
		if readErr != nil || !strings.Contains(string(logs), secret.Hidden) {
			t.Errorf("%s: the log has %q, %v", mode, logs, readErr)
		}
		if all := fmt.Sprintf("%+v %v %s %s", answer, err, said, logs); strings.Contains(all, key) {
			t.Errorf("%s: the key is in %s", mode, all)
		}
	}
}

func TestTheLastLinesAreSanitised(t *testing.T) {
	_, _, err := run(t.Context(), t, "fail", nil)
	var f *agents.Failure
	if !errors.As(err, &f) || f.Code != 3 || f.Said != strings.Repeat("old line\n", 9)+"no such model" {
		t.Errorf("failure %+v", f)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := run(ctx, t, "hang", nil)
	if !errors.Is(err, context.Canceled) || agents.KindOf(err) != "" {
		t.Errorf("error %v", err)
	}
}

// fakeRunner ends every child in the same way.
type fakeRunner struct {
	result proc.Result
	err    error
	cancel context.CancelFunc
}

func (f fakeRunner) Run(_ context.Context, c proc.Command) (proc.Result, error) {
	if !c.Supervised || c.Merge {
		return proc.Result{}, fmt.Errorf("supervised %v, merge %v", c.Supervised, c.Merge)
	}
	if f.cancel != nil {
		f.cancel()
	}
	return f.result, f.err
}

func TestJudgement(t *testing.T) {
	done := proc.Result{Outcome: proc.Exited, Stdout: proc.Captured{Tail: []byte("paid for")}}
	for _, tc := range []struct {
		name   string
		run    fakeRunner
		cancel bool
		kind   agents.FailureKind
		want   error
	}{
		{"an answer that was finished before the cancellation is kept", fakeRunner{result: done}, true, "", nil},
		{"cancelled", fakeRunner{result: proc.Result{Outcome: proc.Cancelled}}, true, "", context.Canceled},
		{"cancelled while starting", fakeRunner{err: io.ErrUnexpectedEOF}, true, "", context.Canceled},
		{"a child that could not be ended", fakeRunner{result: done, err: io.ErrUnexpectedEOF}, false, agents.FailExit, io.ErrUnexpectedEOF},
		{"a program that is not there", fakeRunner{err: fs.ErrNotExist}, false, agents.FailStart, fs.ErrNotExist},
		{"an outcome that is not known", fakeRunner{result: proc.Result{Outcome: "odd"}}, false, agents.FailExit, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if tc.cancel {
				tc.run.cancel = cancel
			}
			b := New(tc.run, Options{Command: "agent", Dir: t.TempDir()})
			answer, err := b.Run(ctx, agents.Task{Role: agents.Planner, ID: "planner_a"})
			if agents.KindOf(err) != tc.kind || !errors.Is(err, tc.want) && tc.want != nil {
				t.Errorf("error %v, want %q, %v", err, tc.kind, tc.want)
			}
			if ok := err == nil; ok != (answer.Text == "paid for") {
				t.Errorf("answer %q with error %v", answer.Text, err)
			}
		})
	}
}

func TestAnEmptyCommandIsRefused(t *testing.T) {
	_, err := New(fakeRunner{}, Options{Command: " "}).Run(t.Context(), agents.Task{ID: "planner_a"})
	if agents.KindOf(err) != agents.FailStart || !strings.Contains(err.Error(), "settings.json") {
		t.Errorf("error %v", err)
	}
}

func TestName(t *testing.T) {
	if got := New(nil, Options{Command: "a b", Name: "mine"}).Name(); got != "mine" {
		t.Errorf("name %q", got)
	}
	if got := New(nil, Options{Command: "a b"}).Name(); got != "a b" {
		t.Errorf("name %q", got)
	}
}
