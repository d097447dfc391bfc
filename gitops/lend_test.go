package gitops

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A clone reads the history of its commit and nothing that lies beside it: other
// branches, other candidates, the stash, and what no ref names.
func TestCloneIsLentNoMoreThanItsBase(t *testing.T) {
	f := newFixture(t)
	base := f.git("rev-parse", "HEAD")
	f.write("answers", "held out\n")
	hidden := []string{f.commit("beside")}
	f.git("branch", "beside")
	f.git("reset", "-q", "--hard", base)
	f.write("a.txt", "stashed\n")
	f.git("stash", "-q")
	hidden = append(hidden, f.git("rev-parse", "stash"), f.git("hash-object", "-w", "-t", "blob", ".git/config"))
	r := f.open()
	r.LendFrom(filepath.Join(filepath.Dir(f.dir), "le\"nt:1"))
	check := func(commit string, hidden []string) {
		t.Helper()
		w := f.clone(r, commit)
		for _, id := range hidden {
			if out, err := f.try(w.Path(), "cat-file", "-e", id); err == nil {
				t.Errorf("the clone reads %s %s", id, out)
			}
		}
		if out := f.gitIn(w.Path(), "fsck", "--full", "--strict"); strings.Contains(out, "missing") {
			t.Error(out)
		}
		if got := f.gitIn(w.Path(), "rev-parse", "HEAD"); got != commit {
			t.Errorf("HEAD %s, want %s", got, commit)
		}
		f.must(w.Remove(t.Context()))
	}
	check(base, hidden)

	// The next base adds what it brings; one from elsewhere begins anew.
	f.write("a.txt", "next\n")
	next := f.commit("next")
	had := f.runs.n.Load()
	check(next, hidden)
	if packs, _ := filepath.Glob(filepath.Join(quotedGlob(r.Lent()), "*", "objects", "pack", "*.pack")); len(packs) != 2 {
		t.Errorf("packs %q", packs)
	}
	check(next, hidden)
	if n := f.runs.n.Load() - had; n > 6 { // the ancestor, a pack, two checkouts
		t.Errorf("%d processes", n)
	}
	f.git("checkout", "-q", "beside")
	check(hidden[0], append(hidden[1:], next))
	f.must(r.Close())
}

// A pack that a kill cut short is made anew.
func TestLendingGoesOnAfterAKill(t *testing.T) {
	f := newFixture(t)
	base := f.git("rev-parse", "HEAD")
	r := f.open()
	r.LendFrom(filepath.Join(filepath.Dir(f.dir), "lent"))
	dir := filepath.Join(r.Lent(), digest(r.CommonDir()), "objects", "pack")
	f.must(os.MkdirAll(dir, 0o755))
	f.must(os.WriteFile(filepath.Join(dir, "tmp_pack_x"), []byte("half"), 0o600))
	w := f.clone(r, base)
	f.gitIn(w.Path(), "fsck", "--full")
	if _, err := os.Stat(filepath.Join(dir, "tmp_pack_x")); err == nil {
		t.Error("what was cut short is still there")
	}
}

// A partial clone lends what it has of the base and nothing beside it, whether it lacks
// contents or folders, too.
func TestPartialCloneIsLentNoMoreThanItsBase(t *testing.T) {
	for _, filter := range []string{"blob:none", "tree:0"} {
		t.Run(filter, func(t *testing.T) {
			f := newFixture(t)
			f.write("sub/old.txt", "old\n")
			f.commit("old")
			f.write("sub/old.txt", "new\n")
			f.commit("new")
			f.git("config", "uploadpack.allowFilter", "true")
			f.git("config", "uploadpack.allowAnySHA1InWant", "true")
			origin := f.dir
			f.dir = filepath.Join(filepath.Dir(f.dir), "partial")
			f.gitIn(origin, "clone", "-q", "--filter="+filter, "file://"+origin, f.dir)
			f.write("answers", "held out\n")
			hidden := f.commit("beside")
			f.git("branch", "beside")
			f.git("reset", "-q", "--hard", "HEAD~1")
			base := f.git("rev-parse", "HEAD")
			r := f.open()
			r.LendFrom(filepath.Join(filepath.Dir(f.dir), "lent"))
			w := f.clone(r, base)
			for _, id := range []string{hidden, f.git("rev-parse", hidden+":answers")} {
				if out, err := f.try(w.Path(), "cat-file", "-e", id); err == nil {
					t.Errorf("the clone reads %s %s", id, out)
				}
			}
			if out := f.gitIn(w.Path(), "status", "--porcelain"); out != "" {
				t.Errorf("status %q", out)
			}
			if got := f.gitIn(w.Path(), "cat-file", "-p", "HEAD:sub/old.txt"); got != "new" {
				t.Errorf("the clone's own file is %q", got)
			}
			f.must(w.Remove(t.Context()))
			f.must(r.Close())
		})
	}
}

// Git in a linked worktree of an agent reads the base and writes beside the store.
func TestWorktreeIsLentNoMoreThanItsBase(t *testing.T) {
	f := newFixture(t)
	base := f.git("rev-parse", "HEAD")
	f.write("answers", "held out\n")
	hidden := f.commit("beside")
	r := f.open()
	top := filepath.Dir(f.dir)
	r.LendFrom(filepath.Join(top, "lent"))
	w, err := r.Worktree(t.Context(), filepath.Join(top, "wt"), base)
	f.must(err)
	own := filepath.Join(top, "own")
	f.must(r.Lend(t.Context(), base))
	admin, env, err := r.LentTo(w.Path(), own)
	f.must(err)
	if dir, err := filepath.EvalSymlinks(filepath.Join(r.CommonDir(), "worktrees")); err != nil || filepath.Dir(admin) != dir {
		t.Errorf("its part is %s, not in %s, %v", admin, dir, err)
	}
	objects := filepath.Join(r.CommonDir(), "objects")
	f.must(os.Rename(objects, objects+"-hidden")) // as the sandbox does
	f.must(os.Mkdir(objects, 0o755))
	git := func(args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir, cmd.Env = w.Path(), append(os.Environ(), env...)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := git("cat-file", "-e", hidden); err == nil {
		t.Errorf("the worktree reads %s %s", hidden, out)
	}
	f.must(os.WriteFile(filepath.Join(w.Path(), "mine"), []byte("x"), 0o600))
	for _, args := range [][]string{{"status"}, {"log", "-p"}, {"add", "mine"}, {"-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "mine"}, {"diff", "HEAD~1"}} {
		if out, err := git(args...); err != nil {
			t.Errorf("git %v: %v %s", args, err, out)
		}
	}
	if entries, err := os.ReadDir(objects); err != nil || len(entries) > 0 {
		t.Errorf("the repository's store has %v, %v", entries, err)
	}
	f.must(os.Remove(objects))
	f.must(os.Rename(objects+"-hidden", objects))
	f.must(w.Remove(t.Context()))
	if _, _, err := r.LentTo(w.Path(), own); err == nil {
		t.Error("a worktree that is gone is lent objects")
	}
	f.must(r.Close())
}
