package gitops

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"
)

func TestWrite(t *testing.T) {
	f := newFixture(t)
	f.write("run.sh", "old\n")
	f.must(os.Chmod(filepath.Join(f.dir, "run.sh"), 0o755))
	base := f.commit("base")
	r := f.open()
	meta := CommitMeta{Message: "written", When: time.Unix(1, 0)}
	files := map[string][]byte{
		"run.sh": []byte("new\n"), "deep/er.txt": []byte("new\n"), "dir": []byte("a file where a folder was\n"), "dir/b.txt": nil, "not/there": nil,
	}
	c, err := r.Write(t.Context(), base, files, meta)
	f.must(err)
	again, err := r.Write(t.Context(), base, files, meta)
	f.must(err)
	if again != c {
		t.Errorf("the same commit twice: %v and %v", c, again)
	}
	w := f.worktree(r, c.ID)
	want := map[string]string{"a.txt": "one\n", "run.sh": "*new\n", "deep/er.txt": "new\n", "dir": "a file where a folder was\n"}
	if got := content(t, w.Path()); !reflect.DeepEqual(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if got := f.git("status", "--porcelain"); got != "" {
		t.Errorf("the checkout changed: %s", got)
	}
	if got := f.git("rev-parse", c.ID+"^"); got != base {
		t.Errorf("parent %s, want %s", got, base)
	}
}

func TestHolds(t *testing.T) {
	f := newFixture(t)
	f.write("secret.txt", "answers\n")
	f.commit("by mistake")
	f.git("rm", "-q", "secret.txt")
	f.commit("taken out again")
	dir := t.TempDir()
	known, fresh := filepath.Join(dir, "-copy"), filepath.Join(dir, "fresh")
	put(t, known, "answers\n")
	put(t, fresh, "other answers\n")
	got, err := f.open().Holds(t.Context(), []string{fresh, known})
	f.must(err)
	if !reflect.DeepEqual(got, []string{known}) {
		t.Errorf("%q, want %q", got, []string{known})
	}
}
