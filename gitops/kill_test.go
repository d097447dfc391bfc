package gitops

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
)

// blocking makes every checkout stop at a file until it is killed. started
// returns when one has got there; unblock lets later ones through.
func (f *fixture) blocking() (base string, started, unblock func()) {
	f.t.Helper()
	f.write(".gitattributes", "z.txt filter=block\n")
	f.write("z.txt", "last\n")
	base = f.commit("blocked")
	pipe := filepath.Join(filepath.Dir(f.dir), "pipe")
	f.must(syscall.Mkfifo(pipe, 0o600))
	f.git("config", "filter.block.smudge", "echo here > '"+pipe+"'; sleep 1000")
	started = func() {
		f.t.Helper()
		_, err := os.ReadFile(pipe) // opening waits for the writer
		f.must(err)
	}
	return base, started, func() { f.git("config", "--unset", "filter.block.smudge") }
}

func TestKilledLayingIsRecovered(t *testing.T) {
	for _, kind := range []kind{linked, cloned} {
		t.Run(string(kind), func(t *testing.T) {
			f := newFixture(t)
			base, started, unblock := f.blocking()
			r := f.open()
			path := filepath.Join(f.root(), "w")
			lay := r.Worktree
			if kind == cloned {
				lay = r.Clone
			}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error)
			go func() {
				_, err := lay(ctx, path, base)
				done <- err
			}()
			started()
			cancel()
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Fatalf("got %v", err)
			}
			absent(t, path)
			if list := r.registrations(); len(list) != 0 {
				t.Errorf("registered: %v", list)
			}
			unblock()
			w, err := lay(t.Context(), path, base)
			f.must(err)
			if got := content(t, path)["z.txt"]; got != "last\n" || w.Note() != "" {
				t.Errorf("%q, note %q", got, w.Note())
			}
		})
	}
}

// A kill -9 of git worktree add leaves a folder half laid and an entry that is
// locked as "initializing".
func TestKilledWorktreeAddIsRecovered(t *testing.T) {
	f := newFixture(t)
	base, started, unblock := f.blocking()
	r := f.open()
	path := filepath.Join(f.root(), "measure")
	cmd := exec.CommandContext(t.Context(), "git", "worktree", "add", "--detach", path, base)
	cmd.Dir, cmd.Env = f.dir, f.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	f.must(cmd.Start())
	started()
	f.must(syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL))
	_ = cmd.Wait()
	unblock()
	list := r.registrations()
	if len(list) != 1 || list[0].lock != "initializing" {
		t.Fatalf("the kill left %+v", list)
	}
	w := f.worktree(r, base)
	if !strings.HasPrefix(w.Note(), "replaced") {
		t.Errorf("note %q", w.Note())
	}
	if got := content(t, path); !reflect.DeepEqual(got, map[string]string{
		".gitattributes": "z.txt filter=block\n", "a.txt": "one\n", "dir/b.txt": "two\n", "z.txt": "last\n",
	}) {
		t.Errorf("%q", got)
	}
	if list := r.registrations(); len(list) != 1 || !strings.HasPrefix(list[0].lock, "si: ") {
		t.Errorf("registered: %+v", list)
	}
}
