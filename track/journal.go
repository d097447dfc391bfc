package track

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"

	"si/internal/durable"
)

// maxEventLine bounds one line of the journal in bytes, on writing and on
// reading. Output of agents and benchmarks does not belong into the journal.
const maxEventLine = 4 << 20

// Journal appends events to a file. It is safe for concurrent use.
type Journal struct {
	mu  sync.Mutex
	log *durable.Log
}

// OpenJournal opens the journal at path for appending and creates it when it is
// absent. The torn last line that a crash leaves is cut off; torn is its length.
func OpenJournal(s *durable.Store, path string) (j *Journal, torn int, err error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		// Replace syncs the folder too, so that the first events do not vanish
		// together with their file.
		err = s.Replace(path, nil, 0o644)
	case err == nil && !info.Mode().IsRegular():
		err = &FileError{Path: path, What: "not a regular file", Hint: "move it away"}
	}
	if err != nil {
		return nil, 0, fmt.Errorf("open the journal: %w", err)
	}
	log, torn, err := s.OpenLog(path)
	if err != nil {
		return nil, 0, fmt.Errorf("open the journal: %w", err)
	}
	return &Journal{log: log}, torn, nil
}

// Append puts one event on disk; when it returns nil the event survives a
// crash. The event's kind must be one of Kinds and its time be set.
func (j *Journal) Append(e Event) error {
	line, err := encodeEvent(e)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.log.Append(line)
}

func encodeEvent(e Event) ([]byte, error) {
	if !e.Ev.known() {
		return nil, fmt.Errorf("write a journal event: kind %q is not one of the known kinds", clip(string(e.Ev), 40))
	}
	if e.TS.IsZero() {
		return nil, fmt.Errorf("write a %s event: it has no time", e.Ev)
	}
	e.TS = e.TS.UTC()
	line, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("write a %s event: %w", e.Ev, err)
	}
	if len(line) > maxEventLine {
		return nil, fmt.Errorf("write a %s event: %d bytes are more than the %d that a line of the journal can have", e.Ev, len(line), maxEventLine)
	}
	return line, nil
}

// Close closes the journal's file.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.log.Close(); err != nil {
		return fmt.Errorf("close the journal: %w", err)
	}
	return nil
}
