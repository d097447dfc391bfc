package loop

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestRestoreHome(t *testing.T) {
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
	stamps, err := stampsOf(home)
	if err != nil {
		t.Fatal(err)
	}
	a := &arm{homeStamps: stamps}
	kept := stamps["kept"]

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
	if err := a.restoreHome(home, first); err != nil {
		t.Fatal(err)
	}
	same(t, first, home)
	if now := a.homeStamps["kept"]; canRestore && now != kept {
		t.Errorf("a file that nobody touched was made anew")
	}
	// And a second time, from what the first left.
	write(filepath.Join(home, "kept"), "kepT")
	if err := os.Chtimes(filepath.Join(home, "kept"), time.Unix(1, 0), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if err := a.restoreHome(home, first); err != nil {
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
