package gitops

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// hostile sets every configuration that has stopped or fooled such a program.
// Whatever it runs leaves a file, whose path is given.
func (f *fixture) hostile() (trace string) {
	f.t.Helper()
	trace = filepath.Join(filepath.Dir(f.dir), "hook ran")
	for _, dir := range []string{"hooks", ".githooks"} {
		for _, hook := range []string{"post-checkout", "pre-commit", "post-index-change", "reference-transaction", "pre-push", "post-merge"} {
			path := filepath.Join(f.dir, ".git", dir, hook)
			f.must(os.MkdirAll(filepath.Dir(path), 0o755))
			f.must(os.WriteFile(path, []byte("#!/bin/sh\ntouch '"+trace+"'\nexit 1\n"), 0o755))
		}
	}
	for key, value := range map[string]string{
		"core.hooksPath": ".git/.githooks", "commit.gpgsign": "true", "tag.gpgsign": "true", "gpg.program": "false",
		"core.fsmonitor": "touch '" + trace + "'; false", "core.editor": "false", "user.useConfigOnly": "true",
		"commit.template": "/nowhere", "core.untrackedCache": "true", "core.splitIndex": "true",
		"merge.ff": "only", "core.checkStat": "minimal", "core.trustctime": "false",
	} {
		f.git("config", key, value)
	}
	return trace
}

func absent(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Lstat(path); err == nil {
		t.Errorf("%s is there", path)
	}
}

func TestWorkspacesUnderAHostileConfiguration(t *testing.T) {
	f := newFixture(t)
	base := f.git("rev-parse", "HEAD")
	trace := f.hostile()
	r := f.open()
	m := f.worktree(r, base)
	w := f.clone(r, base)
	want := map[string]string{"a.txt": "one\n", "dir/b.txt": "two\n"}
	for _, ws := range []*Workspace{m, w} {
		if got := content(t, ws.Path()); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q", ws.Path(), got)
		}
		if ws.Note() != "" || len(ws.Warnings()) != 0 {
			t.Errorf("%q %q", ws.Note(), ws.Warnings())
		}
	}
	put(t, filepath.Join(w.Path(), "a.txt"), "two\n")
	c, _ := f.collect(r, w, base)
	f.must(r.MoveRef(t.Context(), "refs/heads/experiment/x", c.ID, ""))
	merge, err := r.Merge(t.Context(), base, c.ID, meta("merge"))
	f.must(err)
	f.must(m.Reset(t.Context(), merge.Commit))
	f.must(m.Remove(t.Context()))
	absent(t, trace)
}

func TestCloneKnowsNothingOfTheTarget(t *testing.T) {
	f := newFixture(t)
	base := f.git("rev-parse", "HEAD")
	f.git("config", "core.autocrlf", "true")
	f.git("branch", "other")
	f.git("tag", "v1")
	put(t, filepath.Join(f.root(), "template/hooks/post-commit"), "#!/bin/sh\n")
	f.git("config", "--global", "init.templateDir", filepath.Join(f.root(), "template"))
	f.git("remote", "add", "origin", "/nowhere")
	w := f.clone(f.open(), base)
	if got := f.gitIn(w.Path(), "for-each-ref", "--format=%(refname)"); got != "refs/heads/candidate" {
		t.Errorf("refs %q", got)
	}
	if got := f.gitIn(w.Path(), "remote"); got != "" {
		t.Errorf("remotes %q", got)
	}
	if got := content(t, w.Path())["a.txt"]; got != "one\r\n" {
		t.Errorf("line ends of the target's setting are lost: %q", got)
	}
	if got := f.gitIn(w.Path(), "status", "--porcelain"); got != "" {
		t.Errorf("status %q", got)
	}
	if got := f.gitIn(w.Path(), "log", "--format=%H"); got != base {
		t.Errorf("log %q", got)
	}
	absent(t, filepath.Join(w.Path(), ".git/hooks/post-commit"))
	before := f.git("for-each-ref")
	f.gitIn(w.Path(), "commit", "-q", "--allow-empty", "-m", "agent's")
	f.gitIn(w.Path(), "branch", "-f", "main", "HEAD")
	if after := f.git("for-each-ref"); after != before {
		t.Errorf("the target's refs moved: %s", after)
	}
}

func TestWorktreeIsLockedAndDetached(t *testing.T) {
	f := newFixture(t)
	base := f.git("rev-parse", "HEAD")
	config, err := os.ReadFile(filepath.Join(f.dir, ".git/config"))
	f.must(err)
	w := f.worktree(f.open(), base)
	list := f.git("worktree", "list", "--porcelain")
	if !strings.Contains(list, "worktree "+w.Path()) || !strings.Contains(list, "detached\nlocked si: ") {
		t.Errorf("%s", list)
	}
	if got := f.gitIn(w.Path(), "status", "--porcelain"); got != "" {
		t.Errorf("status %q", got)
	}
	if after, _ := os.ReadFile(filepath.Join(f.dir, ".git/config")); string(after) != string(config) {
		t.Error(".git/config was written")
	}
	f.must(w.Remove(t.Context()))
	if list := f.git("worktree", "list", "--porcelain"); strings.Count(list, "worktree ") != 1 {
		t.Errorf("after Remove: %s", list)
	}
	absent(t, w.Path())
}

func TestRemoveLeavesNothing(t *testing.T) {
	f := newFixture(t)
	r := f.open()
	w := f.clone(r, f.git("rev-parse", "HEAD"))
	closed := filepath.Join(w.Path(), "cache", "closed")
	put(t, filepath.Join(closed, "x"), "x")
	f.must(os.Chmod(closed, 0o500))
	f.must(w.Remove(t.Context()))
	f.must(r.Close())
	if left := content(t, f.root()); len(left) != 0 && !reflect.DeepEqual(left, map[string]string{".": "/"}) {
		t.Errorf("left: %q", left)
	}
}

// What a benchmark can do to the folder that it runs in.
func TestResetIsExact(t *testing.T) {
	f := newFixture(t)
	f.write(".gitignore", "ignored/\n")
	f.write("run.sh", "x")
	f.must(os.Symlink("a.txt", filepath.Join(f.dir, "link")))
	base := f.commit("base")
	f.write("a.txt", "uno\n")
	f.git("rm", "-q", "dir/b.txt")
	next := f.commit("next")
	f.git("config", "core.trustctime", "false")
	f.git("config", "core.checkStat", "minimal")
	r := f.open()
	w := f.worktree(r, base)
	clean := content(t, w.Path())
	at := func(p string) string { return filepath.Join(w.Path(), p) }
	tests := map[string]func(){
		"same size in the same second": func() { put(t, at("a.txt"), "eno\n") },
		"with its old time": func() {
			info, err := os.Stat(at("a.txt"))
			f.must(err)
			put(t, at("a.txt"), "neo\n")
			f.must(os.Chtimes(at("a.txt"), info.ModTime(), info.ModTime()))
		},
		"untracked and ignored": func() { put(t, at("new"), "x"); put(t, at("ignored/x"), "x"); put(t, at("dir/new"), "x") },
		"empty folder":          func() { f.must(os.MkdirAll(at("empty/er"), 0o755)) },
		"repositories inside": func() {
			f.gitIn(w.Path(), "init", "-q", "inner")
			put(t, at("dir/.git/memory"), "x")
			put(t, at(".git.d/x"), "x")
		},
		"deleted": func() { f.must(os.RemoveAll(at("dir"))) },
		"folder replaced by a link to its moved self": func() {
			away := t.TempDir() + "/dir"
			f.must(os.Rename(at("dir"), away))
			f.must(os.Symlink(away, at("dir")))
		},
		"file replaced by a folder": func() { f.must(os.Remove(at("a.txt"))); put(t, at("a.txt/x"), "x") },
		"folder replaced by a file": func() { f.must(os.RemoveAll(at("dir"))); put(t, at("dir"), "x") },
		"mode":                      func() { f.must(os.Chmod(at("run.sh"), 0o755)) },
		"link":                      func() { f.must(os.Remove(at("link"))); f.must(os.Symlink("run.sh", at("link"))) },
		"closed folder":             func() { put(t, at("dir/x"), "x"); f.must(os.Chmod(at("dir"), 0o000)) },
		"index and flags": func() {
			put(t, at("a.txt"), "bad\n")
			f.gitIn(w.Path(), "add", "a.txt")
			f.gitIn(w.Path(), "update-index", "--assume-unchanged", "a.txt")
			f.gitIn(w.Path(), "update-index", "--skip-worktree", "run.sh")
			f.must(os.Remove(at("run.sh")))
		},
		"commits": func() { put(t, at("c"), "c"); f.gitIn(w.Path(), "add", "c"); f.gitIn(w.Path(), "commit", "-qm", "c") },
		"its git folder": func() {
			put(t, filepath.Join(r.adminOf(w.Path()), "memory/x"), "x")
			put(t, filepath.Join(r.adminOf(w.Path()), "commondir"), "/nowhere\n")
		},
		"sparse": func() {
			f.gitIn(w.Path(), "-c", "extensions.worktreeConfig=false", "sparse-checkout", "set", "--no-cone", "/a.txt")
		},
	}
	for name, damage := range tests {
		t.Run(name, func(t *testing.T) {
			damage()
			f.must(w.Reset(t.Context(), base))
			if got := content(t, w.Path()); !reflect.DeepEqual(got, clean) {
				t.Errorf("got %q\nwant %q", got, clean)
			}
			absent(t, filepath.Join(r.adminOf(w.Path()), "memory"))
			if got := f.gitIn(w.Path(), "status", "--porcelain", "--ignored") + f.gitIn(w.Path(), "rev-parse", "HEAD"); got != base {
				t.Errorf("git in the worktree sees %q", got)
			}
		})
	}
	f.must(w.Reset(t.Context(), next))
	if got := content(t, w.Path()); got["a.txt"] != "uno\n" || got["dir/b.txt"] != "" || got["dir"] != "" {
		t.Errorf("next: %q", got)
	}
}

func TestDirtyIsTrackedOnly(t *testing.T) {
	f := newFixture(t)
	w := f.worktree(f.open(), f.git("rev-parse", "HEAD"))
	put(t, filepath.Join(w.Path(), "new"), "x")
	if got, err := w.Dirty(t.Context()); len(got) != 0 || err != nil {
		t.Errorf("%q %v", got, err)
	}
	put(t, filepath.Join(w.Path(), "a.txt"), "eno\n")
	f.must(os.Remove(filepath.Join(w.Path(), "dir/b.txt")))
	if got, err := w.Dirty(t.Context()); !reflect.DeepEqual(got, []string{"a.txt", "dir/b.txt"}) || err != nil {
		t.Errorf("%q %v", got, err)
	}
}

func TestSparseCheckoutDoesNotSpread(t *testing.T) {
	f := newFixture(t)
	base := f.git("rev-parse", "HEAD")
	f.git("sparse-checkout", "set", "--cone", "--sparse-index", "none")
	absent(t, filepath.Join(f.dir, "dir/b.txt"))
	r := f.open()
	for _, w := range []*Workspace{f.worktree(r, base), f.clone(r, base)} {
		if got := content(t, w.Path()); got["dir/b.txt"] != "two\n" {
			t.Errorf("%s: %q", w.Path(), got)
		}
		if got := f.gitIn(w.Path(), "ls-files", "-t"); strings.Contains(got, "S ") {
			t.Errorf("%s: %q", w.Path(), got)
		}
	}
	w := f.clone(r, base)
	put(t, filepath.Join(w.Path(), "dir/new"), "x")
	_, changes := f.collect(r, w, base)
	if len(changes) != 1 || changes[0].Path != "dir/new" {
		t.Errorf("%v", changes)
	}
	if dirty, err := r.DirtyPaths(t.Context()); len(dirty) != 0 || err != nil {
		t.Errorf("the sparse checkout counts as dirty: %q %v", dirty, err)
	}
}

func TestLeftoversAreReplacedOrAdopted(t *testing.T) {
	tests := []struct {
		name  string
		leave func(f *fixture, r *Repo, path, base string)
		note  string
	}{
		{"complete worktree of ours", func(f *fixture, r *Repo, _, base string) { f.worktree(r, base) }, "adopted"},
		{"its folder deleted by hand", func(f *fixture, r *Repo, path, base string) {
			f.worktree(r, base)
			f.must(os.RemoveAll(path))
		}, "replaced"},
		{"its registration gone", func(f *fixture, r *Repo, path, base string) {
			f.worktree(r, base)
			f.git("worktree", "unlock", path)
			f.must(os.RemoveAll(r.adminOf(path)))
		}, "replaced a leftover"},
		{"locks of a crash", func(f *fixture, r *Repo, path, base string) {
			w := f.worktree(r, base)
			put(f.t, w.slot.index()+".lock", "")
			put(f.t, filepath.Join(r.adminOf(path), "index.lock"), "")
			put(f.t, filepath.Join(r.adminOf(path), "HEAD.lock"), "")
		}, "adopted"},
		{"killed before it was complete", func(f *fixture, r *Repo, path, base string) {
			w, err := r.prepare(f.t.Context(), path, base, linked)
			f.must(err)
			f.must(w.register(f.t.Context()))
			put(f.t, filepath.Join(path, "half"), "x")
		}, "replaced a leftover"},
		{"registered by another program", func(f *fixture, _ *Repo, path, _ string) {
			f.git("worktree", "add", "-q", "--lock", "--detach", path)
		}, "replaced a leftover"},
		{"empty folder", func(f *fixture, _ *Repo, path, _ string) { f.must(os.MkdirAll(path, 0o755)) }, ""},
		{"registration killed before it named its folder", func(f *fixture, r *Repo, path, _ string) {
			dir := filepath.Join(r.CommonDir(), "worktrees", filepath.Base(path))
			put(f.t, filepath.Join(dir, "locked"), "initializing")
			f.must(os.Chtimes(dir, time.Time{}, time.Now().Add(-time.Hour)))
		}, "replaced a worktree registration"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t)
			r := f.open()
			base := f.git("rev-parse", "HEAD")
			path := filepath.Join(f.root(), "measure")
			f.must(os.MkdirAll(f.root(), 0o755))
			tt.leave(f, r, path, base)
			w := f.worktree(r, base)
			if tt.note == "" != (w.Note() == "" || strings.Contains(w.Note(), "leftover")) && !strings.HasPrefix(w.Note(), tt.note) {
				t.Errorf("note %q, want %q", w.Note(), tt.note)
			}
			if got := content(t, path); !reflect.DeepEqual(got, map[string]string{"a.txt": "one\n", "dir/b.txt": "two\n"}) {
				t.Errorf("%q", got)
			}
			if list := f.git("worktree", "list", "--porcelain"); strings.Count(list, "worktree ") != 2 {
				t.Errorf("%s", list)
			}
		})
	}
}

func TestForeignFolderIsRefused(t *testing.T) {
	f := newFixture(t)
	r := f.open()
	base := f.git("rev-parse", "HEAD")
	path := filepath.Join(f.root(), "measure")
	put(t, filepath.Join(path, "thesis.tex"), "years of work")
	_, errW := r.Worktree(t.Context(), path, base)
	_, errC := r.Clone(t.Context(), path, base)
	for _, err := range []error{errW, errC} {
		if err == nil || !strings.Contains(err.Error(), "did not make") {
			t.Errorf("got %v", err)
		}
	}
	for _, path := range []string{f.dir, filepath.Dir(f.dir), filepath.Join(f.dir, ".git", "x")} {
		if _, err := r.Clone(t.Context(), path, base); err == nil {
			t.Errorf("laid over %s", path)
		}
	}
	if content(t, path)["thesis.tex"] == "" || content(t, f.dir)["a.txt"] == "" {
		t.Error("it was deleted")
	}
}

func TestCancelledLayingLeavesNothing(t *testing.T) {
	f := newFixture(t)
	r := f.open()
	base := f.git("rev-parse", "HEAD")
	ctx, cancel := context.WithCancel(t.Context())
	path := filepath.Join(f.root(), "measure")
	w, err := r.prepare(ctx, path, base, linked)
	f.must(err)
	f.must(w.register(ctx))
	cancel()
	err = w.undo(w.lay(ctx, base))
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	absent(t, path)
	if list := f.git("worktree", "list", "--porcelain"); strings.Count(list, "worktree ") != 1 {
		t.Errorf("%s", list)
	}
}

func TestSweepRemovesOursOnly(t *testing.T) {
	f := newFixture(t)
	base := f.git("rev-parse", "HEAD")
	other := newFixture(t)
	r, r2 := f.open(), other.open()
	root := f.root()
	lay := func(r *Repo, rel, commit string, linked bool) *Workspace {
		t.Helper()
		layer := r.Clone
		if linked {
			layer = r.Worktree
		}
		w, err := layer(t.Context(), filepath.Join(root, rel), commit)
		f.must(err)
		return w
	}
	kept := lay(r, "round_2/keep", base, true)
	put(t, kept.slot.index()+".lock", "")
	gone := []string{lay(r, "round_1/clone", base, false).Path(), lay(r, "round_1/tree", base, true).Path()}
	foreign := lay(r2, "round_1/theirs", other.git("rev-parse", "HEAD"), false)
	put(t, filepath.Join(root, "notes.txt"), "x")
	put(t, filepath.Join(root, "round_0/.si/trash-1/x/y"), "x")
	f.git("worktree", "add", "-q", "--detach", filepath.Join(root, "users"))
	adopted := filepath.Join(f.dir, "state/worktrees/round_3_executor_1")
	f.git("worktree", "add", "-q", "--detach", adopted)
	unmounted := filepath.Join(filepath.Dir(f.dir), "usb")
	f.git("worktree", "add", "-q", "--detach", unmounted)
	f.must(os.Rename(unmounted, unmounted+"2"))
	gone = append(gone, adopted)

	removed, err := r.SweepWorkspaces(t.Context(), root, func(p string) bool { return p == kept.Path() })
	f.must(err)
	f.must(r.Close())
	if !reflect.DeepEqual(set(removed), set(gone)) {
		t.Errorf("removed %q, want %q", removed, gone)
	}
	for _, path := range gone {
		absent(t, path)
	}
	absent(t, kept.slot.index()+".lock")
	absent(t, filepath.Join(root, "round_0/.si/trash-1"))
	for _, path := range []string{kept.Path(), foreign.Path(), filepath.Join(root, "users"), filepath.Join(root, "notes.txt")} {
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("taken away: %v", err)
		}
	}
	if list := f.git("worktree", "list", "--porcelain"); strings.Count(list, "worktree ") != 4 || !strings.Contains(list, unmounted) {
		t.Errorf("%s", list)
	}
	if again, err := r.SweepWorkspaces(t.Context(), root, func(p string) bool { return p == kept.Path() }); len(again) != 0 || err != nil {
		t.Errorf("again: %q %v", again, err)
	}
}

func set(list []string) map[string]bool {
	m := map[string]bool{}
	for _, s := range list {
		m[s] = true
	}
	return m
}

func TestAttachTakesUpAfterACrash(t *testing.T) {
	f := newFixture(t)
	base := f.git("rev-parse", "HEAD")
	r := f.open()
	w := f.clone(r, base)
	put(t, filepath.Join(w.Path(), "a.txt"), "eno\n")
	again, err := f.open().Attach(t.Context(), w.Path())
	f.must(err)
	_, changes := f.collect(r, again, base)
	if len(changes) != 1 || changes[0].Path != "a.txt" {
		t.Errorf("%v", changes)
	}
	if _, err := r.Attach(t.Context(), f.dir); !errors.Is(err, ErrNotFound) {
		t.Errorf("attached to the user's checkout: %v", err)
	}
}

func TestManyWorkspacesAtOnce(t *testing.T) {
	f := newFixture(t)
	r := f.open()
	base := f.git("rev-parse", "HEAD")
	errs := make(chan error)
	for i := range 8 {
		go func() {
			lay := r.Worktree
			if i%2 == 0 {
				lay = r.Clone
			}
			w, err := lay(t.Context(), filepath.Join(f.root(), string(rune('a'+i))), base)
			if err == nil {
				err = w.Remove(t.Context())
			}
			errs <- err
		}()
	}
	for range 8 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}
