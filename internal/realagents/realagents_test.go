package realagents

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"si/internal/modelserver"
	"si/internal/proc"
)

func TestMain(m *testing.M) {
	if code, was := proc.Supervise(os.Args); was {
		syscall.Exit(code) // os.Exit waits a second under the race detector
	}
	os.Exit(m.Run())
}

// bench is a place where one agent works.
type bench struct {
	run  *proc.Local
	bin  string
	home string
	work string
}

// newBench installs the agents, or skips the test when it was not asked for.
func newBench(t *testing.T) bench {
	t.Helper()
	Asked(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b := bench{run: proc.New(proc.Options{Self: self, Mark: "realagents-" + t.Name()}), home: t.TempDir(), work: t.TempDir()}
	b.bin = Need(t, b.run)
	if err := os.Mkdir(filepath.Join(b.home, "tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(b.work, "store"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.work, "store", "options.go"), []byte("package store\n\nconst (\n\tbloomBits = 3\n)\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return b
}

// play lets a client work on an executor's prompt.
func (b bench) play(ctx context.Context, t *testing.T, c Client, url string) proc.Result {
	t.Helper()
	if err := Home(b.home, url); err != nil {
		t.Fatal(err)
	}
	prompt := fmt.Sprintf("You are executor_a, an executor of round 1. You carry out one plan by editing the files in %s, your workspace.\n\n"+
		"\"change\": \"Set the constant bloomBits in store/options.go to the value 9.\"\n", b.work)
	r, err := b.run.Run(ctx, proc.Command{
		Path: c.Name, Args: c.Args, Dir: b.work, Env: Env(b.bin, b.home, url), Stdin: strings.NewReader(prompt),
		Wall: 3 * time.Minute, Supervised: true,
	})
	if err != nil {
		t.Fatalf("run %s: %v", c.Name, err)
	}
	return r
}

func start(t *testing.T, script modelserver.Script) *modelserver.Server {
	t.Helper()
	s, err := modelserver.Start(script)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestEachAgentEditsByTheScript(t *testing.T) {
	for _, c := range Clients() {
		t.Run(c.Name, func(t *testing.T) {
			b := newBench(t)
			server := start(t, modelserver.DemoPlayer().Play)
			r := b.play(t.Context(), t, c, server.URL())
			got, err := os.ReadFile(filepath.Join(b.work, "store", "options.go"))
			if err != nil || !strings.Contains(string(got), "bloomBits = 9") || r.Code != 0 {
				t.Errorf("exit code %d, file %q, %v\nstdout: %s\nstderr: %s\nrequests: %s", r.Code, got, err, r.Stdout.Tail, r.Stderr.Tail, told(server))
			}
			t.Logf("%s: %d requests, %.1f s", c.Name, len(server.Requests()), r.Wall.Seconds())
		})
	}
}

func told(s *modelserver.Server) string {
	var out strings.Builder
	for _, r := range s.Requests() {
		fmt.Fprintf(&out, "\n%d %s %s stream=%v tools=", r.N, r.Format, r.Model, r.Stream)
		for _, t := range r.Tools {
			out.WriteString(t.Name + " ")
		}
		fmt.Fprintf(&out, "results=%v", r.Results())
	}
	return out.String()
}

// sleeper is a command that only one test starts.
const sleeper = "sleep 987654"

func TestAnAgentThatIsStoppedInAToolCallLeavesNothing(t *testing.T) {
	for _, c := range Clients() {
		t.Run(c.Name, func(t *testing.T) {
			b := newBench(t)
			started := filepath.Join(b.work, "started")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			player := modelserver.DemoPlayer()
			player.Before = func(_, _ string, r modelserver.Request) (modelserver.Reply, bool) {
				call, can := modelserver.ShellCall(r, "touch started && "+sleeper)
				if !can || len(r.Results()) > 0 {
					return modelserver.Reply{Text: "no shell"}, true
				}
				return modelserver.Reply{Calls: []modelserver.Call{call}}, true
			}
			server := start(t, player.Play)
			ended := make(chan struct{})
			watcher := make(chan bool, 1)
			go func() {
				watcher <- appears(started, ended)
				cancel()
			}()
			r := b.play(ctx, t, c, server.URL())
			close(ended)
			if !<-watcher {
				t.Fatalf("the tool call did not start: %s: %s\n%s%s", r.Outcome, r.Stdout.Tail, r.Stderr.Tail, told(server))
			}
			if r.Outcome != proc.Cancelled {
				t.Errorf("outcome %s", r.Outcome)
			}
			if left := running(t, sleeper); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// appears waits until a file is there; false when ended is closed before.
func appears(path string, ended <-chan struct{}) bool {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := os.Stat(path); err == nil {
			return true
		}
		select {
		case <-ended:
			return false
		case <-tick.C:
		}
	}
}

// running are the processes whose command line holds text.
func running(t *testing.T, text string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range files {
		line, err := os.ReadFile(f)
		if words := strings.ReplaceAll(string(line), "\x00", " "); err == nil && strings.Contains(words, text) {
			out = append(out, f+": "+words)
		}
	}
	return out
}
