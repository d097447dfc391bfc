package gitops

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// reopened opens the fixture's repository although its HEAD may be damaged.
func (f *fixture) reopened() *Repo {
	r := &Repo{git: program{run: f.runs, base: f.env}, top: f.dir, gitDir: f.dir + "/.git", common: f.dir + "/.git", format: "sha1"}
	r.read = r.newReader()
	return r
}

func (f *fixture) gitOnly() *Repo {
	r := f.reopened()
	r.read = gitReader{r}
	return r
}

func lose(t *testing.T, dir, id string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, ".git/objects", id[:2], id[2:])); err != nil {
		t.Fatal(err)
	}
}

// odd makes a second commit with every kind of change and name.
func (f *fixture) odd() (from, to string) {
	f.t.Helper()
	f.write("mode.sh", "#!/bin/sh\n")
	f.write("rename me", "some text that is long enough to be seen as renamed\n")
	f.write("Case", "x\n")
	f.write("becomes-dir", "x\n")
	f.write("becomes-file/x", "x\n")
	f.must(os.Symlink("a.txt", filepath.Join(f.dir, "link")))
	f.write("becomes-link", "x\n")
	from = f.commit("from")
	f.must(os.Chmod(filepath.Join(f.dir, "mode.sh"), 0o755))
	f.git("mv", "rename me", "renamed\nwith \x1b[31m")
	f.git("mv", "Case", "case")
	f.git("rm", "-q", "becomes-dir", "becomes-file/x", "becomes-link", "link")
	f.write("becomes-dir/y", "y\n")
	f.write("becomes-file", "y\n")
	f.must(os.Symlink("dir", filepath.Join(f.dir, "becomes-link")))
	f.must(os.Symlink("dir", filepath.Join(f.dir, "link")))
	f.write("latin-\xe9", "z\n")
	return from, f.commit("to")
}

func TestDiffShowsEveryKindOfChange(t *testing.T) {
	f := newFixture(t)
	from, to := f.odd()
	want := map[string]string{
		"mode.sh": "M 100644 100755", "rename me": "D 100644 000000", "renamed\nwith \x1b[31m": "A 000000 100644",
		"Case": "D 100644 000000", "case": "A 000000 100644", "becomes-dir": "D 100644 000000", "becomes-dir/y": "A 000000 100644",
		"becomes-file": "A 000000 100644", "becomes-file/x": "D 100644 000000", "becomes-link": "T 100644 120000",
		"link": "M 120000 120000", "latin-\xe9": "A 000000 100644",
	}
	changes, err := f.open().Diff(t.Context(), from, to)
	f.must(err)
	got := map[string]string{}
	for _, c := range changes {
		got[c.Path] = string(c.Status) + " " + c.OldMode + " " + c.NewMode
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// The two readers are one to their callers.
func TestReadersAgree(t *testing.T) {
	f := newFixture(t)
	from, to := f.odd()
	f.git("tag", "-a", "-m", "x", "v1")
	f.git("symbolic-ref", "refs/heads/alias", "refs/heads/main")
	f.git("branch", "packed")
	f.git("pack-refs", "--all")
	f.git("branch", "loose/one", from)
	r := f.open()
	two, ok := r.read.(*twoReaders)
	if !ok {
		t.Fatal("go-git does not read a plain repository")
	}
	fast, slow, ctx := two.fast, two.slow, t.Context()
	same := func(what string, a, b any, errA, errB error) {
		t.Helper()
		if errA != nil || errB != nil || !reflect.DeepEqual(a, b) {
			t.Errorf("%s: go-git %+v %v\ngit %+v %v", what, a, errA, b, errB)
		}
	}
	for _, pair := range [][2]string{{from, to}, {to, from}, {from, from}} {
		a, errA := fast.diff(pair[0], pair[1])
		b, errB := slow.diff(ctx, pair[0], pair[1])
		same("diff", a, b, errA, errB)
	}
	refsA, errA := fast.refs("refs/")
	refsB, errB := slow.refs(ctx, "refs/")
	same("refs", refsA, refsB, errA, errB)
	if len(refsA) != 5 {
		t.Errorf("refs: %v", refsA)
	}
	commitA, errA := fast.commit(to)
	commitB, errB := slow.commit(ctx, to)
	same("commit", commitA, commitB, errA, errB)
	headA, errA := fast.head()
	headB, errB := slow.head(ctx)
	same("head", headA, headB, errA, errB)
	for _, path := range []string{"a.txt", "dir/b.txt", "link", "latin-\xe9"} {
		x, errA := fast.blob(to, path, 100)
		y, errB := slow.blob(ctx, to, path, 100)
		same(path, x, y, errA, errB)
	}
}

func TestGoGitIsLeftOutWhereItCannotRead(t *testing.T) {
	tests := map[string]func(f *fixture){
		"worktreeConfig": func(f *fixture) {
			f.git("config", "core.repositoryformatversion", "1")
			f.git("config", "extensions.worktreeConfig", "true")
		},
		"partialClone": func(f *fixture) {
			f.git("config", "core.repositoryformatversion", "1")
			f.git("config", "extensions.partialClone", "origin")
		},
		"alternates": func(f *fixture) { f.write(".git/objects/info/alternates", filepath.Join(f.dir, "none")+"\n") },
	}
	for name, prepare := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			prepare(f)
			r := f.open()
			if _, ok := r.read.(gitReader); !ok {
				t.Errorf("read by %T", r.read)
			}
			if data, err := r.ReadFile(t.Context(), f.git("rev-parse", "HEAD"), "a.txt", 10); string(data) != "one\n" || err != nil {
				t.Errorf("%q %v", data, err)
			}
		})
	}
}

func TestSha256Repository(t *testing.T) {
	f := newFixture(t)
	f.must(os.RemoveAll(filepath.Join(f.dir, ".git")))
	f.git("init", "-q", "--object-format=sha256")
	base := f.commit("first")
	r := f.open()
	w := f.clone(r, base)
	put(t, filepath.Join(w.Path(), "a.txt"), "changed\n")
	c, _ := f.collect(r, w, base)
	f.must(r.MoveRef(t.Context(), "refs/heads/experiment/x", c.ID, ""))
	if len(c.ID) != 64 || f.git("show", "experiment/x:a.txt") != "changed" {
		t.Errorf("commit %s", c.ID)
	}
}

// A repack takes away the packs that go-git has open.
func TestReadAfterRepack(t *testing.T) {
	f := newFixture(t)
	r := f.open()
	one := f.git("rev-parse", "HEAD")
	f.git("repack", "-q", "-a", "-d")
	if !r.HasCommit(t.Context(), one) {
		t.Fatal("not there after the first repack")
	}
	two := f.commit("second")
	f.git("repack", "-q", "-a", "-d")
	f.git("prune-packed")
	for _, id := range []string{two, one} {
		if data, err := r.ReadFile(t.Context(), id, "a.txt", 10); string(data) != "one\n" || err != nil {
			t.Errorf("%q %v", data, err)
		}
	}
}

func TestReadFileBounds(t *testing.T) {
	f := newFixture(t)
	id := f.git("rev-parse", "HEAD")
	for name, r := range map[string]*Repo{"both": f.open(), "git": f.gitOnly()} {
		if _, err := r.ReadFile(t.Context(), id, "a.txt", 3); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
		if data, err := r.ReadFile(t.Context(), id, "a.txt", 4); string(data) != "one\n" || err != nil {
			t.Errorf("%s: %q %v", name, data, err)
		}
		for _, path := range []string{"none", "dir", "", "../x"} {
			if _, err := r.ReadFile(t.Context(), id, path, 10); !errors.Is(err, ErrNotFound) {
				t.Errorf("%s: %q: %v", name, path, err)
			}
		}
	}
}

func TestPatchIsCut(t *testing.T) {
	f := newFixture(t)
	from := f.git("rev-parse", "HEAD")
	f.write("a.txt", strings.Repeat("line\n", 1000))
	f.git("config", "diff.external", "touch "+filepath.Join(f.dir, "ran"))
	to := f.commit("more")
	r := f.open()
	text, cut, err := r.Patch(t.Context(), from, to, 100)
	if len(text) != 100 || !cut || err != nil {
		t.Errorf("%d bytes, cut %v, %v", len(text), cut, err)
	}
	text, cut, err = r.Patch(t.Context(), from, to, 1<<20)
	if cut || err != nil || strings.Count(string(text), "+line") != 1000 {
		t.Errorf("%d bytes, cut %v, %v", len(text), cut, err)
	}
	if _, err := os.Lstat(filepath.Join(f.dir, "ran")); err == nil {
		t.Error("diff.external ran")
	}
}

func TestListTreeAndLog(t *testing.T) {
	f := newFixture(t)
	one := f.git("rev-parse", "HEAD")
	f.must(os.Symlink("a.txt", filepath.Join(f.dir, "l")))
	two := f.commit("second\n\nbody\twith\x01 odd bytes")
	r := f.open()
	entries, err := r.ListTree(t.Context(), two)
	f.must(err)
	var got []string
	for _, e := range entries {
		got = append(got, e.Mode+" "+e.Type+" "+e.Path)
	}
	if want := []string{"100644 blob a.txt", "100644 blob dir/b.txt", "120000 blob l"}; !reflect.DeepEqual(got, want) || len(entries[0].ID) != 40 {
		t.Errorf("%q", got)
	}
	log, err := r.Log(t.Context(), one, two, 10)
	f.must(err)
	if len(log) != 1 || log[0].ID != two || log[0].Parents[0] != one || log[0].Name != "Ada" || !strings.HasPrefix(log[0].Message, "second\n\nbody") {
		t.Errorf("%+v", log)
	}
	if log, err := r.Log(t.Context(), "", two, 1); len(log) != 1 || err != nil {
		t.Errorf("%+v %v", log, err)
	}
}
