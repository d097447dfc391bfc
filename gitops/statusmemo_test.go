package gitops

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"si/internal/stamps"
)

// A fingerprint of a checkout in which nothing was changed starts no process, and
// each kind of change is seen all the same.
func TestStatusIsAskedWhenSomethingChanged(t *testing.T) {
	if !stamps.Sure {
		t.Skip("the time of a change is not read on this system")
	}
	at := func(f *fixture, name string) string { return filepath.Join(f.dir, name) }
	tests := []struct {
		name   string
		change func(f *fixture)
		path   string // that differs, "" for none
	}{
		{"nothing", func(*fixture) {}, ""},
		{"an edit of the same length and time", func(f *fixture) {
			info, err := os.Stat(at(f, "a.txt"))
			f.must(err)
			f.must(os.WriteFile(at(f, "a.txt"), []byte("eno\n"), 0o644))
			f.must(os.Chtimes(at(f, "a.txt"), info.ModTime(), info.ModTime()))
		}, "a.txt"},
		{"a mode", func(f *fixture) { f.must(os.Chmod(at(f, "dir/b.txt"), 0o755)) }, "dir/b.txt"},
		{"a link in the place of a file", func(f *fixture) { f.must(os.Remove(at(f, "a.txt"))); f.must(os.Symlink("dir/b.txt", at(f, "a.txt"))) }, "a.txt"},
		{"a file that is gone", func(f *fixture) { f.must(os.Remove(at(f, "dir/b.txt"))) }, "dir/b.txt"},
		{"a file that nobody tracks", func(f *fixture) { f.write("new", "x") }, "new"},
		{"one in a folder that was empty", func(f *fixture) { f.write("empty/deep/new", "x") }, "empty/deep/new"},
		{"an edit of one that was there", func(f *fixture) { f.write("draft", "y") }, "draft"},
		{"one that was there is gone", func(f *fixture) { f.must(os.Remove(at(f, "draft"))) }, "draft"},
		{"an ignored file", func(f *fixture) { f.write("x.log", "y") }, ""},
		{"a file in an ignored folder", func(f *fixture) { f.write("out/deep/x", "y") }, ""},
		{"a file in the place of an ignored folder", func(f *fixture) { f.must(os.RemoveAll(at(f, "out"))); f.write("out", "y") }, "out"},
		{"a file that is ignored no longer", func(f *fixture) { f.write(".gitignore", "out/\n") }, "x.log"},
		{"a repository inside", func(f *fixture) { f.write("nested/x", "x"); f.git("init", "-q", "nested") }, "nested/"},
		{"a file that is ours", func(f *fixture) { f.write("base/x", "y") }, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t)
			f.must(os.Mkdir(at(f, "empty"), 0o755))
			for name, text := range map[string]string{".gitignore": "*.log\nout/\n", "draft": "x", "x.log": "x", "out/x": "x", "base/x": "x"} {
				f.write(name, text)
			}
			r := f.open()
			r.Disregard("base")
			r.now = func() time.Time { return time.Now().Add(time.Hour) } // what was just written counts as old
			before, err := r.Fingerprint(t.Context(), ours)
			f.must(err)
			f.tick()
			had := f.runs.n.Load()
			tt.change(f)
			once := f.unchanged(r, before, tt.path, had)
			if twice := f.unchanged(r, before, tt.path, once); twice != once && tt.path != "nested/" {
				t.Errorf("%d processes to look again", twice-once)
			}
		})
	}
}

// unchanged wants the difference of one path, or none and no process; it returns how
// many processes there were.
func (f *fixture) unchanged(r *Repo, before Fingerprint, path string, had int64) int64 {
	f.t.Helper()
	after, err := r.Fingerprint(f.t.Context(), ours)
	f.must(err)
	found := path == ""
	differences := before.Compare(f.t.Context(), after)
	for _, d := range differences {
		found = found || d.Name == path && d.Kind == KindFile
	}
	if !found || path == "" && (len(differences) > 0 || f.runs.n.Load() != had) {
		f.t.Errorf("%d processes, %+v", f.runs.n.Load()-had, differences)
	}
	return f.runs.n.Load()
}

// tick returns when a change of a file has another time than one before the call.
func (f *fixture) tick() {
	f.t.Helper()
	probe := filepath.Join(filepath.Dir(f.dir), "tick")
	first := stamps.Stamp{}
	for {
		f.must(os.WriteFile(probe, nil, 0o644))
		now, err := stamps.At(probe)
		f.must(err)
		if first.Inode == 0 {
			first = now
		}
		if now.Changed != first.Changed {
			return
		}
	}
}
