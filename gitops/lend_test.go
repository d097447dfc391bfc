package gitops

import (
	"os"
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
	if packs, _ := filepath.Glob(filepath.Join(quoteGlob(r.Lent()), "*", "objects", "pack", "*.pack")); len(packs) != 2 {
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

// quoteGlob keeps the characters of a path from being a pattern.
func quoteGlob(path string) string {
	return strings.NewReplacer(`[`, `\[`, `*`, `\*`, `?`, `\?`).Replace(path)
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
