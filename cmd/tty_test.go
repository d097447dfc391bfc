package cmd_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// tty is a program on a terminal of its own, with somebody who reads and types.
type tty struct {
	t      testing.TB
	cmd    *exec.Cmd
	master *os.File
	slave  *os.File // held open, to ask for its state when the program has gone
	before *term.State
	emu    *vt.SafeEmulator
	drawn  chan struct{}
	mu     sync.Mutex
	raw    bytes.Buffer
	wg     sync.WaitGroup
	close  sync.Once
}

func onTerminal(tb testing.TB, w, h uint16, cmd *exec.Cmd) *tty {
	tb.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		tb.Fatal(err)
	}
	if err := pty.Setsize(master, &pty.Winsize{Cols: w, Rows: h}); err != nil {
		tb.Fatal(err)
	}
	before, err := term.GetState(slave.Fd())
	if err != nil {
		tb.Fatal(err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	y := &tty{t: tb, cmd: cmd, master: master, slave: slave, before: before, emu: vt.NewSafeEmulator(int(w), int(h)), drawn: make(chan struct{}, 1)}
	y.wg.Go(y.draw)
	y.wg.Go(func() { _, _ = io.Copy(master, y.emu) }) // the terminal's answers
	tb.Cleanup(func() {
		_ = cmd.Process.Kill() // it holds the terminal in a test that failed
		y.hangUp()
	})
	return y
}

func (y *tty) draw() {
	b := make([]byte, 32<<10)
	for {
		n, err := y.master.Read(b)
		y.mu.Lock()
		y.raw.Write(b[:n])
		_, _ = y.emu.Write(b[:n])
		y.mu.Unlock()
		select {
		case y.drawn <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

// hangUp closes the terminal, as a window that is closed does.
func (y *tty) hangUp() {
	y.close.Do(func() {
		_ = y.slave.Close()
		_ = y.master.Close()
		if w, ok := y.emu.InputPipe().(io.Closer); ok {
			_ = w.Close()
		}
		y.wg.Wait()
	})
}

// text is what the terminal shows.
func (y *tty) text() string {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.emu.String()
}

func (y *tty) sees(want string) {
	y.t.Helper()
	limit := time.After(60 * time.Second)
	for !strings.Contains(y.text(), want) {
		select {
		case <-y.drawn:
		case <-limit:
			y.t.Fatalf("the terminal does not show %q:\n%s", want, y.text())
		}
	}
}

func (y *tty) types(keys string) {
	y.t.Helper()
	if _, err := io.WriteString(y.master, keys); err != nil {
		y.t.Fatal(err)
	}
}

// ends waits for the program and wants the terminal as it was before it.
func (y *tty) ends(code int) {
	y.t.Helper()
	done := make(chan error, 1)
	go func() { done <- y.cmd.Wait() }()
	select {
	case err := <-done:
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			y.t.Fatal(err)
		}
	case <-time.After(60 * time.Second):
		_ = y.cmd.Process.Kill()
		y.t.Fatalf("the program does not end:\n%s", y.text())
	}
	if got := y.cmd.ProcessState.ExitCode(); got != code {
		y.t.Errorf("it ended with %d, want %d:\n%s", got, code, y.text())
	}
	after, err := term.GetState(y.slave.Fd())
	if err != nil || *after != *y.before {
		y.t.Errorf("the terminal is not as it was: %v, %+v", err, after)
	}
	for _, switchedBack := range []string{"\x1b[?1049l", "\x1b[?25h"} { // the screen, the cursor
		y.shows(switchedBack)
	}
}

// shows waits until the program has written a sequence.
func (y *tty) shows(sequence string) {
	y.t.Helper()
	limit := time.After(10 * time.Second)
	for {
		y.mu.Lock()
		found := bytes.Contains(y.raw.Bytes(), []byte(sequence))
		y.mu.Unlock()
		if found {
			return
		}
		select {
		case <-y.drawn:
		case <-limit:
			y.t.Fatalf("%q was not written", sequence)
		}
	}
}

// evening is a repository with a track whose agents wait at a gate.
type evening struct {
	crashed
	t *testing.T
}

func newEvening(t *testing.T, program string) evening {
	t.Helper()
	c := crashed{dir: t.TempDir(), program: program}
	gate := filepath.Join(c.dir, "gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"repo/value.txt": "10\n",
		"repo/bench.sh":  "echo \"{\\\"primary\\\": $(cat value.txt)}\"\n",
		"agent.txt": "planner_a 1 plan data value.txt w=loudly; echo spoken: $w; echo 20 > value.txt; read x < " + gate + "\n" +
			"planner_a 2 plan optimization value.txt echo 30 > value.txt; read x < " + gate + "\n",
		"home/x": "",
	} {
		writeFile(t, filepath.Join(c.dir, name), text)
	}
	gitIn(t, c.repo(), "init", "-q", "-b", "main")
	gitIn(t, c.repo(), "add", "-A")
	gitIn(t, c.repo(), "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "-m", "start")
	e := evening{c, t}
	init := e.si("init", "--trust", "--seed", "1", "--objective", "Raise the value", "--scope", ".", "--benchmark", "sh bench.sh", "--sealed", "bench.sh",
		"--max-iterations", "2", "--agents", "1", "--agent", "command:agent "+filepath.Join(c.dir, "agent.txt"))
	if out, err := init.CombinedOutput(); err != nil {
		t.Fatalf("init: %v\n%s", err, out)
	}
	t.Cleanup(func() { e.si("stop", "--now").Run() }) // of a test that failed; else nothing runs
	return e
}

func (e evening) si(args ...string) *exec.Cmd {
	cmd := exec.Command(e.program, args...)
	cmd.Dir = e.repo()
	cmd.Env = append(e.env(), "TERM=xterm-256color", "LC_ALL=C.UTF-8")
	return cmd
}

// open lets the agent of a round through the gate. The one of the last round has
// left it.
func (e evening) open() {
	e.t.Helper()
	for {
		f, err := os.OpenFile(filepath.Join(e.dir, "gate"), os.O_WRONLY, 0)
		if err != nil {
			e.t.Fatal(err)
		}
		_, err = io.WriteString(f, "go\n")
		_ = f.Close()
		if !errors.Is(err, syscall.EPIPE) {
			if err != nil {
				e.t.Fatal(err)
			}
			return
		}
	}
}

// gone wants no process of the evening to be left.
func (e evening) gone() {
	e.t.Helper()
	limit := time.Now().Add(time.Minute)
	for {
		left := ""
		files, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, f := range files {
			data, err := os.ReadFile(f)
			if err == nil && bytes.Contains(data, []byte("HOME="+filepath.Join(e.dir, "home"))) {
				line, _ := os.ReadFile(filepath.Join(filepath.Dir(f), "cmdline"))
				left = string(bytes.ReplaceAll(line, []byte{0}, []byte{' '}))
			}
		}
		if left == "" {
			return
		}
		if time.Now().After(limit) {
			e.t.Fatalf("a process is left: %s", left)
		}
		<-time.After(50 * time.Millisecond) // processes end without a word to a third one
	}
}

// misses wants the program to have written nothing that a pattern matches.
func (y *tty) misses(pattern string) {
	y.t.Helper()
	y.mu.Lock()
	defer y.mu.Unlock()
	if found := regexp.MustCompile(pattern).Find(y.raw.Bytes()); found != nil {
		y.t.Errorf("it wrote %q", found)
	}
}

// with gives a command one more variable.
func with(cmd *exec.Cmd, variable string) *exec.Cmd {
	cmd.Env = append(cmd.Env, variable)
	return cmd
}
