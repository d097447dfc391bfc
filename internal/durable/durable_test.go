package durable

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "new", "folder", "file.json")
	var s Store
	for _, text := range []string{"one", "", strings.Repeat("x", 1<<20)} {
		if err := s.Replace(path, []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
		if read(t, path) != text {
			t.Errorf("%d bytes are not there", len(text))
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("temporary files are left: %v %v", entries, err)
	}
}

// TestReplaceDoesNotFollowLinks: a link that a repository holds is replaced;
// what it points to is not written.
func TestReplaceDoesNotFollowLinks(t *testing.T) {
	dir := t.TempDir()
	victim, link := filepath.Join(dir, "victim"), filepath.Join(dir, "link")
	if err := os.WriteFile(victim, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, link); err != nil {
		t.Fatal(err)
	}
	var s Store
	if err := s.Replace(link, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if read(t, victim) != "mine" || read(t, link) != "new" {
		t.Errorf("victim %q, link %q", read(t, victim), read(t, link))
	}
}

// TestFailedReplaceKeepsTheOld: the rename cannot happen, since a folder is in
// the way; the folder and its content stay, and nothing else is left behind.
func TestFailedReplaceKeepsTheOld(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if err := os.MkdirAll(filepath.Join(path, "inner"), 0o755); err != nil {
		t.Fatal(err)
	}
	var s Store
	if err := s.Replace(path, []byte("x"), 0o600); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v %v", entries, err)
	}
	if err := s.Replace(filepath.Join(dir, "file", "inner", "x", "y"), nil, 0o600); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "plain"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Replace(filepath.Join(dir, "plain", "x"), nil, 0o600); err == nil || !strings.Contains(err.Error(), "in the way") {
		t.Errorf("error %v", err)
	}
}

func TestLogCutsATornLine(t *testing.T) {
	for name, c := range map[string]struct {
		before string
		keep   string
		torn   int
	}{
		"new":                {"", "", 0},
		"whole":              {"a\nb\n", "a\nb\n", 0},
		"torn":               {"a\nb\n{\"half", "a\nb\n", 6},
		"only a torn line":   {"half", "", 4},
		"a long torn line":   {"a\n" + strings.Repeat("x", 200<<10), "a\n", 200 << 10},
		"a long whole line":  {strings.Repeat("x", 200<<10) + "\n", strings.Repeat("x", 200<<10) + "\n", 0},
		"torn at a boundary": {strings.Repeat("y", 64<<10-1) + "\nz", strings.Repeat("y", 64<<10-1) + "\n", 1},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "log")
			if err := os.WriteFile(path, []byte(c.before), 0o600); err != nil {
				t.Fatal(err)
			}
			var s Store
			l, torn, err := s.OpenLog(path)
			if err != nil || torn != c.torn {
				t.Fatalf("torn %d, want %d; %v", torn, c.torn, err)
			}
			if err := l.Append([]byte("next")); err != nil {
				t.Fatal(err)
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			if got := read(t, path); got != c.keep+"next\n" {
				t.Errorf("%d bytes: %.50q", len(got), got)
			}
		})
	}
}

func TestHooksSeeEveryEffect(t *testing.T) {
	dir := t.TempDir()
	var seen []string
	s := Store{Hooks: Hooks{
		Before: func(op Op, path string) { seen = append(seen, "before "+string(op)+" "+filepath.Base(path)) },
		After:  func(op Op, path string) { seen = append(seen, "after "+string(op)+" "+filepath.Base(path)) },
	}}
	l, _, err := s.OpenLog(filepath.Join(dir, "log"))
	if err := errors.Join(err, s.Replace(filepath.Join(dir, "a"), nil, 0o600), l.Append([]byte("x")), s.Remove(filepath.Join(dir, "a")), s.Remove(filepath.Join(dir, "a")), l.Close()); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"before replace a", "after replace a", "before append log", "after append log",
		"before remove a", "after remove a", "before remove a", "after remove a",
	}
	if !slices.Equal(seen, want) {
		t.Errorf("%q", seen)
	}
}

func TestWithinRefusesFoldersThatAreLinks(t *testing.T) {
	base, outside := t.TempDir(), t.TempDir()
	s := (&Store{}).Within(base)
	file := filepath.Join(base, "state", "results", "round_1", "r.json")
	if err := s.Replace(file, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	planted := filepath.Join(base, "state", "results", "round_2")
	if err := os.Symlink(outside, planted); err != nil {
		t.Fatal(err)
	}
	var link *LinkError
	if err := s.Replace(filepath.Join(planted, "r.json"), []byte("{}"), 0o644); !errors.As(err, &link) || link.Path != planted {
		t.Errorf("replace: %v, want a LinkError for %s", err, planted)
	}
	if err := s.Folder(filepath.Join(planted, "deep", "er")); !errors.As(err, &link) {
		t.Errorf("folder: %v, want a LinkError", err)
	}
	if _, _, err := s.OpenLog(filepath.Join(planted, "log")); !errors.As(err, &link) {
		t.Errorf("log: %v, want a LinkError", err)
	}
	victim := filepath.Join(outside, "victim")
	if err := os.WriteFile(victim, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := s.Remove(filepath.Join(planted, "victim")); !errors.As(err, &link) {
		t.Errorf("remove: %v, want a LinkError", err)
	}
	entries, err := os.ReadDir(outside)
	if err != nil || len(entries) != 1 {
		t.Errorf("the link's target holds %v, %v; want the victim alone", entries, err)
	}
	if err := s.Replace(filepath.Join(outside, "other"), nil, 0o644); err != nil {
		t.Errorf("a path that is not below the base: %v", err)
	}
}
