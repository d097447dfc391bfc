package stream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"si/agents"
	"si/internal/clean"
	"si/internal/secret"
)

// MaxLine is how many bytes a line of an agent program may have. The longest
// that matters holds an answer; tools' output of more than 15 MB in one line has
// been seen.
const MaxLine = 4 << 20

const (
	maxSaid  = 64 << 10 // bytes of a stream that are kept for a message
	maxHead  = 4 << 10  // bytes of a line that is too long which its dialect sees
	maxText  = 32 << 10 // bytes of an event's text
	maxName  = 200      // runes of a session, a model, a tool, a tool's call
	maxEmpty = 1 << 10  // bytes of a line in which only escape codes may stand before JSON
)

// Why the program was ended from here.
var (
	errDone  = errors.New("its final event had come")
	errLimit = errors.New("a limit of its task was passed")
)

// session is one run of a program. Its lines come from one goroutine, which has
// ended when end is called.
type session struct {
	b      *Backend
	t      agents.Task
	d      Dialect
	meter  *agents.Meter
	cancel context.CancelCauseFunc
	hide   secret.Set

	stray int    // lines that are not JSON
	long  int    // lines that were too long
	limit string // the limit that was passed
	stop  func() bool
}

func newSession(b *Backend, t agents.Task, o Order, cancel context.CancelCauseFunc) *session {
	s := &session{
		b: b, t: t, d: b.p.Dialect(t, b.o.Now), meter: agents.NewMeter(t.Limits), cancel: cancel, hide: t.Secrets(o.Env),
	}
	for _, note := range o.Notes {
		s.emit(agents.Event{Kind: agents.EventNotice, Text: note})
	}
	return s
}

// hear takes one line of stdout.
func (s *session) hear(line []byte) {
	if len(line) > MaxLine {
		s.long++
		s.tell(s.d.Long(line[:maxHead]))
	} else if line, object := jsonLine(line); object {
		s.tell(s.d.Line(line))
	} else if len(line) > 0 {
		s.stray++
	}
	s.watchEnd()
}

// jsonLine trims a line, and strips escape codes that stand before its object.
func jsonLine(line []byte) (trimmed []byte, isObject bool) {
	if line = bytes.TrimSpace(line); len(line) == 0 || line[0] == '{' {
		return line, len(line) > 0
	}
	if start := bytes.IndexByte(line, '{'); start > 0 && start < maxEmpty && strings.TrimSpace(clean.Text(line[:start])) == "" {
		return line[start:], true
	}
	return line, false
}

func (s *session) tell(events []agents.Event) {
	for _, e := range events {
		s.emit(e)
	}
}

// emit makes an event harmless, tells of it, and ends the program once a limit is
// passed. What a program did after its end was asked for is told too.
func (s *session) emit(e agents.Event) {
	e.At = s.b.o.Now()
	e = e.Without(s.hide)
	e.Text = s.harmless(e.Text)
	e.Tool, e.ToolID = clean.Line(e.Tool, maxName), clean.Line(e.ToolID, maxName)
	e.Session, e.Model = clean.Line(e.Session, maxName), clean.Line(e.Model, maxName)
	if e.Usage != nil && e.CostUSD == nil {
		e.CostUSD = s.price(*e.Usage, e.Model)
	}
	if s.t.Watch != nil {
		s.t.Watch(e)
	}
	if over := s.meter.Add(e); over != "" && s.limit == "" && !s.d.Done() {
		s.limit = over
		s.cancel(errLimit)
	}
}

func (s *session) harmless(text string) string {
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "") + " […]"
	}
	return clean.Text([]byte(text))
}

// price is what the tokens cost by the table, when the program does not say it.
func (s *session) price(u agents.Usage, model string) *float64 {
	for _, name := range []string{model, s.meter.Spent().Model, s.t.Model} {
		if name == "" {
			continue
		}
		if usd := s.b.o.Price(name, u); usd != nil {
			return usd
		}
	}
	return nil
}

// watchEnd gives the program some seconds to end once its final event has come:
// some never do. More events, such as a retry's, take the word back.
func (s *session) watchEnd() {
	switch done := s.d.Done(); {
	case done && s.stop == nil:
		s.stop = s.b.o.After(s.b.o.Grace, func() { s.cancel(errDone) })
	case !done && s.stop != nil:
		s.stop()
		s.stop = nil
	}
}

// lost says what of the stream was not read, "" when nothing.
func (s *session) lost() string {
	var parts []string
	if s.long > 0 {
		parts = append(parts, fmt.Sprintf("%d lines of more than %d MiB were not read", s.long, MaxLine>>20))
	}
	if s.stray > 0 {
		parts = append(parts, fmt.Sprintf("%d lines were no JSON", s.stray))
	}
	return strings.Join(parts, ", ")
}
