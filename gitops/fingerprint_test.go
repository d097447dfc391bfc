package gitops

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func ours(ref string) bool {
	return strings.HasPrefix(ref, "refs/heads/improve/") || strings.HasPrefix(ref, "refs/heads/experiment/") || strings.HasPrefix(ref, "refs/tags/archive/")
}

// Every kind of difference is seen, weighed, and undone by its own command.
func TestFingerprintDifferences(t *testing.T) {
	tests := []struct {
		name   string
		change func(f *fixture)
		kind   Kind
		weight Severity
		where  string // part of the name
		lost   bool   // nothing can put it back
	}{
		{"branch forced elsewhere", func(f *fixture) { f.git("branch", "-f", "side", "main~1") }, KindRef, Tampering, "refs/heads/side", false},
		{"branch deleted", func(f *fixture) { f.git("branch", "-D", "side") }, KindRef, Tampering, "refs/heads/side", false},
		{"branch committed to", func(f *fixture) { f.git("update-ref", "refs/heads/old", "main") }, KindRef, Foreign, "refs/heads/old", false},
		{"branch made", func(f *fixture) { f.git("branch", "fresh") }, KindRef, Foreign, "refs/heads/fresh", false},
		{"tag moved", func(f *fixture) { f.git("tag", "-f", "v1", "main") }, KindRef, Tampering, "refs/tags/v1", false},
		{"replacement", func(f *fixture) { f.git("replace", "main", "main~1") }, KindRef, Tampering, "refs/replace/", false},
		{"checkout", func(f *fixture) { f.git("checkout", "-q", "side") }, KindHead, Foreign, "HEAD", false},
		{"stash dropped", func(f *fixture) { f.git("stash", "drop", "-q") }, KindStash, Tampering, "refs/stash", false},
		{"stash replaced", func(f *fixture) { f.git("stash", "drop", "-q"); f.git("stash", "store", "main~1") }, KindStash, Tampering, "refs/stash", false},
		{"config", func(f *fixture) { f.git("config", "core.hooksPath", "/tmp") }, KindConfig, Tampering, ".git/config", false},
		{"config.worktree", func(f *fixture) { f.write(".git/config.worktree", "[core]\n") }, KindConfig, Tampering, "config.worktree", false},
		{"included config", func(f *fixture) { f.write(".git/more", "[core]\n\tbare = true\n") }, KindConfig, Tampering, ".git/more", false},
		{"hook made", func(f *fixture) { f.write(".git/hooks/pre-commit", "#!/bin/sh\n") }, KindHooks, Tampering, "hooks/pre-commit", false},
		{"hook switched on", func(f *fixture) { f.must(os.Chmod(filepath.Join(f.dir, ".git/hooks/mine"), 0o755)) }, KindHooks, Tampering, "hooks/mine", false},
		{"hook deleted", func(f *fixture) { f.must(os.Remove(filepath.Join(f.dir, ".git/hooks/mine"))) }, KindHooks, Tampering, "hooks/mine", false},
		{"binary hook", func(f *fixture) { f.write(".git/hooks/binary", "\x00") }, KindHooks, Tampering, "hooks/binary", false},
		{"attributes", func(f *fixture) { f.write(".git/info/attributes", "* filter=x\n") }, KindInfo, Tampering, "info/attributes", false},
		{"exclude", func(f *fixture) { f.write(".git/info/exclude", "*\n") }, KindInfo, Tampering, "info/exclude", false},
		{"staged", func(f *fixture) { f.git("update-index", "--chmod=+x", "a.txt") }, KindIndex, Foreign, "a.txt", false},
		{"unstaged", func(f *fixture) { f.git("rm", "-q", "--cached", "dir/b.txt") }, KindIndex, Foreign, "dir/b.txt", false},
		{"edited", func(f *fixture) { f.write("a.txt", "eno\n") }, KindFile, Foreign, "a.txt", false},
		{"deleted", func(f *fixture) { f.must(os.Remove(filepath.Join(f.dir, "a.txt"))) }, KindFile, Foreign, "a.txt", false},
		{"untracked", func(f *fixture) { f.write("new file", "x") }, KindFile, Foreign, "new file", false},
		{"edited while dirty", func(f *fixture) { f.write("draft", "eaten") }, KindFile, Foreign, "draft", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t)
			f.write("a.txt", "more\n")
			f.git("stash", "-q")
			f.commit("second")
			f.git("branch", "side")
			f.git("branch", "old", "main~1")
			f.git("tag", "v1", "main~1")
			f.git("config", "include.path", "more")
			f.write(".git/hooks/mine", "#!/bin/sh\necho 'it''s' %s\n\n")
			f.write(".git/hooks/binary", "\xff\x00\n")
			f.write("draft", "a night's work")
			r := f.open()
			before, err := r.Fingerprint(t.Context(), ours)
			f.must(err)
			tt.change(f)
			after, err := r.Fingerprint(t.Context(), ours)
			f.must(err)
			var found *Difference
			for _, d := range before.Compare(t.Context(), after) {
				if d.Kind == tt.kind && strings.Contains(d.Name, tt.where) {
					found = &d
				}
				if d.Severity == Tampering && d.Kind != tt.kind {
					t.Errorf("besides: %+v", d)
				}
			}
			if found == nil || found.Severity != tt.weight || found.Restore == "" != tt.lost {
				t.Fatalf("got %+v\nof %+v", found, before.Compare(t.Context(), after))
			}
			if tt.lost {
				return
			}
			shell(t, f, found.Restore)
			again, err := r.Fingerprint(t.Context(), ours)
			f.must(err)
			for _, d := range before.Compare(t.Context(), again) {
				// A stash that others made meanwhile stays; the lost one is back.
				if d.Kind == tt.kind && (d.Kind != KindStash || !strings.Contains(d.After, d.Before)) {
					t.Errorf("%s\nleft %+v", found.Restore, d)
				}
			}
		})
	}
}

func shell(t *testing.T, f *fixture, command string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
	cmd.Env = f.env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
}

func TestFingerprintOverlooksWhatIsOursOrFetched(t *testing.T) {
	f := newFixture(t)
	f.commit("second")
	r := f.open()
	before, err := r.Fingerprint(t.Context(), ours)
	f.must(err)
	index, err := os.Stat(filepath.Join(f.dir, ".git/index"))
	f.must(err)
	base := f.git("rev-parse", "HEAD")
	f.must(r.MoveRef(t.Context(), "refs/heads/improve/x", base, ""))
	f.must(r.MoveRef(t.Context(), "refs/tags/archive/x", base, ""))
	f.git("update-ref", "refs/remotes/origin/main", "HEAD")
	f.write(".git/FETCH_HEAD", "x")
	f.write(".git/info/refs", "x")
	f.must(r.ExcludeLine(t.Context(), "/.si-state/"))
	f.must(r.ExcludeLine(t.Context(), "/.si-state/"))
	f.write(".si-state/journal", "x")
	r.Disregard("base/")
	f.write("base/x", "x")
	w := f.clone(r, base)
	m := f.worktree(r, base)
	f.must(m.Reset(t.Context(), base))
	put(t, filepath.Join(w.Path(), "a.txt"), "x\n")
	f.collect(r, w, base)
	later := index.ModTime().Add(-1e9)
	f.must(os.Chtimes(filepath.Join(f.dir, "a.txt"), later, later))
	after, err := r.Fingerprint(t.Context(), ours)
	f.must(err)
	if d := before.Compare(t.Context(), after); len(d) != 0 {
		t.Errorf("%+v", d)
	}
	data, err := os.ReadFile(filepath.Join(f.dir, ".git/info/exclude"))
	f.must(err)
	if strings.Count(string(data), "/.si-state/\n") != 1 {
		t.Errorf("exclude %q", data)
	}
	if now, _ := os.Stat(filepath.Join(f.dir, ".git/index")); !now.ModTime().Equal(index.ModTime()) {
		t.Error("the user's index was rewritten")
	}
}

func TestStashPushIsTheUsers(t *testing.T) {
	f := newFixture(t)
	f.write("a.txt", "x\n")
	f.git("stash", "-q")
	r := f.open()
	before, err := r.Fingerprint(t.Context(), ours)
	f.must(err)
	f.write("a.txt", "y\n")
	f.git("stash", "-q")
	after, err := r.Fingerprint(t.Context(), ours)
	f.must(err)
	if d := before.Compare(t.Context(), after); len(d) != 1 || d[0].Severity != Foreign || d[0].Kind != KindStash {
		t.Errorf("%+v", d)
	}
}

func TestDifferencesAreBounded(t *testing.T) {
	f := newFixture(t)
	r := f.open()
	before, err := r.Fingerprint(t.Context(), nil)
	f.must(err)
	for i := range namedEntries + 10 {
		f.write(filepath.Join("many", strings.Repeat("x", i+1)), "x")
	}
	after, err := r.Fingerprint(t.Context(), nil)
	f.must(err)
	if d := before.Compare(t.Context(), after); len(d) != namedEntries+1 || d[namedEntries].Name != "10 more" {
		t.Errorf("%d: %+v", len(d), d[len(d)-1])
	}
}

func TestDirtyPaths(t *testing.T) {
	f := newFixture(t)
	f.write("a.txt", "x\n")
	f.write("new dir/x", "x")
	f.write("-\n", "x")
	got, err := f.open().DirtyPaths(t.Context())
	if strings.Join(got, "|") != "a.txt|-\n|new dir/" || err != nil {
		t.Errorf("%q %v", got, err)
	}
}
