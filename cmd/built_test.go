package cmd_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

// builds holds the programs that several tests run: each is built once.
type builds struct {
	*testing.M
	dir    string
	doomed func() (string, error)
	si     func() (string, error)
}

// built is set by TestMain.
var built *builds

func newBuilds(m *testing.M) *builds {
	b := &builds{M: m}
	b.doomed = sync.OnceValues(func() (string, error) { return b.build("doomed", "test", "-c", ".") })
	b.si = sync.OnceValues(func() (string, error) { return b.build("si", "build", "./si") })
	return b
}

// Run runs the tests and removes what was built for them.
func (b *builds) Run() int {
	defer func() { _ = os.RemoveAll(b.dir) }()
	return b.M.Run()
}

// build calls go with its verb, the output and the rest.
func (b *builds) build(name string, args ...string) (string, error) {
	if b.dir == "" {
		dir, err := os.MkdirTemp("", "si-built-")
		if err != nil {
			return "", err
		}
		b.dir = dir
	}
	path := filepath.Join(b.dir, name)
	// Without symbols, linking costs less than half.
	command := slices.Concat(args[:len(args)-1], []string{"-ldflags=-s -w", "-o", path}, args[len(args)-1:])
	if out, err := exec.Command("go", command...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("go %q: %w\n%s", command, err, out)
	}
	return path, nil
}

// buildDoomed builds this test as a program without the race detector, which
// makes a start five times as expensive; hundreds are needed. It lies in a folder of
// its own in which it has the names of the other programs too.
func buildDoomed(t *testing.T) string {
	t.Helper()
	from, err := built.doomed()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"doomed", "si", "agent", "noisy"} {
		if err := os.Link(from, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "doomed")
}

// buildSi builds the program itself.
func buildSi(tb testing.TB) string {
	tb.Helper()
	path, err := built.si()
	if err != nil {
		tb.Fatal(err)
	}
	return path
}
