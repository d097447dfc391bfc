package acp

import (
	"context"
	"fmt"
	"strings"
	"time"

	"si/agents"
	"si/internal/clean"
	"si/internal/proc"
	"si/internal/secret"
)

// backstop is how long after the wall limit the runner ends a program that its own
// session could not.
const backstop = time.Minute

const maxSaid = 10 // last lines of stderr that a failure quotes

// session is one task: one program, one conversation, in one goroutine.
type session struct {
	b       *Backend
	o       Options
	p       Profile
	t       agents.Task
	env     []string
	model   string // in use, as far as it is known
	c       *child
	log     *transcript
	meter   *agents.Meter
	secrets secret.Set
	fence   fence

	id      string // of the protocol's session
	calls   int    // requests sent
	waiting string // key of the request that is under way
	asked   bool   // the prompt was sent
	turn    bool   // the prompt is under way
	ending  bool   // what is asked now is refused

	wall  alarm
	idle  alarm
	heard time.Time

	text  answer
	held  map[agents.EventKind]*secret.Stream // words that may be the beginning of a secret wait here
	tools tools
	used  *agents.Usage
	cost  *float64
	over  string // the limit that was passed
	said  []string
	noise int // lines that are no message
	blame blame
}

// begin starts the program.
func (b *Backend) begin(ctx context.Context, t agents.Task) (*session, error) {
	s := &session{
		b: b, o: b.o, p: b.o.Profile, t: t, meter: agents.NewMeter(t.Limits), tools: newTools(), held: map[agents.EventKind]*secret.Stream{},
		fence: newFence(t),
	}
	s.env = s.p.environment(t, b.o.Lookup)
	s.secrets = t.Secrets(s.env)
	var err error
	if s.log, err = newTranscript(t.Log); err != nil {
		return nil, s.fail(agents.FailStart, "its log cannot be made", err)
	}
	args := s.p.flags(b.flags(ctx, t, s.env), firstText(t.Model, b.o.Model))
	s.heard = b.o.Clock.Now()
	s.wall, s.idle = ringAfter(b.o.Clock, t.Wall), ringAfter(b.o.Clock, t.Idle)
	s.c = launch(ctx, b.run, proc.Command{
		Path: s.p.Program, Args: args, Dir: t.Dir, Env: s.env,
		Wall: wallOf(t), Supervised: true, Contain: t.Contain,
	})
	return s, nil
}

func wallOf(t agents.Task) time.Duration {
	if t.Wall <= 0 {
		return 0
	}
	return t.Wall + backstop
}

func (s *session) close() {
	s.c.close()
	s.wall.stop()
	s.idle.stop()
	s.log.close()
}

// emit makes an event harmless, tells everybody of it, and counts it.
func (s *session) emit(e agents.Event) {
	e.At = s.o.Clock.Now()
	e = e.Without(s.secrets)
	e.Text = clean.Text([]byte(e.Text))
	e.Tool = clean.Line(e.Tool, 80)
	e.ToolID = clean.Line(e.ToolID, 100)
	s.log.event(e)
	if s.t.Watch != nil {
		s.t.Watch(e)
	}
	if over := s.meter.Add(e); s.over == "" {
		s.over = over
	}
}

func (s *session) notice(format string, args ...any) {
	s.emit(agents.Event{Kind: agents.EventNotice, Text: fmt.Sprintf(format, args...)})
}

// words tells what the model says or thinks. What may be the beginning of a secret
// waits for its end.
func (s *session) words(kind agents.EventKind, text string) {
	if s.held[kind] == nil {
		s.held[kind] = s.secrets.Stream()
	}
	if sure := s.held[kind].Next(text); sure != "" {
		s.emit(agents.Event{Kind: kind, Text: sure})
	}
}

// release tells the words that waited.
func (s *session) release() {
	for _, kind := range []agents.EventKind{agents.EventThought, agents.EventText} {
		if s.held[kind] == nil {
			continue
		}
		if text := s.held[kind].Rest(); text != "" {
			s.emit(agents.Event{Kind: kind, Text: text})
		}
	}
}

// complain keeps a line of stderr: for people, and to explain an end without an answer.
func (s *session) complain(b []byte) {
	text := clean.Line(s.secrets.Mask(string(b)), maxLogged)
	if text == "" {
		return
	}
	s.log.line("stderr: " + text)
	s.said = append(s.said, clean.Line(text, 300))
	s.said = s.said[max(0, len(s.said)-maxSaid):]
	s.suspect(text)
}

// pass counts a line of stdout that is no message.
func (s *session) pass(b []byte) {
	if s.noise++; s.noise <= 100 {
		s.log.line("no message: " + clean.Line(s.secrets.Mask(string(b[:min(len(b), 4*maxLogged)])), maxLogged))
	}
}

func (s *session) fail(kind agents.FailureKind, what string, err error) *agents.Failure {
	f := agents.Failure{
		Kind: kind, Role: s.t.Role, ID: s.t.ID, What: what, Log: s.t.Log, Err: err, Said: strings.Join(s.said, "\n"), Spent: s.meter.Spent(),
	}
	hidden := f.Without(s.secrets)
	hidden.What = clean.Line(hidden.What, 500)
	return hidden
}

func firstText(texts ...string) string {
	for _, t := range texts {
		if t = strings.TrimSpace(t); t != "" {
			return t
		}
	}
	return ""
}
