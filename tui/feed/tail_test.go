package feed

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

func texts(lines [][]byte) (out []string) {
	for _, l := range lines {
		out = append(out, string(l))
	}
	return out
}

func TestTail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	tl := tail{path: path}
	defer tl.close()
	for i, step := range []struct {
		name, add string
		want      []string
	}{
		{"no file yet", "", nil},
		{"whole lines", "one\ntwo\n", []string{"one", "two"}},
		{"a part of a line", "th", nil},
		{"its end", "ree\nfo", []string{"three"}},
		{"nothing new", "", nil},
		{"the rest", "ur\n\n", []string{"four", ""}},
		{"a line that is too long", strings.Repeat("x", mostLine+10), nil},
		{"behind it", "xx\nfive\n", []string{"five"}},
	} {
		if step.add != "" {
			appendTo(t, path, step.add)
		}
		lines, dropped, err := tl.lines()
		if got := texts(lines); err != nil || dropped != 0 || !slices.Equal(got, step.want) {
			t.Errorf("%d %s: %q, %d dropped, %v", i, step.name, got, dropped, err)
		}
	}
}

func TestTailOfAFileThatIsBegunAnew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	tl := tail{path: path}
	defer tl.close()
	appendTo(t, path, "a long line of the first file\nand a par")
	if _, _, err := tl.lines(); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	appendTo(t, path, "new\n")
	if lines, _, err := tl.lines(); err != nil || !slices.Equal(texts(lines), []string{"new"}) {
		t.Errorf("%q, %v", texts(lines), err)
	}
}

// TestTailPassesOver: a file that grows faster than it is read costs a bounded
// amount, and its newest lines are seen.
func TestTailPassesOver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	tl := tail{path: path}
	defer tl.close()
	var b strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&b, "line %d of a talkative agent\n", i)
	}
	appendTo(t, path, b.String())
	lines, dropped, err := tl.lines()
	if err != nil || len(lines) != mostLines || dropped == 0 || string(lines[mostLines-1]) != "line 99999 of a talkative agent" {
		t.Errorf("%d lines, %d dropped, %v", len(lines), dropped, err)
	}
	for _, l := range lines {
		if !strings.HasPrefix(string(l), "line ") {
			t.Fatalf("half a line: %q", l)
		}
	}
}

// TestTailOpensPlainFilesOnly: names come from a journal, which a repository can
// bring along.
func TestTailOpensPlainFilesOnly(t *testing.T) {
	dir := t.TempDir()
	secret, link, pipe := filepath.Join(dir, "secret"), filepath.Join(dir, "link"), filepath.Join(dir, "pipe")
	appendTo(t, secret, "secret\n")
	if err := os.Symlink(secret, link); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{link, pipe, dir} {
		tl := tail{path: path}
		if lines, _, err := tl.lines(); err == nil || len(lines) > 0 {
			t.Errorf("%s: %q, %v", path, texts(lines), err)
		}
		tl.close()
	}
}
