package slurm

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"si/internal/proc"
)

func TestFill(t *testing.T) {
	got := fill([]string{"qsub", "-N{name}", "{script}", "{other}"}, map[string]string{"{name}": "{script}", "{script}": "/a b"})
	if want := []string{"qsub", "-N{script}", "/a b", "{other}"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestIDsOfOtherSchedulers(t *testing.T) {
	for out, tc := range map[string]struct{ expr, id string }{
		"123.server\n": {"", "123.server"},
		"Job <77> is submitted to default queue <normal>.": {`Job <(\d+)>`, "77"},
		"your job is 5\n\n": {"", "5"},
		"":                  {"", ""},
		"--force":           {"", ""},
	} {
		p := &programs{t: t, answers: map[string]string{"sub": out}}
		g, err := newGeneral(tools{run: p}, Commands{Submit: []string{"sub", "{script}", "{node}", "{seconds}"}, Status: []string{"st", "{id}"}, Cancel: []string{"c", "{id}"}, ID: tc.expr})
		if err != nil {
			t.Fatal(err)
		}
		id, err := g.submit(t.Context(), submission{script: "/s", limit: 90 * time.Second})
		if id != tc.id || (err == nil) != (tc.id != "") {
			t.Errorf("%q: got %q, %v", out, id, err)
		}
		if got := p.ran[0]; got[2] != "" || got[3] != "90" {
			t.Errorf("ran %q", got)
		}
	}
}

func TestWordsOfOtherSchedulers(t *testing.T) {
	for out, want := range map[string]phase{
		"pending waits for a node": pending, "impossible no such queue": pending, "Running": running, "ended": ended, "lost": lost,
		"forgotten": forgotten, "whatever": unknown, "": unknown, "!no": unknown, "hangs": unknown,
	} {
		g, err := newGeneral(tools{run: &programs{t: t, answers: map[string]string{"st": out}}}, Commands{Submit: []string{"s", "{script}"}, Status: []string{"st", "{id}"}, Cancel: []string{"c", "{id}"}})
		if err != nil {
			t.Fatal(err)
		}
		st := g.state(t.Context(), "1")
		wants(t, out, st.phase, want)
		wants(t, out+": impossible", st.impossible, strings.HasPrefix(out, "impossible"))
	}
}

// background is a scheduler of three shell commands: it starts jobs at once, on
// this machine. The jobs are the real ones, executed by Serve.
func background(t *testing.T, dir string) Options {
	t.Helper()
	return Options{
		Local: local(t), Self: testBinary(t), WorkDir: dir, Poll: 40 * time.Millisecond, ResultLimit: 2 * time.Second, Env: []string{"PATH=" + os.Getenv("PATH"), "GORACE=atexit_sleep_ms=0"},
		Commands: &Commands{
			// It waits until the job has left the group of this command, which is ended with it.
			Submit: []string{"sh", "-c", `setsid "$1" >/dev/null 2>&1 & p=$!
				while [ -d /proc/$p ] && [ "$(cut -d' ' -f6 /proc/$p/stat)" != $p ]; do :; done; echo $p`, "submit", "{script}"},
			Status: []string{"sh", "-c", `if kill -0 "$1" 2>/dev/null && ! grep -q '^State:.Z' /proc/$1/status; then echo running; else echo ended; fi`, "status", "{id}"},
			Cancel: []string{"sh", "-c", `kill -TERM "$1" 2>/dev/null || true`, "cancel", "{id}"},
		},
	}
}

func mustNew(t *testing.T, o Options) *Launcher {
	t.Helper()
	l, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := l.Sweep(context.Background(), nil); err != nil {
			t.Errorf("sweep: %v", err)
		}
	})
	return l
}

func TestRealJobs(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("needs /proc: the jobs of this test are watched there")
	}
	dir := filepath.Join(t.TempDir(), "it's 100% shared")
	l := mustNew(t, background(t, filepath.Join(dir, "work")))
	tree := filepath.Join(dir, "tree")
	if err := os.Mkdir(tree, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Run("success", func(t *testing.T) {
		report, err := l.Launch(t.Context(), Place{Key: "ok"}, shellIn(tree, "pwd; exit 7"))
		if err != nil {
			t.Fatal(err)
		}
		wants(t, "code", report.Code, 7)
		wants(t, "output", string(report.Stdout.Head), tree+"\n")
		host, _ := os.Hostname()
		wants(t, "node", report.Node, host)
	})
	t.Run("environment", func(t *testing.T) { testEnvironment(t, l, tree) })
	t.Run("leftovers are ended", func(t *testing.T) {
		report, err := l.Launch(t.Context(), Place{Key: "left"}, shellIn(tree, "setsid sleep 300 >/dev/null 2>&1 & echo $!"))
		if err != nil {
			t.Fatal(err)
		}
		wants(t, "swept", report.Swept, 1)
		pid, err := strconv.Atoi(strings.TrimSpace(string(report.Stdout.Head)))
		if err != nil || !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			t.Errorf("process %d is left, %v", pid, err)
		}
	})
	t.Run("time limit", func(t *testing.T) {
		c := shellIn(tree, "echo begun; sleep 300")
		c.Wall, c.Grace = 200*time.Millisecond, 100*time.Millisecond
		report, err := l.Launch(t.Context(), Place{Key: "slow"}, c)
		if err != nil {
			t.Fatal(err)
		}
		wants(t, "outcome", report.Outcome, proc.TimedOut)
		wants(t, "output", string(report.Stdout.Head), "begun\n")
	})
	t.Run("the command kills its job", func(t *testing.T) {
		_, err := l.Launch(t.Context(), Place{Key: "suicide"}, shellIn(tree, `p=$PPID; p=$(sed -n 's/^PPid:.//p' /proc/$p/status); kill -9 $p; sleep 1`))
		if !errors.Is(err, ErrUndecided) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("cancel", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		l.o.Watch = func(p Progress) {
			if p.State == "running" {
				cancel()
			}
		}
		c := shellIn(tree, "sleep 300")
		c.Grace = 100 * time.Millisecond
		report, err := l.Launch(ctx, Place{Key: "cancelled"}, c)
		if err != nil {
			t.Fatal(err)
		}
		wants(t, "outcome", report.Outcome, proc.Cancelled)
	})
}

// testEnvironment has the edge in it: the kernel takes one variable of up to
// 128 KiB, and a longer one is the same error as it is without a scheduler.
func testEnvironment(t *testing.T, l *Launcher, tree string) {
	t.Helper()
	c := shellIn(tree, "env -0")
	c.Env = append(c.Env, "BIG="+strings.Repeat("x", 127<<10), "ODD= a\n'b'\t\"$c\" \xfe", "EMPTY=", "odd.name-1=v")
	c.Stdout.HeadMax = 1 << 20
	report, err := l.Launch(t.Context(), Place{Key: "env"}, c)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSuffix(string(report.Stdout.Head), "\x00"), "\x00")
	got = slices.DeleteFunc(got, func(s string) bool {
		name, _, _ := strings.Cut(s, "=")
		return slices.Contains([]string{"PWD", "SHLVL", "_", "OLDPWD", proc.MarkVariable}, name)
	})
	want := slices.DeleteFunc(slices.Clone(c.Env), func(s string) bool { return strings.HasPrefix(s, "odd.name-1") })
	got = slices.DeleteFunc(got, func(s string) bool { return strings.HasPrefix(s, "odd.name-1") }) // some shells drop such names
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got %d variables, want %d: %.300q", len(got), len(want), got)
	}
	c.Env = append(c.Env, "BIG="+strings.Repeat("x", 200<<10))
	if _, err := l.Launch(t.Context(), Place{Key: "too big"}, c); err == nil || !strings.Contains(err.Error(), "argument list too long") {
		t.Errorf("200 KiB in one variable: %v", err)
	}
}
