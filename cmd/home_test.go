package cmd_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// seat is the program on a terminal in front of an emulator.
type seat struct {
	t     *testing.T
	emu   *vt.SafeEmulator
	tty   *os.File
	cmd   *exec.Cmd
	drawn chan struct{}
	done  chan struct{}
	shown chan struct{} // all that it printed is drawn
	mu    sync.Mutex
	err   error // of the program, once it is done
}

// sit starts si in a repository on a terminal of 100 × 30.
func sit(t *testing.T, repo, home string, args ...string) *seat {
	t.Helper()
	return sitWith(t, nil, repo, home, args...)
}

// sitWith is sit with further variables, which win.
func sitWith(t *testing.T, env []string, repo, home string, args ...string) *seat {
	t.Helper()
	const w, h = 100, 30
	cmd := exec.CommandContext(t.Context(), program(t, "si"), args...)
	cmd.Dir = repo
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TERM=xterm-256color", "LANG=C.UTF-8", "GIT_CONFIG_NOSYSTEM=1", "SI_SANDBOX=off", "SI_CHART_DPI=24", "GORACE=atexit_sleep_ms=0",
	}
	cmd.Env = append(cmd.Env, env...)
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: w, Rows: h})
	if err != nil {
		t.Fatal(err)
	}
	s := &seat{t: t, emu: vt.NewSafeEmulator(w, h), tty: tty, cmd: cmd, drawn: make(chan struct{}, 1), done: make(chan struct{}), shown: make(chan struct{})}
	var wg sync.WaitGroup
	wg.Go(func() { // ends with the program: its terminal is gone
		defer close(s.shown)
		_, _ = io.Copy(s, tty)
	})
	wg.Go(func() { _, _ = io.Copy(tty, s.emu) }) // what the emulator answers
	wg.Go(func() {
		s.err = cmd.Wait()
		close(s.done)
	})
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it has ended in most tests
		<-s.done
		_ = tty.Close()
		if pipe, ok := s.emu.InputPipe().(io.Closer); ok { // its Close races with its Read
			_ = pipe.Close()
		}
		wg.Wait()
	})
	return s
}

// Write draws what the program prints.
func (s *seat) Write(p []byte) (int, error) {
	s.mu.Lock()
	_, err := s.emu.Write(p)
	s.mu.Unlock()
	select {
	case s.drawn <- struct{}{}:
	default:
	}
	return len(p), err
}

func (s *seat) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.emu.String()
}

// sees waits until the screen holds every text.
func (s *seat) sees(texts ...string) {
	s.t.Helper()
	limit, shown := time.After(60*time.Second), s.shown
	for {
		missing := ""
		for _, want := range texts {
			if !strings.Contains(s.text(), want) {
				missing = want
			}
		}
		if missing == "" {
			return
		}
		if shown == nil {
			s.t.Fatalf("si ended before %q was seen:\n%s", missing, s.text())
		}
		select {
		case <-s.drawn:
		case <-shown: // nothing more comes: one last look
			shown = nil
		case <-limit:
			s.t.Fatalf("%q was never seen:\n%s", missing, s.text())
		}
	}
}

func (s *seat) press(keys ...string) {
	s.t.Helper()
	for _, k := range keys {
		if _, err := io.WriteString(s.tty, k); err != nil {
			s.t.Fatal(err)
		}
	}
}

// ends wants an exit code.
func (s *seat) ends(code int) {
	s.t.Helper()
	select {
	case <-s.done:
	case <-time.After(60 * time.Second):
		s.t.Fatalf("si did not end:\n%s", s.text())
	}
	got := 0
	var exit *exec.ExitError
	if errors.As(s.err, &exit) {
		got = exit.ExitCode()
	}
	if got != code {
		s.t.Fatalf("exit code %d, want %d:\n%s", got, code, s.text())
	}
}

// countingRepo is a small Go repository with a benchmark that counts and takes no
// time.
func countingRepo(t *testing.T) (repo, home string) {
	t.Helper()
	repo, home = filepath.Join(t.TempDir(), "repo"), t.TempDir()
	for name, text := range map[string]string{
		"go.mod":         "module counting\n\ngo 1.24\n",
		"README.md":      "# counting\n\nA table takes 40 ms, which is slow.\n",
		"table/table.go": "// Package table fills tables.\npackage table\n\n// Steps is how many steps a table takes.\nconst Steps = 40\n",
		"bench.sh":       "#!/bin/sh\n# How many steps does a table take?\nn=$(sed -n 's/^const Steps = //p' table/table.go)\necho \"{\\\"steps_per_s\\\": $((1000 / n))}\"\n",
	} {
		writeFile(t, filepath.Join(repo, name), text)
	}
	gitIn(t, repo, "init", "-q", "-b", "main")
	gitIn(t, repo, "add", "-A")
	gitIn(t, repo, "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "-m", "start")
	return repo, home
}

// settled is what a set-up decides in a repository, file by file. Logs and the
// journal are only the record of what ran.
func settled(t *testing.T, repo string) string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(repo, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(repo, path)
		if err != nil || d.IsDir() || strings.HasPrefix(rel, ".git/objects") || strings.HasPrefix(rel, ".git/logs") || rel == ".git/index" ||
			strings.HasSuffix(rel, "journal.jsonl") || strings.Contains(rel, "/logs/") || strings.HasSuffix(rel, "state/lock") {
			return err
		}
		data, err := os.ReadFile(path)
		out = append(out, fmt.Sprintf("%s %x", rel, sha256.Sum256(data)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

const (
	enter = "\r"
	ctrlC = "\x03"
)

// toTrial answers the questions up to the trial, by taking what is offered.
func (s *seat) toTrial() {
	s.t.Helper()
	s.sees("Which benchmark decides?", "sh bench.sh", "bench.sh:4")
	s.press(enter)
	s.sees("│ Command:", "json", "steps_per_s", "higher is better")
	for _, next := range []string{"│ How its output", "│ Metric", "│ What is better", "│ Sealed", "│ Result files", "│ Set-up: builds"} {
		s.press(enter)
		s.sees(next)
	}
	s.press(enter)
}

// TestLeavingWritesNothingHalf leaves the set-up in each gate: what was confirmed
// is there, nothing else is, and the next start goes on there.
func TestLeavingWritesNothingHalf(t *testing.T) {
	repo, home := countingRepo(t)
	before := settled(t, repo)
	unchanged := func(what, before string) {
		t.Helper()
		if now := settled(t, repo); now != before {
			t.Errorf("%s wrote something:\n%s\nbefore\n%s", what, now, before)
		}
	}
	s := sit(t, repo, home)
	s.sees("Do you trust this repository?")
	s.press(ctrlC)
	s.ends(3)
	unchanged("leaving at trust", before)

	s = sit(t, repo, home)
	s.sees("Do you trust this repository?")
	s.press("n")
	s.ends(3)
	unchanged("declining trust", before)

	s = sit(t, repo, home)
	s.sees("Do you trust this repository?")
	s.press("y")
	s.sees("What shall become better?", "README.md:3")
	before = settled(t, repo)
	s.press(enter)
	s.sees("Which number decides?", "steps_per_s")
	s.press(ctrlC)
	s.ends(3)
	s.sees("still to do: goal, benchmark, harness, start") // as the screen calls them
	unchanged("leaving at the goal", before)

	s = sit(t, repo, home, "init") // trust is not asked again
	s.sees("What shall become better?")
	for _, next := range []string{"Which number decides?", "When is it good enough?", "Which files may be changed?", "Is this the goal?"} {
		s.press(enter)
		s.sees(next)
	}
	s.press(enter)
	s.sees("Which benchmark decides?")
	before = settled(t, repo)
	s.toTrial()
	s.sees("run 3", "deterministic", "Runs repeat exactly", "Take it?")
	s.press(ctrlC)
	s.ends(3)
	unchanged("leaving at the benchmark", before)
}

// TestFromNothingToStopped sets a repository up on a terminal, does not start it
// yet, and is asked about what comes next by the following starts.
func TestFromNothingToStopped(t *testing.T) {
	repo, home := countingRepo(t)
	s := sit(t, repo, home)
	for _, step := range [][2]string{
		{"Do you trust this repository?", "y"},
		{"What shall become better?", enter},
		{"Which number decides?", enter},
		{"When is it good enough?", enter},
		{"Which files may be changed?", enter},
		{"Is this the goal?", enter},
	} {
		s.sees(step[0])
		s.press(step[1])
	}
	s.toTrial()
	s.sees("Take it?")
	s.press(enter)
	s.sees("Rules of your own")
	s.press(enter)
	s.sees("│ Who thinks and edits?", "built-in tuner")
	for _, next := range []string{"│ One agent for every role", "│ Plans in a round", "│ Rounds at most"} {
		s.press(enter)
		s.sees(next)
	}
	s.press("\x15", "1", enter)
	s.sees("Start now?", "sh bench.sh", "1 rounds at most")
	s.press("n")
	s.ends(0)
	if out := gitIn(t, repo, "status", "--porcelain"); out != "" {
		t.Errorf("the checkout is not clean: %s", out)
	}
	if out := gitIn(t, repo, "branch"); !strings.Contains(out, "improve/") {
		t.Errorf("branches %s", out)
	}

	s = sit(t, repo, home)
	s.sees("Status:", "idle", "Start the loop?")
	s.press("n")
	s.ends(0)

	state := filepath.Join(repo, ".omc/self-improve/topics/default/state/agent-settings.json")
	data, err := os.ReadFile(state)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(state, bytes.Replace(data, []byte(`"idle"`), []byte(`"user_stopped"`), 1), 0o644); err != nil {
		t.Fatal(err)
	}
	s = sit(t, repo, home)
	s.sees("Stopped at iteration 0; resume?")
	s.press(ctrlC)
	s.ends(0)
}
