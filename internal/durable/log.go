package durable

import (
	"bytes"
	"fmt"
	"io"
	"os"
)

// Log is an append-only file of lines. Each line is one write; Append returns
// when it is on disk. It is not safe for concurrent use.
type Log struct {
	store *Store
	path  string
	f     *os.File
}

// OpenLog opens the log at path, creating it when absent. A last line without
// its newline is what a crash leaves: it is cut off, and its length returned.
func (s *Store) OpenLog(path string) (l *Log, torn int, err error) {
	if err := s.refuseLinks(path); err != nil { // the file too: lines would go to where it leads
		return nil, 0, fmt.Errorf("open log: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, 0, fmt.Errorf("open log: %w", err)
	}
	keep, size, err := wholeLines(f)
	if err == nil && keep < size {
		if err = f.Truncate(keep); err == nil {
			err = f.Sync()
		}
	}
	if err == nil {
		_, err = f.Seek(keep, io.SeekStart)
	}
	if err != nil {
		_ = f.Close()
		return nil, 0, fmt.Errorf("open log %s: %w", path, err)
	}
	return &Log{store: s, path: path, f: f}, int(size - keep), nil
}

// wholeLines returns the length of the file up to and including its last
// newline, and its whole length.
func wholeLines(f *os.File) (keep, size int64, err error) {
	size, err = f.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, 0, err
	}
	const block = 64 << 10
	buf := make([]byte, block)
	for end := size; end > 0; {
		start := max(end-block, 0)
		n, err := f.ReadAt(buf[:end-start], start)
		if err != nil && err != io.EOF {
			return 0, 0, err
		}
		if i := bytes.LastIndexByte(buf[:n], '\n'); i >= 0 {
			return start + int64(i) + 1, size, nil
		}
		end = start
	}
	return 0, size, nil
}

// Append writes one line; line must hold no newline. After a failed write the
// part that reached the file is cut off again, so that the next line starts
// clean.
func (l *Log) Append(line []byte) error {
	return l.store.around(OpAppend, l.path, func() error {
		if err := l.inPlace(); err != nil {
			return err
		}
		start, err := l.f.Seek(0, io.SeekEnd)
		if err != nil {
			return fmt.Errorf("append to %s: %w", l.path, err)
		}
		_, err = l.f.Write(append(bytes.Clone(line), '\n'))
		if err == nil {
			err = l.f.Sync()
		}
		if err != nil {
			_ = l.f.Truncate(start)
			return fmt.Errorf("append to %s: %w", l.path, err)
		}
		return nil
	})
}

// inPlace makes sure that the open file is what stands at the path: lines written
// to a file that was moved or replaced would be lost without a word.
func (l *Log) inPlace() error {
	open, err := l.f.Stat()
	if err != nil {
		return fmt.Errorf("append to %s: %w", l.path, err)
	}
	there, err := os.Lstat(l.path)
	if err != nil || !os.SameFile(open, there) {
		return fmt.Errorf("append to %s: the file was moved or replaced while it was written; put it back, then start again", l.path)
	}
	return nil
}

// Close closes the file.
func (l *Log) Close() error { return l.f.Close() }
