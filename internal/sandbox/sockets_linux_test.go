package sandbox

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
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
