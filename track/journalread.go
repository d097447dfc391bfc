package track

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
)

// JournalReader reads a journal event by event, also while another process
// appends to it. It is not safe for concurrent use.
type JournalReader struct {
	f      *os.File
	r      *bufio.Reader
	offset int64 // of the next line
	line   int   // lines read
	torn   int
	buf    []byte
}

// OpenJournalReader opens the journal at path. Offset is where to begin: 0, or
// what Offset gave.
func OpenJournalReader(path string, offset int64) (*JournalReader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the journal: %w", err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &FileError{Path: path, What: "not a regular file", Hint: "move it away"}
	}
	if err == nil {
		_, err = f.Seek(offset, io.SeekStart)
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("read the journal: %w", err)
	}
	return &JournalReader{f: f, r: bufio.NewReaderSize(f, 64<<10), offset: offset}, nil
}

// Next returns the next event. It returns io.EOF where the whole lines end, and
// may be called again when the file has grown. A line that is no event is a
// *FileError that names it.
func (j *JournalReader) Next() (Event, error) {
	for {
		line, err := j.readLine()
		if err != nil {
			return Event{}, err
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue // an editor's blank line says nothing
		}
		return j.event(line)
	}
}

func (j *JournalReader) event(line []byte) (Event, error) {
	e, ok := parseEventLine(line)
	if !ok {
		if err := json.Unmarshal(line, &e); err != nil {
			return Event{}, j.damage("not an event: "+err.Error(), err)
		}
	}
	if e.Ev == "" || e.TS.IsZero() {
		return Event{}, j.damage("not an event: ts or ev is missing", nil)
	}
	return e, nil
}

func (j *JournalReader) damage(what string, err error) error {
	return &FileError{Path: j.f.Name(), Line: j.line, What: what, Hint: "correct the line or remove it; the documents of the track are not touched by that", Err: err}
}

// readLine returns the next whole line without its newline. The part of a line
// at the end of the file is left for a later call.
func (j *JournalReader) readLine() ([]byte, error) {
	j.buf = j.buf[:0]
	for {
		part, err := j.r.ReadSlice('\n')
		j.buf = append(j.buf, part...)
		if len(j.buf) > maxEventLine+1 {
			j.line++
			return nil, j.damage(fmt.Sprintf("the line is longer than %d bytes", maxEventLine), nil)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if errors.Is(err, io.EOF) {
			return nil, j.rewind()
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", j.f.Name(), err)
		}
		j.offset += int64(len(j.buf))
		j.line++
		j.torn = 0
		return j.buf[:len(j.buf)-1], nil
	}
}

// rewind goes back to the start of the unfinished line and returns io.EOF.
func (j *JournalReader) rewind() error {
	j.torn = len(j.buf)
	if _, err := j.f.Seek(j.offset, io.SeekStart); err != nil {
		return fmt.Errorf("read %s: %w", j.f.Name(), err)
	}
	j.r.Reset(j.f)
	return io.EOF
}

// Torn is the length of the unfinished last line when Next has returned io.EOF:
// left by a crash, or about to be finished by a process that writes.
func (j *JournalReader) Torn() int { return j.torn }

// Offset is where the next line begins.
func (j *JournalReader) Offset() int64 { return j.offset }

// Close closes the file.
func (j *JournalReader) Close() error { return j.f.Close() }

// ReadJournal yields the events of the journal at path, oldest first, without
// holding more than one in memory. An absent journal has none. A torn last line
// ends the sequence silently; anything else that cannot be read ends it with an
// error, a *FileError for a damaged line.
func ReadJournal(path string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		r, err := OpenJournalReader(path, 0)
		if errors.Is(err, os.ErrNotExist) {
			return
		}
		if err != nil {
			yield(Event{}, err)
			return
		}
		defer r.Close() // opened for reading only
		for {
			e, err := r.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}
