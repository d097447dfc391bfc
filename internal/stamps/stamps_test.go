//go:build unix

package stamps

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// Each kind of change differs, what is in a folder comes before it, and a folder does
// not differ for what is in it.
func TestDiffering(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"kept/deep/file", "edited", "gone/file", "linked", "mode"} {
		if err := os.MkdirAll(filepath.Dir(at(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at(name), []byte("one"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	before, err := Of(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, do := range []func() error{
		func() error { return os.WriteFile(at("edited"), []byte("longer"), 0o644) },
		func() error { return os.RemoveAll(at("gone")) },
		func() error { return os.Remove(at("linked")) },
		func() error { return os.Symlink("kept", at("linked")) },
		func() error { return os.Chmod(at("mode"), 0o600) },
		func() error { return os.WriteFile(at("kept/deep/new"), nil, 0o644) },
	} {
		if err := do(); err != nil {
			t.Fatal(err)
		}
	}
	after, err := Of(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"kept/deep/new", "gone/file", "edited", "gone", "linked", "mode"}
	if got := Differing(before, after); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if s := after["edited"]; s.Settled(time.Unix(s.Changed[0], s.Changed[1])) || !s.Settled(time.Unix(s.Changed[0]+1, 0)) {
		t.Errorf("%+v is settled at once, or never", s)
	}
}
