package acp

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"si/agents"
	"si/internal/clean"
)

const (
	maxTranscript = 16 << 20 // bytes that are written down
	maxLogged     = 2000     // runes of one line of a tool or of stderr
)

// transcript writes down for people what was said and done. What it is given has
// been cleaned. Its errors are not the task's: a full disk shows elsewhere.
type transcript struct {
	file    *os.File // nil when there is none
	left    int
	talking agents.EventKind // whose words the last line holds
}

// newTranscript makes a new file: what was there is never written through, since
// it could be a link.
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
		_ = l.file.Close()
	}
}

// event writes e. Words come in small parts, which are put together again.
func (l *transcript) event(e agents.Event) {
	if e.Kind == agents.EventText || e.Kind == agents.EventThought {
		if l.talking != e.Kind {
			l.line(stamp(e))
			l.talking = e.Kind
		}
		l.put(e.Text)
		return
	}
	text := clean.Line(e.Text, maxLogged)
	switch e.Kind { //nolint:exhaustive // the others are told by their kind and text
	case agents.EventUsage:
		text = usageText(e)
	case agents.EventToolStart, agents.EventToolEnd, agents.EventPermission:
		text = e.Tool + " " + text
	case agents.EventStarted:
		text = e.Model + " session " + e.Session
	}
	if e.Failed {
		text += " (failed)"
	}
	l.line(stamp(e) + " " + text)
}

func stamp(e agents.Event) string {
	return e.At.UTC().Format(time.TimeOnly) + " " + string(e.Kind) + ":"
}

func usageText(e agents.Event) string {
	text := "tokens unknown"
	if u := e.Usage; u != nil {
		text = fmt.Sprintf("input %d, cache read %d, cache write %d, output %d", u.Input, u.CacheRead, u.CacheWrite, u.Output)
	}
	if e.CostUSD != nil {
		text += fmt.Sprintf(", $%.4f", *e.CostUSD)
	}
	return text
}

// line writes one line of its own.
func (l *transcript) line(text string) {
	if l.talking != "" {
		text = "\n" + text
	}
	l.talking = ""
	l.put(text + "\n")
}

func (l *transcript) put(text string) {
	if l.file == nil || l.left <= 0 {
		return
	}
	if l.left -= len(text); l.left <= 0 {
		text = fmt.Sprintf("\n[the log has reached its limit of %d bytes]\n", maxTranscript)
	}
	_, _ = l.file.WriteString(text)
}
