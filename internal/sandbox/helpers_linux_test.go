package sandbox

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"si/internal/proc"
)

const childArg = "__sandbox_test_child"

func TestMain(m *testing.M) {
	if code, was := proc.Supervise(os.Args); was {
		syscall.Exit(code) // os.Exit waits a second under the race detector
	}
	if code, was := Exec(os.Args); was {
		syscall.Exit(code) // os.Exit waits a second under the race detector
	}
	if len(os.Args) > 2 && os.Args[1] == childArg {
		os.Exit(childMode(os.Args[2], os.Args[3:]))
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(built.dir)
		os.Exit(code)
	}))
}

// selfKey names the program that starts the children, where it is built already.
const selfKey = "SANDBOX_TEST_SELF"

// built is this test as a program without the race detector, which makes a start five
// times as expensive; each run of a command in a sandbox is three of them.
var built struct {
	once sync.Once
	dir  string
	err  error
}

func selfOf(tb testing.TB) string {
	tb.Helper()
	if self := os.Getenv(selfKey); self != "" {
		return self
	}
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "si-sandbox-test-"); built.err != nil {
			return
		}
		if built.err = os.Chmod(built.dir, 0o755); built.err != nil { // other users run it, too
			return
		}
		if out, err := exec.Command("go", "test", "-c", "-o", filepath.Join(built.dir, "self"), ".").CombinedOutput(); err != nil {
			built.err = fmt.Errorf("build the test without the race detector: %w\n%s", err, out)
		}
	})
	if built.err != nil {
		tb.Fatal(built.err)
	}
	return filepath.Join(built.dir, "self")
}

// childMode is what the tests' commands do that a shell cannot.
func childMode(mode string, args []string) int {
	n := 0
	if len(args) > 0 {
		n, _ = strconv.Atoi(args[0])
	}
	switch mode {
	case "dial":
		if connects(n) {
			return 0
		}
		return 1
	case "reach":
		if reaches(args[0]) {
			return 0
		}
		return 1
	case "burn": // n ms of CPU
		var u unix.Rusage
		for x := 1; u.Utime.Nano() < int64(n)*int64(time.Millisecond) && x != 0; {
			for range 1_000_000 {
				x = x*1664525 | 1
			}
			_ = unix.Getrusage(unix.RUSAGE_SELF, &u)
		}
	case "remember":
		return remember(args[0])
	case "recall":
		return recall(args[0])
	case "umount":
		err := unix.Unmount(args[0], unix.MNT_DETACH)
		fmt.Println(err)
		if err == nil {
			return 0
		}
		return 1
	default:
		return 99
	}
	return 0
}

// reaches tells whether a socket of the machine takes a connection.
func reaches(path string) bool {
	c, err := (&net.Dialer{}).DialContext(context.Background(), "unix", path)
	if err != nil {
		return false
	}
	return c.Close() == nil
}

// box is a sandbox with folders of every kind.
type box struct {
	Runner
	self, root, tree, home, tmp, outside string
}

func (b *box) at(name string) string { return filepath.Join(b.root, name) }

func newRunner(tb testing.TB) (proc.Runner, string) {
	tb.Helper()
	self := selfOf(tb)
	return proc.New(proc.Options{Self: self, Mark: fmt.Sprintf("sandbox-test-%d", os.Getpid())}), self
}

// newBox skips the test where the kind does not work, with the reason.
func newBox(tb testing.TB, kind Kind) *box {
	tb.Helper()
	run, self := newRunner(tb)
	s := New(context.Background(), Options{Run: run, Self: self, Path: os.Getenv("PATH"), Only: []Kind{kind}})
	if got := s.Report().Kind; got != kind {
		tb.Skipf("no %s on this machine: %s", kind, s.Report())
	}
	b := &box{Runner: Runner{Inner: run, Sandbox: s}, self: self, root: tb.TempDir()}
	b.tree, b.home, b.tmp, b.outside = b.at("tree"), b.at("home"), b.at("tmp"), b.at("outside")
	for _, dir := range []string{b.tree, b.home, b.tmp, b.outside} {
		mustMkdir(tb, dir)
	}
	git := exec.Command("git", "init", "-q", b.tree)
	git.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + b.home}
	if out, err := git.CombinedOutput(); err != nil {
		tb.Fatalf("git init: %v\n%s", err, out)
	}
	return b
}

// profile is a benchmark's, but that the system's folder for temporary files, in
// which all of this is, stays visible.
func (b *box) profile() Profile {
	p := Benchmark(User{Home: b.at("userhome")}, BenchmarkPlaces{Tree: b.tree, Home: b.home, Tmp: b.tmp})
	p.Private = nil
	return p
}

func (b *box) command(p Profile, name string, args ...string) proc.Command {
	return proc.Command{
		Path: name, Args: args, Dir: b.tree, Contain: &p, Wall: time.Minute,
		Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + b.home, "TMPDIR=" + b.tmp, "LC_ALL=C", "SELF=" + b.self, "ROOT=" + b.root},
	}
}

func (b *box) run(tb testing.TB, c proc.Command) proc.Result {
	tb.Helper()
	res, err := b.Run(context.Background(), c)
	if err != nil {
		tb.Fatalf("run %s %v: %v", c.Path, c.Args, err)
	}
	return res
}

// sh runs a script in the tree.
func (b *box) sh(tb testing.TB, p Profile, script string) proc.Result {
	tb.Helper()
	return b.run(tb, b.command(p, "/bin/sh", "-c", script))
}

func (b *box) child(tb testing.TB, p Profile, mode string, args ...string) proc.Result {
	tb.Helper()
	return b.run(tb, b.command(p, b.self, append([]string{childArg, mode}, args...)...))
}

// wants fails unless the script succeeds.
func (b *box) wants(t *testing.T, p Profile, script string) {
	t.Helper()
	if res := b.sh(t, p, script); res.Outcome != proc.Exited || res.Code != 0 {
		t.Errorf("%s: %s %d, want success\n%s%s", script, res.Outcome, res.Code, res.Stdout.Tail, res.Stderr.Tail)
	}
}

// refuses fails unless each of the scripts is refused, for a reason that a sandbox
// has. They run one after the other in one sandbox.
func (b *box) refuses(t *testing.T, p Profile, scripts ...string) {
	t.Helper()
	const each = `for s; do said=$(sh -c "$s" 2>&1); echo "$? $said" | tr '\n' ' '; echo; done`
	res := b.run(t, b.command(p, "/bin/sh", append([]string{"-c", each, "sh"}, scripts...)...))
	lines := strings.Split(trimmed(res.Stdout.Head), "\n")
	if len(lines) != len(scripts) {
		t.Fatalf("%d scripts gave %q %q", len(scripts), lines, res.Stderr.Tail)
	}
	for i, line := range lines {
		if strings.HasPrefix(line, "0 ") {
			t.Errorf("%s: succeeded, want it refused: %s", scripts[i], line)
		}
		if !containsAny(line, "denied", "Read-only", "busy", "No such file", "cross-device", "not permitted", "nonexistent") {
			t.Errorf("%s: refused for another reason: %s", scripts[i], line)
		}
	}
}

// each runs a test in every kind of sandbox that works here.
func each(t *testing.T, f func(t *testing.T, b *box)) {
	t.Helper()
	for _, kind := range []Kind{Bubblewrap, Landlock} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			f(t, newBox(t, kind))
		})
	}
}

func itoa(n int) string { return strconv.Itoa(n) }

func trimmed(b []byte) string { return strings.TrimSpace(string(b)) }
