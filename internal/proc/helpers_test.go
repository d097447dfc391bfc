package proc

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// bench is a runner with a mark and a token of its own, which at the end of its
// test leaves nothing behind, even if the test fails.
type bench struct {
	*Local
	self, token, registry string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	token := fmt.Sprintf("%s-%d", strings.ReplaceAll(t.Name(), "/", "-"), time.Now().UnixNano())
	b := &bench{self: self, token: token, registry: filepath.Join(t.TempDir(), "registry")}
	b.Local = New(Options{Self: self, Mark: token, Registry: b.registry})
	t.Cleanup(func() {
		for _, pid := range b.living() {
			process, _ := os.FindProcess(pid)
			_ = process.Kill()
		}
	})
	return b
}

// child is a command that runs mode, with the token as its last argument.
func (b *bench) child(mode string, args ...string) Command {
	return Command{Path: b.self, Args: append(append([]string{childArg, mode}, args...), b.token)}
}

// atOnce spares this program, where it is a supervisor, the second that the race
// detector waits at the end.
const atOnce = "GORACE=atexit_sleep_ms=0"

func (b *bench) Run(ctx context.Context, c Command) (Result, error) {
	c.Env = append(slices.Clone(c.Env), atOnce)
	return b.Local.Run(ctx, c)
}

func (b *bench) run(t *testing.T, c Command) Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	res, err := b.Run(ctx, c)
	if err != nil {
		t.Fatalf("run %s %v: %v", c.Path, c.Args, err)
	}
	return res
}

// living finds the bench's processes by mark and by token, zombies excepted.
func (b *bench) living() []int {
	var pids []int
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		env, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		args, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if bytes.Contains(env, []byte(b.token)) || bytes.Contains(args, []byte(b.token)) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func (b *bench) noneLeft(t *testing.T) {
	t.Helper()
	if pids := b.living(); len(pids) > 0 {
		t.Errorf("processes %v are left", pids)
	}
}

// eventually waits until done is true.
func eventually(t *testing.T, limit time.Duration, what string, done func() bool) {
	t.Helper()
	poll(limit, nil, done)
	if !done() {
		t.Fatalf("after %v: not %s", limit, what)
	}
}

// took fails when f took longer than limit.
func took(t *testing.T, limit time.Duration, f func()) {
	t.Helper()
	began := time.Now()
	f()
	if d := time.Since(began); d > limit {
		t.Errorf("took %v, want at most %v", d, limit)
	}
}

// both runs a test for supervised and unsupervised children.
func both(t *testing.T, f func(t *testing.T, b *bench, supervised bool)) {
	t.Helper()
	for name, supervised := range map[string]bool{"supervised": true, "direct": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f(t, newBench(t), supervised)
		})
	}
}

func itoa(n int) string { return strconv.Itoa(n) }

func atoi(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}
