package proc

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestDaemonDoesNotOutliveASupervisedChild(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"daemon", "holder", "background"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			c := b.child(mode)
			c.Supervised = true
			took(t, 15*time.Second, func() {
				res := b.run(t, c)
				if res.Outcome != Exited || res.Code != 0 || res.Swept < 1 {
					t.Errorf("got %s %d, %d swept", res.Outcome, res.Code, res.Swept)
				}
			})
			b.noneLeft(t)
		})
	}
}

func TestWholeTreeEndsAtALimit(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.child("nursery")
	c.Supervised, c.Wall, c.Grace = true, time.Second, 300*time.Millisecond
	res := b.run(t, c)
	if res.Outcome != TimedOut || res.Signal != "SIGKILL" {
		t.Errorf("got %s %s", res.Outcome, res.Signal)
	}
	b.noneLeft(t)
}

// The unsupervised child's group is ended, and so is who holds its pipe.
func TestUnsupervisedChildLeavesNoHolder(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"holder", "background"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			took(t, 15*time.Second, func() {
				c := b.child(mode)
				c.Stdin = bytes.NewReader(make([]byte, 5<<20)) // which the holder does not read
				if res := b.run(t, c); res.Code != 0 || res.Swept != 1 {
					t.Errorf("code %d, %d swept", res.Code, res.Swept)
				}
			})
			b.noneLeft(t)
		})
	}
}

// The search for holders of a pipe once found this process, which reads it, and
// ended all its children with it.
func TestAHolderIsEndedAlone(t *testing.T) {
	t.Parallel()
	b, other := newBench(t), newBench(t)
	ctx, cancel := context.WithCancel(context.Background())
	ready, done := make(chan struct{}), make(chan struct{})
	c := other.child("wait")
	c.Stdout.Line = func([]byte) { close(ready) }
	go func() {
		defer close(done)
		_, _ = other.Run(ctx, c) // how it ends is not the matter here
	}()
	<-ready
	b.run(t, b.child("holder"))
	if n := len(other.living()); n != 1 {
		t.Errorf("of the other child %d processes live, want 1", n)
	}
	cancel()
	<-done
}

// An agent can signal its supervisor: that must neither hang the run nor free the agent.
func TestSupervisorUnderAttack(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		signal  string
		outcome Outcome
	}{
		"killed":     {"9", Signaled},
		"terminated": {"15", Signaled},
		"stopped":    {"19", TimedOut},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			c := b.child("patricide", tc.signal)
			c.Supervised, c.Wall, c.Grace = true, 2*time.Second, 200*time.Millisecond
			if tc.outcome == Signaled {
				c.Wall = time.Minute
			} else {
				b.patience = time.Second // for one that will never answer
			}
			took(t, 30*time.Second, func() {
				if res := b.run(t, c); res.Outcome != tc.outcome || res.Signal != "SIGKILL" {
					t.Errorf("got %s %s", res.Outcome, res.Signal)
				}
			})
			b.noneLeft(t)
		})
	}
}

// startRunner starts a program that runs a nursery, and waits until all of it
// lives: supervisor, command, lingerer and daemon.
func startRunner(t *testing.T, b *bench) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(context.Background(), b.self, childArg, "runner", b.token+"-old", b.registry, b.token)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	for range 2 {
		if line, err := lines.ReadString('\n'); err != nil || line != "ready\n" {
			t.Fatalf("the runner says %q, %v", line, err)
		}
	}
	eventually(t, 10*time.Second, "all five alive", func() bool { return b.count("linger") == 2 && len(b.living()) == 5 })
	return cmd
}

// count counts the living processes of one mode.
func (b *bench) count(mode string) int {
	n := 0
	for _, p := range processes() {
		args, _ := os.ReadFile(filepath.Join("/proc", itoa(p.pid), "cmdline"))
		if s := string(args); strings.Contains(s, mode+"\x00"+b.token) {
			n++
		}
	}
	return n
}

func TestNothingSurvivesKill9OfTheRunner(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	cmd := startRunner(t, b)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed, as asked
	eventually(t, 10*time.Second, "all ended", func() bool { return len(b.living()) == 0 })
}

// "killall -9 si" reaches runner and supervisor; the next start sweeps the rest.
func TestSweepAfterTheSupervisorWasKilledToo(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	cmd := startRunner(t, b)
	supervisors := where(processes(), func(p process) bool { return p.ppid == cmd.Process.Pid })
	if len(supervisors) != 1 {
		t.Fatalf("the runner has children %+v, want one supervisor", supervisors)
	}
	supervisors[0].signal(syscall.SIGSTOP) // so that it cannot act between the two
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	supervisors[0].signal(syscall.SIGKILL)
	_ = cmd.Wait()
	eventually(t, 10*time.Second, "the command dead with its supervisor", func() bool { return b.count("nursery") == 0 })
	if b.count("linger") == 0 {
		t.Fatal("nothing is left to sweep: the test tests nothing")
	}
	killed, err := Sweep(func(m string) bool { return m == b.token+"-old" }, b.registry)
	if err != nil || killed < 1 {
		t.Errorf("killed %d, %v", killed, err)
	}
	for _, p := range processes() {
		if p.alive() && marked(p.pid, func(m string) bool { return m == b.token+"-old" }) {
			t.Errorf("process %d is left", p.pid)
		}
	}
	if left, _ := os.ReadDir(b.registry); len(left) > 0 {
		t.Errorf("the registry still names %v", left)
	}
}

func TestSweepKillsWhatTheRegistryNamesOnlyIfAllAgree(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		spoil func(*entry)
		ends  bool
	}{
		"all agree":     {func(*entry) {}, true},
		"another start": {func(e *entry) { e.Start++ }, false},
		"another boot":  {func(e *entry) { e.Boot = "00000000-0000-0000-0000-000000000000" }, false},
		"no boot":       {func(e *entry) { e.Boot = "" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			cmd := exec.CommandContext(context.Background(), b.self, childArg, "linger", b.token)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			e, _ := identify(cmd.Process.Pid)
			tc.spoil(&e)
			data, _ := json.Marshal(e)
			if err := os.MkdirAll(b.registry, 0o700); err != nil {
				t.Fatal(err)
			}
			for file, content := range map[string][]byte{"1-1" + entrySuffix: data, "2-2" + entrySuffix: []byte("{torn"), "3-3" + entrySuffix: []byte(`{"pid":1,"start":1,"boot":"x"}`)} {
				if err := os.WriteFile(filepath.Join(b.registry, file), content, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			killed, err := Sweep(func(string) bool { return false }, b.registry, filepath.Join(b.registry, "none"))
			if err != nil || (killed == 1) != tc.ends {
				t.Errorf("killed %d, %v", killed, err)
			}
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
	}
}

// Not even a mark that accepts everything reaches the sweeper or its ancestors.
func TestSweepSparesItsAncestors(t *testing.T) {
	t.Parallel()
	all := processes()
	kin := kinOf(all, os.Getpid())
	if !kin[os.Getpid()] || !kin[os.Getppid()] {
		t.Fatalf("kin %v lacks this process or its parent", kin)
	}
	for _, p := range leftBehind(func(string) bool { return true }, nil) {
		if kin[p.pid] {
			t.Errorf("process %d would be ended", p.pid)
		}
	}
}

func TestProcessNameCannotForgeTheTable(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	evil := filepath.Join(t.TempDir(), ") Z 1 1 1 (")
	if err := os.Symlink(b.self, evil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c := b.child("wait")
	c.Path = evil
	c.Stdout.Line = func([]byte) {
		mine := where(descendantsOf(os.Getpid()), func(p process) bool {
			exe, _ := os.ReadFile(filepath.Join("/proc", itoa(p.pid), "cmdline"))
			return strings.Contains(string(exe), b.token)
		})
		if len(mine) != 1 || mine[0].ppid != os.Getpid() || mine[0].session != mine[0].pid {
			t.Errorf("found %+v", mine)
		}
		cancel()
	}
	if _, err := b.Run(ctx, c); err != nil {
		t.Fatal(err)
	}
}

// A supervisor may have 16 MB resident; see supervisorMax.
func TestSupervisorIsSmall(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c := b.child("wait")
	c.Supervised = true
	var status []byte
	c.Stdout.Line = func([]byte) {
		for _, p := range descendantsOf(os.Getpid()) {
			args, _ := os.ReadFile(filepath.Join("/proc", itoa(p.pid), "cmdline"))
			if s := string(args); strings.Contains(s, superviseArg) && strings.Contains(s, b.token) {
				status, _ = os.ReadFile(filepath.Join("/proc", itoa(p.pid), "statm"))
			}
		}
		cancel()
	}
	if _, err := b.Run(ctx, c); err != nil {
		t.Fatal(err)
	}
	f := strings.Fields(string(status))
	if len(f) < 2 {
		t.Fatalf("no supervisor was seen: %q", status)
	}
	if pages := atoi(f[1]); pages == 0 || pages*os.Getpagesize() > supervisorMax {
		t.Errorf("the supervisor has %d bytes resident", pages*os.Getpagesize())
	} else {
		t.Logf("the supervisor has %d KiB resident", pages*os.Getpagesize()>>10)
	}
}

func BenchmarkRun(b *testing.B) {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	for name, supervised := range map[string]bool{"supervised": true, "direct": false} {
		b.Run(name, func(b *testing.B) {
			l := New(Options{Self: self, Mark: "benchmark", Registry: b.TempDir()})
			for b.Loop() {
				if _, err := l.Run(context.Background(), Command{Path: "/bin/true", Supervised: supervised}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
