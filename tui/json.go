package tui

import (
	"encoding/json"
	"io"
	"sync"

	"si/track"
)

// JSON prints the journal's events, one object a line.
type JSON struct {
	mu  sync.Mutex
	out io.Writer
}

// NewJSON writes to out.
func NewJSON(out io.Writer) *JSON { return &JSON{out: out} }

// Event prints one event. It is safe for concurrent use.
func (j *JSON) Event(e track.Event) {
	line, err := json.Marshal(e)
	if err != nil {
		return // an event that was written to the journal can be encoded
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	_, _ = j.out.Write(append(line, '\n')) // a closed pipe does not stop the loop
}
