package gitops

import (
	"reflect"
	"testing"
	"time"
)

func TestMergeTreesTakesAChangeOut(t *testing.T) {
	f := newFixture(t)
	f.write("a.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n")
	start := f.commit("start")
	f.write("a.txt", "one\n2\n3\n4\n5\n6\n7\n8\n9\n")
	first := f.commit("first")
	f.write("a.txt", "one\n2\n3\n4\n5\n6\n7\n8\nnine\n")
	f.write("c.txt", "new\n")
	second := f.commit("second")
	f.write("a.txt", "uno\n2\n3\n4\n5\n6\n7\n8\nnine\n")
	third := f.commit("third")
	r := f.open()
	meta := CommitMeta{Message: "without", When: time.Unix(1, 0)}

	m, err := r.MergeTrees(t.Context(), second, third, first, meta)
	f.must(err)
	want := map[string]string{"a.txt": "uno\n2\n3\n4\n5\n6\n7\n8\n9\n", "dir/b.txt": "two\n"}
	if got := content(t, f.worktree(r, m.Commit).Path()); !reflect.DeepEqual(got, want) {
		t.Errorf("third without second: %q, want %q", got, want)
	}
	if got := f.git("rev-parse", m.Commit+"^"); got != third {
		t.Errorf("it stands on %s, want %s", got, third)
	}
	m, err = r.MergeTrees(t.Context(), first, third, start, meta)
	f.must(err)
	if want := []string{"a.txt"}; !reflect.DeepEqual(m.Conflicts, want) || m.Commit != "" {
		t.Errorf("a change that a later one builds on: %+v, want conflicts in %q", m, want)
	}
	m, err = r.MergeTrees(t.Context(), third, second, third, meta)
	f.must(err)
	if tree, err := r.TreeOf(t.Context(), second); err != nil || m.Tree != tree {
		t.Errorf("no change: tree %s, want %s (%v)", m.Tree, tree, err)
	}
	c, err := r.Replay(t.Context(), third, start, meta)
	f.must(err)
	if got := f.git("rev-parse", c.ID+"^", c.ID+"^{tree}"); got != f.git("rev-parse", start, third+"^{tree}") {
		t.Errorf("replayed: %s", got)
	}
}
