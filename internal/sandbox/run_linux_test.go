package sandbox

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"si/internal/proc"
)

func TestHowACommandEnds(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b *box) {
		t.Helper()
		for _, tc := range []struct {
			script  string
			outcome proc.Outcome
			code    int
			signal  string
		}{
			{"exit 0", proc.Exited, 0, ""},
			{"exit 1", proc.Exited, 1, ""},
			{"exit 137", proc.Exited, 137, ""},
			{"exit 255", proc.Exited, 255, ""},
			{"kill -TERM $$", proc.Signaled, 143, "SIGTERM"},
			{"kill -KILL $$", proc.Signaled, 137, "SIGKILL"},
			{"kill -SEGV $$", proc.Signaled, 139, "SIGSEGV"},
			{"kill -HUP $$", proc.Signaled, 129, "SIGHUP"},
			{"kill -TERM -$$", proc.Signaled, 143, "SIGTERM"}, // it leads a group
			{"no-such-program", proc.Exited, 127, ""},
		} {
			res := b.sh(t, b.profile(), tc.script)
			if res.Outcome != tc.outcome || res.Code != tc.code || res.Signal != tc.signal {
				t.Errorf("%s: %s %d %s, want %s %d %s", tc.script, res.Outcome, res.Code, res.Signal, tc.outcome, tc.code, tc.signal)
			}
		}
	})
}

// Of what the command writes to the pipe that says how it began and ended nothing
// is believed.
func TestTheStartPipeCannotBeForged(t *testing.T) {
	t.Parallel()
	b := newBox(t, Bubblewrap)
	forge := "printf 'failed forged\\nmissing forged\\nsignal 9\\n' >" + startedInside
	if res := b.sh(t, b.profile(), forge+"; exit 3"); res.Outcome != proc.Exited || res.Code != 3 {
		t.Errorf("got %s %d", res.Outcome, res.Code)
	}
	// A full pipe once held up the first process until the limit.
	res := b.sh(t, b.profile(), "timeout 0.2 cat /dev/zero >"+startedInside+"; kill -KILL $$")
	if res.Outcome != proc.Exited || res.Code != 137 {
		t.Errorf("with a full pipe: %s %d", res.Outcome, res.Code)
	}
}

func TestOutputAndEnvironmentPass(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b *box) {
		t.Helper()
		c := b.command(b.profile(), "/bin/sh", "-c", `cat; echo "$FOO|$SI_RUN|$LD_LIBRARY_PATH|$(pwd)"; echo err >&2; env | grep -c CONTAINED`)
		c.Env = append(c.Env, "FOO=a b\nc", "SI_RUN=forged", "LD_LIBRARY_PATH="+b.tree)
		c.Stdin = strings.NewReader("in\n")
		var lines []string
		c.Stdout.Line = func(l []byte) { lines = append(lines, string(l)) }
		res := b.run(t, c)
		want := "in\na b\nc|" + "sandbox-test-" + itoa(os.Getpid()) + "|" + b.tree + "|" + b.tree + "\n0\n"
		if got := string(res.Stdout.Head); got != want || string(res.Stderr.Head) != "err\n" {
			t.Errorf("got %q and %q, want %q", got, res.Stderr.Head, want)
		}
		if len(lines) != 4 {
			t.Errorf("lines %q", lines)
		}
	})
}

// Output comes while the command runs, and TERM reaches the command.
func TestTermReachesTheCommand(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b *box) {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		c := b.command(b.profile(), "/bin/sh", "-c", `trap 'echo ended; exit 5' TERM; echo ready; while :; do sleep 0.05; done`)
		c.Grace = 20 * time.Second
		c.Stdout.Line = func(l []byte) {
			if string(l) == "ready" {
				cancel()
			}
		}
		began := time.Now()
		res, err := b.Run(ctx, c)
		if err != nil {
			t.Fatal(err)
		}
		if res.Outcome != proc.Cancelled || res.Code != 5 || trimmed(res.Stdout.Tail) != "ready\nended" {
			t.Errorf("%s, code %d, said %q", res.Outcome, res.Code, res.Stdout.Tail)
		}
		if d := time.Since(began); d > 15*time.Second {
			t.Errorf("took %v: it was killed after the grace", d)
		}
	})
}

func TestWhatIgnoresTermIsKilled(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b *box) {
		t.Helper()
		c := b.command(b.profile(), "/bin/sh", "-c", `trap '' TERM INT HUP; setsid sleep 98.7 & while :; do sleep 1; done`)
		c.Wall, c.Grace = time.Second, 100*time.Millisecond
		if res := b.run(t, c); res.Outcome != proc.TimedOut || res.Code != 137 {
			t.Errorf("%s, code %d", res.Outcome, res.Code)
		}
	})
}

// A command that leaves something running ends when it ends itself.
func TestBackgroundChildren(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b *box) {
		t.Helper()
		began := time.Now()
		res := b.sh(t, b.profile(), `setsid sh -c 'trap "" TERM HUP; touch "$HOME/up"; sleep 97; touch "$HOME/late"' >/dev/null 2>&1 & while [ ! -e "$HOME/up" ]; do sleep 0.01; done; sleep 97 & echo done`)
		if res.Outcome != proc.Exited || res.Code != 0 || trimmed(res.Stdout.Tail) != "done" {
			t.Errorf("%s %d %q", res.Outcome, res.Code, res.Stdout.Tail)
		}
		if d := time.Since(began); d > 20*time.Second {
			t.Errorf("took %v", d)
		}
		if res.Swept < 2 { // the shell, its sleep, and the other one
			t.Errorf("%d swept", res.Swept)
		}
		// What ends by itself right after the command was not left.
		if res := b.sh(t, b.profile(), `sleep 0.02 & seq 1000 | head -1`); b.Sandbox.Report().Kind == Bubblewrap && res.Swept != 0 {
			t.Errorf("%d swept of a command that left nothing for long", res.Swept)
		}
		if pids := inProcesses(b.root); len(pids) > 0 {
			t.Errorf("processes %v are left", pids)
		}
	})
}

func TestCPUAndMemoryAreTheCommands(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b *box) {
		t.Helper()
		idle := b.sh(t, b.profile(), "true")
		res := b.child(t, b.profile(), "burn", "150")
		if res.CPU < 150*time.Millisecond || res.CPU-idle.CPU > 600*time.Millisecond {
			t.Errorf("CPU %v, of an idle run %v", res.CPU, idle.CPU)
		}
		res = b.sh(t, b.profile(), hold(100))
		if mib := res.MaxRSS >> 20; mib < 100 || mib > 160 || idle.MaxRSS>>20 > 60 {
			t.Errorf("peak memory %d MiB, of an idle run %d", mib, idle.MaxRSS>>20)
		}
		// Also when a shell waits for the one that does the work.
		if res = b.sh(t, b.profile(), `"$SELF" `+childArg+` burn 100; true`); res.CPU < 100*time.Millisecond {
			t.Errorf("CPU of a grandchild %v", res.CPU)
		}
		t.Logf("an idle run: %v wall, %v CPU, %d MiB", idle.Wall, idle.CPU, idle.MaxRSS>>20)
	})
}

// hold touches so many MiB in one process.
func hold(mib int) string { return "exec dd if=/dev/zero of=/dev/null count=1 bs=" + itoa(mib) + "M" }

func TestLimits(t *testing.T) {
	t.Parallel()
	for _, kind := range []Kind{Bubblewrap, Landlock, None} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			b := newBox(t, kind)
			p := b.profile()
			p.Limits = proc.Limits{FileBytes: 1 << 20, MemoryBytes: 512 << 20, Processes: 40}
			if res := b.sh(t, p, `head -c 2000000 /dev/zero >big`); res.Code == 0 {
				t.Error("a file grew past the limit")
			}
			if info, err := os.Stat(filepath.Join(b.tree, "big")); err != nil || info.Size() != 1<<20 {
				t.Errorf("the file: %v %v", info, err)
			}
			if res := b.sh(t, p, hold(100)); res.Code != 0 {
				t.Errorf("within the limit of memory: code %d\n%s", res.Code, res.Stderr.Tail)
			}
			if res := b.sh(t, p, hold(800)); res.Code == 0 {
				t.Error("memory grew past the limit")
			}
			many := `for i in $(seq 100); do sleep 20 & done; echo all`
			res := b.sh(t, p, many)
			if limited := !strings.Contains(string(res.Stdout.Tail), "all"); limited != b.Sandbox.Report().Enforces(ProcessLimit) {
				t.Errorf("processes limited: %v, reported %v\n%s", limited, !limited, res.Stderr.Tail)
			}
		})
	}
}

func TestOddNames(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b *box) {
		t.Helper()
		odd := b.at("two words\nand Ünïcödé \xff*[a]")
		mustMkdir(t, odd)
		mustWrite(t, odd+"/veil/secret", "x")
		p := b.profile()
		p.Writable = append(p.Writable, odd+"/")
		p.Hidden = append(p.Hidden, b.at("no\nsuch"))
		mustWrite(t, odd+"-veil/secret", "x")
		p.Hidden = append(p.Hidden, odd+"-veil")
		c := b.command(p, "/bin/sh", "-c", `echo x >made && ! cat "$PWD-veil/secret"`)
		c.Dir = odd
		if res := b.run(t, c); res.Code != 0 {
			t.Errorf("code %d\n%s", res.Code, res.Stderr.Tail)
		}
		if _, err := os.Stat(odd + "/made"); err != nil {
			t.Error(err)
		}
	})
}

func TestBothArmsAtOnePath(t *testing.T) {
	t.Parallel()
	b := newBox(t, Bubblewrap)
	at := b.at("arm")
	mustMkdir(t, at)
	for _, arm := range []string{"a", "b"} {
		tree := b.at(arm)
		mustWrite(t, tree+"/name", arm)
		mustWrite(t, tree+"/sealed", "true")
		mustWrite(t, tree+"/run.sh", "#!/bin/sh\ncat name; pwd; echo x >made\n")
		if err := os.Chmod(tree+"/run.sh", 0o755); err != nil {
			t.Fatal(err)
		}
		p := Benchmark(User{}, BenchmarkPlaces{Tree: tree, Home: b.home, Tmp: b.tmp, At: at})
		p.Private = nil
		p.ReadOnly = append(p.ReadOnly, tree+"/sealed")
		c := b.command(p, "./run.sh")
		c.Dir = at
		if res := b.run(t, c); res.Code != 0 || string(res.Stdout.Tail) != arm+at+"\n" {
			t.Errorf("arm %s: code %d, said %q %q", arm, res.Code, res.Stdout.Tail, res.Stderr.Tail)
		}
		if got := mustRead(t, tree+"/made"); got != "x\n" {
			t.Errorf("arm %s was not written to: %q", arm, got)
		}
		c = b.command(p, "/bin/sh", "-c", "echo evil >sealed")
		c.Dir = at
		if res := b.run(t, c); res.Code == 0 {
			t.Errorf("arm %s: a sealed file was written to under its other name", arm)
		}
	}
}

func TestWhatCannotStartIsAnError(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b *box) {
		t.Helper()
		mustWrite(t, b.at("veil/program"), "#!/bin/sh\n")
		if err := os.Chmod(b.at("veil/program"), 0o755); err != nil {
			t.Fatal(err)
		}
		p := b.profile()
		for name, c := range map[string]proc.Command{
			"no program":   b.command(p, "no-such-program"),
			"no path":      b.command(p, "/no/such/program"),
			"no folder":    func() proc.Command { c := b.command(p, "true"); c.Dir = b.at("nowhere"); return c }(),
			"not writable": func() proc.Command { q := p; q.Writable = []string{b.at("nowhere")}; return b.command(q, "true") }(),
		} {
			if _, err := b.Run(t.Context(), c); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %v", name, err)
			}
		}
		p.Hidden = append(p.Hidden, b.at("veil"))
		if res, err := b.Run(t.Context(), b.command(p, b.at("veil/program"))); err == nil && res.Code != 126 {
			t.Errorf("a hidden program: %+v", res)
		}
		for name, path := range map[string]string{"relative": "tree", "root": "/", "zero byte": b.tree + "\x00"} {
			q := b.profile()
			q.Writable = append(q.Writable, path)
			if _, err := b.Run(t.Context(), b.command(q, "true")); err == nil {
				t.Errorf("%s: accepted", name)
			}
		}
		if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "si-sandbox-*", "started")); len(left) > 20 {
			t.Errorf("pipes are left: %v", left)
		}
	})
}

// A sandbox that breaks after the probe is an error with the program's own words,
// not a benchmark that failed.
func TestABrokenSandboxIsNoResult(t *testing.T) {
	t.Parallel()
	b := newBox(t, Bubblewrap)
	broken := *b.Sandbox
	broken.bwrap = filepath.Join(b.root, "bwrap")
	mustWrite(t, broken.bwrap, "#!/bin/sh\necho 'bwrap: Creating new namespace failed: Operation not permitted' >&2\nexit 1\n")
	if err := os.Chmod(broken.bwrap, 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := Runner{Inner: b.Inner, Sandbox: &broken}.Run(t.Context(), b.command(b.profile(), "true"))
	if err == nil || !strings.Contains(err.Error(), "Creating new namespace failed") || !strings.Contains(err.Error(), "namespaces") {
		t.Errorf("got %v", err)
	}
}

// A folder that an earlier command could write to cannot lead the next one out.
func TestALinkCannotWidenTheSandbox(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b *box) {
		t.Helper()
		if err := os.Symlink(b.outside, filepath.Join(b.tree, "target")); err != nil {
			t.Fatal(err)
		}
		p := b.profile()
		p.Writable = append(p.Writable, filepath.Join(b.tree, "target"))
		if _, err := b.Run(t.Context(), b.command(p, "true")); err == nil || !strings.Contains(err.Error(), "symbolic link") {
			t.Errorf("got %v", err)
		}
	})
}

// The variables of a command must not reach the programs outside that contain it.
func TestVariablesDoNotReachTheOutside(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b *box) {
		t.Helper()
		c := b.command(b.profile(), "true")
		c.Env = append(c.Env, "LD_DEBUG=libs", "LD_DEBUG_OUTPUT="+b.outside+"/debug")
		b.run(t, c)
		if found, _ := filepath.Glob(b.outside + "/debug*"); len(found) > 0 {
			t.Errorf("the loader outside wrote %v", found)
		}
	})
}

func TestUncontainedCommandsPass(t *testing.T) {
	t.Parallel()
	run, self := newRunner(t)
	s := New(t.Context(), Options{Run: run, Self: self, Only: []Kind{None}})
	c := proc.Command{Path: "/bin/sh", Args: []string{"-c", "exit 4"}, Contain: &Profile{}}
	if res, err := (Runner{Inner: run, Sandbox: s}).Run(t.Context(), c); err != nil || res.Code != 4 {
		t.Errorf("without a sandbox: %d %v", res.Code, err)
	}
	if _, err := run.Run(t.Context(), c); err == nil {
		t.Error("a runner that cannot contain ran a command that is to be contained")
	}
}

// inProcesses finds what has the text in its environment.
func inProcesses(text string) []string {
	var out []string
	found, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range found {
		if data, err := os.ReadFile(f); err == nil && bytes.Contains(data, []byte("ROOT="+text)) {
			out = append(out, f)
		}
	}
	return out
}

// BenchmarkRun is the cost of a sandbox for one run of nothing.
func BenchmarkRun(b *testing.B) {
	for _, kind := range []Kind{"bare", Landlock, Bubblewrap} {
		for _, limited := range []bool{false, true} {
			name := string(kind)
			if limited {
				name += "-limited"
			}
			b.Run(name, func(b *testing.B) { benchmarkRun(b, kind, limited) })
		}
	}
}

func benchmarkRun(b *testing.B, kind Kind, limited bool) {
	b.Helper()
	if kind == "bare" && limited {
		b.Skip("there are no limits without a sandbox")
	}
	base := Bubblewrap
	if kind == Landlock {
		base = kind
	}
	x := newBox(b, base)
	p := x.profile()
	if limited {
		p.Limits = proc.Limits{FileBytes: 1 << 30}
	}
	c := x.command(p, "/bin/true")
	c.Supervised = true // also when bare
	if kind == "bare" {
		c.Contain = nil
	}
	for b.Loop() {
		if res := x.run(b, c); res.Code != 0 {
			b.Fatal(res.Code)
		}
	}
}

// BenchmarkProbe is the cost of finding out what works.
func BenchmarkProbe(b *testing.B) {
	run, self := newRunner(b)
	for b.Loop() {
		Probe(b.Context(), Options{Run: run, Self: self, Path: os.Getenv("PATH")})
	}
}

// A command's report comes out of every sandbox, with limits and without; nobody
// inside can open its descriptor again.
func TestReportsComeOut(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b *box) {
		t.Helper()
		for name, limits := range map[string]proc.Limits{"limits": {FileBytes: 1 << 20}, "none": {}} {
			p := b.profile()
			p.Limits = limits
			c := b.command(p, "/bin/sh", "-c", `sh -c 'for f in /proc/*/fd/*; do case $(readlink $f) in pipe:*) ;; *) echo forged > $f;; esac; done' 3>&- 2>/dev/null; echo report >&3; echo out`)
			c.Report = &proc.Output{}
			res := b.run(t, c)
			if report, out := string(res.Report.Head), string(res.Stdout.Head); report != "report\n" || out != "out\n" {
				t.Errorf("%s: report %q, output %q, %s", name, report, out, res.Stderr.Tail)
			}
		}
	})
}
