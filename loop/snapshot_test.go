package loop

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"si/internal/stamps"
)

func TestSnapshotPutsBack(t *testing.T) {
	first, home := filepath.Join(t.TempDir(), "first"), filepath.Join(t.TempDir(), "home")
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"cache/a": "aaa", "cache/b": "bbb", "cache/deep/c": "ccc", "kept": "kept", "gone/x": "x", "swapped": "file"} {
		write(filepath.Join(first, name), text)
	}
	if err := os.Symlink("kept", filepath.Join(first, "link")); err != nil {
		t.Fatal(err)
	}
	if err := copyTree(home, first); err != nil {
		t.Fatal(err)
	}
	taken, err := takeSnapshot(home, keeps{"cache/kept"}, first)
	if err != nil {
		t.Fatal(err)
	}
	kept := taken.stamps["kept"]

	// An edit that keeps length and times, a new start-up file, a file for a folder, a
	// folder for a file, a link for a file, a removed folder.
	at := filepath.Join(home, "cache/a")
	info, err := os.Stat(at)
	if err != nil {
		t.Fatal(err)
	}
	write(at, "EVL")
	if err := os.Chtimes(at, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(home, ".profile"), "evil")
	write(filepath.Join(home, "new/deep/evil"), "evil")
	for _, do := range []func() error{
		func() error { return os.RemoveAll(filepath.Join(home, "gone")) },
		func() error { return os.RemoveAll(filepath.Join(home, "cache/deep")) },
		func() error { return os.WriteFile(filepath.Join(home, "cache/deep"), []byte("evil"), 0o644) },
		func() error { return os.Remove(filepath.Join(home, "swapped")) },
		func() error { return os.Mkdir(filepath.Join(home, "swapped"), 0o755) },
		func() error { return os.Remove(filepath.Join(home, "cache/b")) },
		func() error { return os.Symlink("/etc/passwd", filepath.Join(home, "cache/b")) },
	} {
		if err := do(); err != nil {
			t.Fatal(err)
		}
	}
	if err := taken.restore(); err != nil {
		t.Fatal(err)
	}
	same(t, first, home)
	if now := taken.stamps["kept"]; stamps.Sure && now != kept {
		t.Errorf("a file that nobody touched was made anew")
	}
	// And a second time, from what the first left.
	write(filepath.Join(home, "kept"), "kepT")
	if err := os.Chtimes(filepath.Join(home, "kept"), time.Unix(1, 0), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if err := taken.restore(); err != nil {
		t.Fatal(err)
	}
	same(t, first, home)
}

// same wants two trees to hold the same.
func same(t *testing.T, want, got string) {
	t.Helper()
	one, two := treeText(t, want), treeText(t, got)
	for name, text := range one {
		if two[name] != text {
			t.Errorf("%s: %q, want %q", name, two[name], text)
		}
		delete(two, name)
	}
	for name := range two {
		t.Errorf("%s is too much", name)
	}
}

func treeText(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		switch {
		case d.IsDir():
			out[name] = "folder"
		case d.Type() == os.ModeSymlink:
			target, err := os.Readlink(path)
			out[name] = "-> " + target
			return err
		default:
			data, err := os.ReadFile(path)
			out[name] = string(data)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// What a run can write to folders without changing a file is gone as well, and what is
// named to be kept stays.
func TestSnapshotSmoothsFolders(t *testing.T) {
	dir, copies := t.TempDir(), t.TempDir()
	for _, name := range []string{"a/b", "closed", "moved/deep", "cache"} {
		for _, root := range []string{dir, copies} {
			if err := os.MkdirAll(filepath.Join(root, name), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, name := range []string{"a/file", "moved/deep/file"} {
		for _, root := range []string{copies, dir} {
			if err := os.WriteFile(filepath.Join(root, name), []byte(name), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	s, err := takeSnapshot(dir, keeps{"cache"}, copies)
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	attributes := stamps.Sure && unix.Setxattr(at("a/b"), "user.answer", []byte("60"), 0) == nil && unix.Setxattr(dir, "user.answer", []byte("60"), 0) == nil
	for _, do := range []func() error{
		func() error { return os.Chtimes(at("a"), time.Unix(42, 0), time.Unix(42, 0)) },
		func() error { return os.Chmod(at("a"), 0o711) },
		func() error { return os.Chmod(at("closed"), 0) },
		func() error { return os.Rename(at("moved"), at("elsewhere")) },
		func() error { return os.Mkdir(at("moved"), 0o755) },
		func() error { return os.WriteFile(at("cache/x"), []byte("x"), 0o644) },
	} {
		if err := do(); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.restore(); err != nil {
		t.Fatal(err)
	}
	got := treeText(t, dir)
	if got["cache/x"] != "x" {
		t.Error("what is to be kept is gone")
	}
	delete(got, "cache/x")
	for name, text := range treeText(t, copies) {
		if got[name] != text {
			t.Errorf("%s: %q, want %q", name, got[name], text)
		}
		delete(got, name)
	}
	if len(got) > 0 {
		t.Errorf("too much: %v", got)
	}
	if info, err := os.Stat(at("a")); err != nil || info.Mode().Perm() != 0o755 || info.ModTime().Unix() == 42 {
		t.Errorf("a: %v %v", info, err)
	}
	if n, err := unix.Listxattr(at("a/b"), make([]byte, 1000)); attributes && (n > 0 || err != nil) {
		t.Errorf("%d bytes of attributes are left, %v", n, err)
	}
	if n, err := unix.Listxattr(dir, make([]byte, 1000)); attributes && (n > 0 || err != nil) {
		t.Errorf("%d bytes of attributes are left at the root, %v", n, err)
	}
	if left, err := s.touched(); len(left) > 0 || err != nil {
		t.Errorf("still differing: %v, %v", left, err)
	}
}

// A file of which there is no copy cannot be put back, and then nothing is touched.
func TestSnapshotWithoutACopy(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "made"), []byte("made"), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := takeSnapshot(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"made", "new"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("longer than it was"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.restore(); !errors.Is(err, errNoCopy) {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "new")); err != nil {
		t.Error("it was half done")
	}
}
