package feed

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// The bounds of one read of one file.
const (
	mostBytes = 256 << 10 // that are read
	mostLines = 400       // that are used of them, the last ones
	mostLine  = 64 << 10  // bytes of one line
)

// tail reads the lines that a file gets. It follows no link, opens nothing but a
// plain file, and when the file grows faster than it reads it jumps to the end.
type tail struct {
	path string
	f    *os.File
	at   int64
	part []byte // of the line that is not finished
	skip bool   // the rest of a line that was too long
}

// lines returns the whole lines that were added, at most mostLines of them, and
// how many before them were passed over. A file that is not there yet has none.
func (t *tail) lines() (lines [][]byte, dropped int, err error) {
	if err := t.open(); err != nil || t.f == nil {
		return nil, 0, err
	}
	info, err := t.f.Stat()
	if err != nil {
		return nil, 0, fmt.Errorf("follow %s: %w", t.path, err)
	}
	if info.Size() < t.at { // it was begun anew
		t.at, t.part, t.skip = 0, nil, false
	}
	if behind := info.Size() - t.at; behind > mostBytes {
		dropped = int(behind-mostBytes) / 200 // about: nobody counts lines that nobody reads
		t.at, t.part, t.skip = info.Size()-mostBytes, nil, true
	}
	if info.Size() == t.at {
		return nil, 0, nil
	}
	data := make([]byte, info.Size()-t.at)
	n, err := t.f.ReadAt(data, t.at)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, dropped, fmt.Errorf("follow %s: %w", t.path, err)
	}
	t.at += int64(n)
	lines = t.split(data[:n])
	if over := len(lines) - mostLines; over > 0 {
		lines, dropped = lines[over:], dropped+over
	}
	return lines, dropped, nil
}

func (t *tail) split(data []byte) (lines [][]byte) {
	for len(data) > 0 {
		line, rest, whole := bytes.Cut(data, []byte("\n"))
		data = rest
		switch {
		case t.skip:
			t.skip = !whole
		case len(t.part)+len(line) > mostLine:
			t.part, t.skip = nil, !whole
		case whole:
			lines = append(lines, append(t.part, line...))
			t.part = nil
		default:
			t.part = append(t.part, line...)
		}
	}
	return lines
}

// open opens the file when it is there. The name comes from a journal, which a
// repository can bring along: a pipe would block, and a link could lead anywhere.
func (t *tail) open() error {
	if t.f != nil {
		return nil
	}
	f, err := os.OpenFile(t.path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("follow %s: %w", filepath.Base(t.path), err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err != nil {
		_ = f.Close() // opened for reading only
		return fmt.Errorf("follow %s: %w", filepath.Base(t.path), err)
	}
	t.f = f
	return nil
}

func (t *tail) close() {
	if t.f != nil {
		_ = t.f.Close() // opened for reading only
	}
}
