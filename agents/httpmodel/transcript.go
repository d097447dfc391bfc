package httpmodel

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"si/agents"
)

// maxTranscript is how many bytes of a conversation are written down.
const maxTranscript = 16 << 20

// transcript writes down for people what was said and done. Its errors are not
// the task's: a full disk shows elsewhere.
type transcript struct {
	file *os.File // nil when there is none
	left int
}

// newTranscript makes a new file: what was there is never written through, since it
// could be a link.
func newTranscript(path string) (*transcript, error) {
	if path == "" {
		return &transcript{}, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("make the folder of the log: %w", err)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("replace the log: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("make the log: %w", err)
	}
	return &transcript{file: f, left: maxTranscript}, nil
}

func (l *transcript) close() {
	if l.file != nil {
		l.file.Close()
	}
}

// event writes e, which has been cleaned.
func (l *transcript) event(e agents.Event) {
	text := e.Text
	switch e.Kind { //nolint:exhaustive // the others are told by their kind and text
	case agents.EventUsage:
		text = fmt.Sprintf("input %d, cache read %d, cache write %d, output %d", e.Usage.Input, e.Usage.CacheRead, e.Usage.CacheWrite, e.Usage.Output)
		if e.CostUSD != nil {
			text += fmt.Sprintf(", $%.4f", *e.CostUSD)
		}
	case agents.EventToolStart, agents.EventToolEnd:
		text = e.Tool + " " + text
		if e.Failed {
			text += " (failed)"
		}
	case agents.EventStarted:
		text = e.Model
	}
	l.line(fmt.Sprintf("%s %s: %s", e.At.UTC().Format(time.TimeOnly), e.Kind, text))
}

func (l *transcript) line(text string) {
	if l.file == nil || l.left <= 0 {
		return
	}
	if l.left -= len(text) + 1; l.left <= 0 {
		text = fmt.Sprintf("[the log has reached its limit of %d bytes]", maxTranscript)
	}
	fmt.Fprintln(l.file, text)
}
