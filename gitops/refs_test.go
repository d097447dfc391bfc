package gitops

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

func TestMoveRefComparesAndSwaps(t *testing.T) {
	f := newFixture(t)
	r := f.open()
	one := f.git("rev-parse", "HEAD")
	two := f.commit("second")
	three := f.commit("third")
	const ref = "refs/heads/improve/x"
	steps := []struct {
		name, to, old string
		want          error
	}{
		{"create", one, "", nil},
		{"create again is done already", one, "", nil},
		{"create another", two, "", ErrMoved},
		{"move", two, one, nil},
		{"move again is done already", two, one, nil},
		{"move from a value that is past", three, one, ErrMoved},
		{"put back", one, two, nil},
	}
	for _, s := range steps {
		if err := r.MoveRef(t.Context(), ref, s.to, s.old); !errors.Is(err, s.want) {
			t.Fatalf("%s: got %v, want %v", s.name, err, s.want)
		}
	}
	if err := r.DeleteRef(t.Context(), ref, two); !errors.Is(err, ErrMoved) {
		t.Errorf("delete at another value: %v", err)
	}
	f.must(r.DeleteRef(t.Context(), ref, one))
	f.must(r.DeleteRef(t.Context(), ref, one))
	if _, ok, err := r.Ref(t.Context(), ref); ok || err != nil {
		t.Errorf("still there: %v %v", ok, err)
	}
}

func TestMoveRefDoesNotMoveWhatASymbolicRefNames(t *testing.T) {
	f := newFixture(t)
	r := f.open()
	one := f.git("rev-parse", "HEAD")
	two := f.commit("second")
	f.git("symbolic-ref", "refs/heads/improve/x", "refs/heads/main")
	f.must(r.MoveRef(t.Context(), "refs/heads/improve/x", one, two))
	if got := f.git("rev-parse", "main"); got != two {
		t.Errorf("main was moved to %s", got)
	}
}

func TestMoveRefRefusesOptionsAsValues(t *testing.T) {
	f := newFixture(t)
	r := f.open()
	for _, bad := range [][2]string{{"--stdin", f.git("rev-parse", "HEAD")}, {"refs/heads/x", "--stdin"}, {"refs/heads/x", "HEAD"}} {
		if err := r.MoveRef(t.Context(), bad[0], bad[1], ""); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestCheckBranchName(t *testing.T) {
	f := newFixture(t)
	f.git("branch", "improve")
	f.git("branch", "deep/er/est")
	r := f.open()
	tests := map[string]string{
		"improve/x": "the branch improve is in the way", "deep/er": "deep/er/est is in the way",
		"deep/er/est/more": "is in the way", "a..b": "does not take", "-x": "does not take", "x.lock": "does not take",
		"": "does not take", "sp ace": "does not take", "HEAD": "does not take", "improved/x": "", "deep/x": "", "improve": "",
	}
	for name, want := range tests {
		err := r.CheckBranchName(t.Context(), name)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: got %v, want %q", name, err, want)
		}
	}
}

func TestCheckedOutAt(t *testing.T) {
	f := newFixture(t)
	f.git("worktree", "add", "-q", "-b", "improve/x", "../other\nplace")
	r := f.open()
	for branch, want := range map[string]string{"main": f.dir, "improve/x": filepath.Join(filepath.Dir(f.dir), "other\nplace"), "none": ""} {
		got, err := r.CheckedOutAt(t.Context(), branch)
		f.must(err)
		if got != want {
			t.Errorf("%s: %q, want %q", branch, got, want)
		}
	}
}

func TestHeadDetached(t *testing.T) {
	f := newFixture(t)
	f.git("checkout", "-q", "--detach")
	head, err := f.open().Head(t.Context())
	f.must(err)
	if head.Branch != "" || head.Commit != f.git("rev-parse", "HEAD") {
		t.Errorf("got %+v", head)
	}
}

func TestResolve(t *testing.T) {
	f := newFixture(t)
	id := f.git("rev-parse", "HEAD")
	f.git("tag", "-a", "-m", "x", "v1")
	r := f.open()
	for _, rev := range []string{"HEAD", "main", "v1", id, id[:10]} {
		if got, err := r.Resolve(t.Context(), rev); got != id || err != nil {
			t.Errorf("%s: %s %v", rev, got, err)
		}
	}
	for _, rev := range []string{"", "none", "--all", strings.Repeat("1", 40), "HEAD^{tree}", "HEAD:a.txt"} {
		if _, err := r.Resolve(t.Context(), rev); !errors.Is(err, ErrNotFound) {
			t.Errorf("%q: %v", rev, err)
		}
	}
}

func TestHasCommitSeesALostTree(t *testing.T) {
	f := newFixture(t)
	id := f.git("rev-parse", "HEAD")
	tree := f.git("rev-parse", "HEAD^{tree}")
	r := f.open()
	if !r.HasCommit(t.Context(), id) || r.HasCommit(t.Context(), tree) || r.HasCommit(t.Context(), strings.Repeat("1", 40)) {
		t.Error("wrong about what is there")
	}
	lose(t, f.dir, tree)
	for name, reader := range map[string]*Repo{"go-git": f.reopened(), "git": f.gitOnly()} {
		if reader.HasCommit(t.Context(), id) {
			t.Errorf("%s: a commit whose tree is lost counts as there", name)
		}
	}
}
