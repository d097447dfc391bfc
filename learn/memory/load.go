package memory

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"si/internal/clean"
)

const (
	maxFaults = 20
	maxTail   = 128 // bytes
)

// line is one line of the file: a record, or that one is forgotten.
type line struct {
	Record
	Forget string `json:"forget,omitempty"` // id
	Digest string `json:"digest,omitempty"` // of the content of a record that was erased
}

// memo is a record with its words.
type memo struct {
	Record
	words map[string]int // how often each is in it
	count int
}

// state is the file as it was read so far.
type state struct {
	file      os.FileInfo
	size      int64  // of the whole lines
	tail      []byte // the last bytes before size: a file that is another one differs there
	lines     int
	last      int // the highest number of an id
	live      []memo
	known     map[string]string // by digest: the id
	digests   map[string]string // by id
	forgotten map[string]bool   // by digest
	faults    []string
}

func newState() *state {
	return &state{known: map[string]string{}, digests: map[string]string{}, forgotten: map[string]bool{}}
}

// load reads what the file gained. A file that was replaced or has shrunk is read
// anew; one that is not there is empty.
func (s *Store) load() (*state, error) {
	f, err := os.OpenFile(s.path(), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		s.read = newState()
		return s.read, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the memories: %w", err)
	}
	defer f.Close() // opened for reading only
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file; move it away", s.path())
	}
	if err != nil {
		return nil, fmt.Errorf("read the memories: %w", err)
	}
	if s.read == nil || s.read.file == nil || !os.SameFile(s.read.file, info) || !s.read.goesOn(f) {
		s.read = newState()
	}
	s.read.file = info
	if _, err := f.Seek(s.read.size, io.SeekStart); err != nil {
		return nil, fmt.Errorf("read the memories: %w", err)
	}
	if err := s.read.take(io.LimitReader(f, maxFile-s.read.size)); err != nil {
		return nil, fmt.Errorf("read the memories in %s: %w", s.path(), err)
	}
	return s.read, nil
}

// goesOn reports whether the file still begins with what was read of it: the number of
// a file that was replaced can be given to a later one.
func (st *state) goesOn(f io.ReaderAt) bool {
	now := make([]byte, len(st.tail))
	_, err := f.ReadAt(now, st.size-int64(len(now)))
	return (err == nil || errors.Is(err, io.EOF)) && bytes.Equal(now, st.tail)
}

// take reads whole lines; a torn last one is left for the next look, and cut off by
// the next writer.
func (st *state) take(r io.Reader) error {
	in := bufio.NewReaderSize(r, maxLine)
	for {
		data, err := in.ReadSlice('\n')
		size := int64(len(data))
		long := false
		for errors.Is(err, bufio.ErrBufferFull) {
			long = true
			data, err = in.ReadSlice('\n')
			size += int64(len(data))
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		st.size += size
		st.lines++
		st.tail = append(st.tail[:0], data[max(0, len(data)-maxTail):]...)
		if long {
			st.fault(errors.New("it is too long"))
		} else if data = bytes.TrimSpace(data); len(data) > 0 {
			st.one(data)
		}
	}
}

func (st *state) one(data []byte) {
	var l line
	if err := json.Unmarshal(data, &l); err != nil {
		st.fault(err)
		return
	}
	switch {
	case l.Forget != "":
		st.forget(l.Forget)
	case l.Digest != "":
		st.count(l.ID)
		st.forgotten[l.Digest] = true
	default:
		st.record(l.Record)
	}
}

// record takes a record of the file, which anybody can have edited: its texts are made
// harmless again.
func (st *state) record(r Record) {
	id, at := r.ID, r.CreatedAt
	r, err := r.sound()
	if err == nil && !st.count(id) {
		err = errors.New("its id is not M- and a number")
	}
	if err == nil && st.digests[id] != "" {
		err = fmt.Errorf("the id %s stands twice", id)
	}
	if err != nil {
		st.fault(err)
		return
	}
	r.ID, r.CreatedAt = id, at
	digest := digestOf(r.Content)
	st.digests[id] = digest
	if _, twice := st.known[digest]; !twice {
		st.known[digest] = id
	}
	st.live = append(st.live, memoOf(r))
}

func (st *state) count(id string) bool {
	var n int
	if _, err := fmt.Sscanf(id, "M-%d", &n); err != nil || n < 1 || fmt.Sprintf("M-%d", n) != id {
		return false
	}
	st.last = max(st.last, n)
	return true
}

func (st *state) forget(id string) {
	digest := st.digests[id]
	if digest == "" {
		return
	}
	st.forgotten[digest] = true
	delete(st.known, digest)
	st.live = slices.DeleteFunc(st.live, func(m memo) bool { return st.digests[m.ID] == digest })
}

func (st *state) fault(err error) {
	if len(st.faults) < maxFaults {
		st.faults = append(st.faults, clean.Line(fmt.Sprintf("line %d: %v", st.lines, err), 300))
	}
}

// whole is the file up to size.
func (s *Store) whole(size int64) ([]byte, error) {
	f, err := os.OpenFile(s.path(), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close() // opened for reading only
	return io.ReadAll(io.LimitReader(f, size))
}

func short(text string) string { return clean.Line(text, 80) }
