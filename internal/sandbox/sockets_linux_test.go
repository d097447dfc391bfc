package sandbox

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"si/internal/proc"
)

// served opens a socket in a new folder below parent, which answers nobody.
func served(t *testing.T, parent string) string {
	t.Helper()
	dir, err := os.MkdirTemp(parent, "si-sandbox-test-")
	if err != nil {
		t.Skipf("no folder for a socket in %s: %v", parent, err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "socket")
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", path)
	if err != nil {
		t.Skipf("no socket in %s: %v", parent, err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return path
}

// A benchmark reaches no socket of the machine: in /run, in a folder that nobody has
// heard of, in the folder of X11, or one without a file (an abstract one).
func TestSocketsAreOutOfReach(t *testing.T) {
	b := newBox(t, Bubblewrap)
	home, err := os.UserHomeDir()
	if err != nil {
		t.Skip(err)
	}
	abstract, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", "@si-sandbox-test-"+itoa(os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = abstract.Close() })
	for name, path := range map[string]string{
		"run": served(t, "/run"), "a folder of the user's": served(t, home), "the shared one": served(t, "/tmp"), "abstract": abstract.Addr().String(),
	} {
		t.Run(name, func(t *testing.T) {
			if !reaches(path) {
				t.Fatal("the test itself does not reach it")
			}
			p := Benchmark(User{Home: b.at("userhome")}, BenchmarkPlaces{Tree: b.tree, Home: b.home, Tmp: b.tmp})
			p.ReadOnly = append(p.ReadOnly, b.self)
			if res := b.child(t, p, "reach", path); res.Code != 1 {
				t.Errorf("the benchmark reaches %s: code %d, %s%s", path, res.Code, res.Stdout.Tail, res.Stderr.Tail)
			}
		})
	}
}

func TestSocketTable(t *testing.T) {
	table := filepath.Join(t.TempDir(), "unix")
	lines := []string{
		"Num       RefCount Protocol Flags    Type St Inode Path",
		"0000000000000000: 00000002 00000000 00010000 0001 01 1 /run/docker.sock",
		"0000000000000000: 00000002 00000000 00010000 0001 01 2 /home/ada/my socket",
		"0000000000000000: 00000002 00000000 00010000 0001 01 2 /home/ada/my socket",
		"0000000000000000: 00000002 00000000 00010000 0001 01 3 @/tmp/.X11-unix/X0",
		"0000000000000000: 00000002 00000000 00010000 0001 01 4 /tmp/.X11-unix/X0",
		"0000000000000000: 00000003 00000000 00000000 0001 03 5",
	}
	if err := os.WriteFile(table, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := boundSockets(table); !slices.Equal(got, []string{"/home/ada/my socket"}) {
		t.Errorf("%q", got)
	}
	if got := boundSockets(table + "x"); got != nil {
		t.Errorf("%q of no table", got)
	}
}

// vanishing removes a folder when the first command is about to start.
type vanishing struct {
	proc.Runner
	dir   string
	calls *int
}

func (v vanishing) Run(ctx context.Context, c proc.Command) (proc.Result, error) {
	*v.calls++
	if err := os.RemoveAll(v.dir); err != nil {
		return proc.Result{}, err
	}
	return v.Runner.Run(ctx, c)
}

// A program that ends between the look for its socket and the start of a sandbox once
// failed the run that was to be kept from it.
func TestASocketMayVanish(t *testing.T) {
	t.Parallel()
	b := newBox(t, Bubblewrap)
	for name, tc := range map[string]struct {
		in    io.Reader
		works bool
	}{
		"no input": {nil, true}, "an input that can be given again": {strings.NewReader("in"), true},
		"one that cannot": {io.MultiReader(strings.NewReader("in")), false},
	} {
		dir := b.at("gone")
		mustMkdir(t, dir)
		if err := os.WriteFile(filepath.Join(dir, "socket"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		p := b.profile()
		p.Hidden = append(p.Hidden, filepath.Join(dir, "socket"))
		calls := 0
		c := b.command(p, "/bin/sh", "-c", "cat")
		c.Stdin = tc.in
		res, err := Runner{Inner: vanishing{b.Inner, dir, &calls}, Sandbox: b.Sandbox}.Run(t.Context(), c)
		switch {
		case !tc.works && (err == nil || calls != 1):
			t.Errorf("%s: %d calls, %v", name, calls, err)
		case tc.works && (err != nil || res.Code != 0 || calls != 2):
			t.Errorf("%s: %d calls, %+v, %v", name, calls, res.Outcome, err)
		case tc.works && tc.in != nil && string(res.Stdout.Head) != "in":
			t.Errorf("%s: the command read %q", name, res.Stdout.Head)
		}
	}
}
