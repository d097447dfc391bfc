package httpmodel

import (
	"context"
	"errors"
	"fmt"

	"si/agents"
	"si/agents/httpmodel/tools"
	"si/internal/clean"
	"si/internal/secret"
)

// session is one task: one conversation, in one goroutine.
type session struct {
	b      *Backend
	o      Options
	t      agents.Task
	model  string
	key    string
	hide   secret.Set
	client *client
	box    *tools.Box
	meter  *agents.Meter
	log    *transcript
	quirks Quirks

	messages []Message
	usage    agents.Usage
	size     size
	badCalls int    // in a row, with arguments that could not be read
	over     string // the limit that was passed
}

func (b *Backend) session(t agents.Task) (*session, error) {
	s := &session{b: b, o: b.o, t: t, model: firstText(t.Model, b.o.Model), meter: agents.NewMeter(t.Limits)}
	if s.model == "" {
		return nil, s.fail(agents.FailStart, "no model is named for it: name one in si.agents of settings.json", nil)
	}
	s.quirks = b.known(s.model)
	var found bool
	if s.key, found = lookup(t.Env, b.o.KeyEnv); b.o.KeyEnv != "" && (!found || s.key == "") {
		return nil, s.fail(agents.FailAuth, fmt.Sprintf("the variable %s, which is to hold its key, is not set or not handed to agents", clean.Line(b.o.KeyEnv, 100)), nil)
	}
	s.hide = t.Secrets(t.Env).With(s.key)
	var err error
	if s.client, err = newClient(b.wire, b.o, t.Env, s.key, t.Idle); err != nil {
		return nil, s.fail(agents.FailStart, "its server cannot be asked", err)
	}
	if s.box, err = tools.Open(t.Dir, t.Role.Edits(), b.shell(t, s.key)); err != nil {
		s.client.close()
		return nil, s.fail(agents.FailStart, "its folder cannot be opened", err)
	}
	if s.log, err = newTranscript(t.Log); err != nil {
		s.client.close()
		return nil, errors.Join(s.fail(agents.FailStart, "its log cannot be made", err), s.box.Close())
	}
	return s, nil
}

func (s *session) close() {
	s.client.close()
	s.box.Close()
	s.log.close()
}

// emit makes an event harmless, tells everybody of it, and counts it.
func (s *session) emit(e agents.Event) {
	e.At = s.o.Clock.Now()
	e = e.Without(s.hide)
	e.Text = clean.Text([]byte(e.Text))
	s.log.event(e)
	if s.t.Watch != nil {
		s.t.Watch(e)
	}
	if over := s.meter.Add(e); s.over == "" {
		s.over = over
	}
}

// account adds what a reply used.
func (s *session) account(r Reply) {
	if r.Usage == nil {
		return
	}
	s.usage = s.usage.Add(*r.Usage)
	sum := s.usage
	cost := s.o.Price(s.model, sum)
	if cost == nil && r.Model != "" {
		cost = s.o.Price(r.Model, sum)
	}
	s.emit(agents.Event{Kind: agents.EventUsage, Usage: &sum, CostUSD: cost})
}

func (s *session) fail(kind agents.FailureKind, what string, err error) *agents.Failure {
	f := agents.Failure{
		Kind: kind, Role: s.t.Role, ID: s.t.ID, What: what, Log: s.t.Log, Err: err, Spent: s.meter.Spent(),
	}
	return f.Without(s.hide)
}

// failed names the end of a conversation that came to no answer.
func (s *session) failed(ctx context.Context, err error) error {
	var f *agents.Failure
	switch {
	case errors.Is(err, errWall):
		f = s.fail(agents.FailTimeout, fmt.Sprintf("ended after its limit of %s", s.t.Wall), nil)
	case errors.Is(err, errIdle):
		f = s.fail(agents.FailIdle, fmt.Sprintf("its server sent nothing for %s", s.t.Idle), nil)
	case ctx.Err() != nil && errors.Is(context.Cause(ctx), errWall):
		f = s.fail(agents.FailTimeout, fmt.Sprintf("ended after its limit of %s", s.t.Wall), nil)
	case ctx.Err() != nil:
		return ctx.Err()
	case !errors.As(err, &f):
		f = s.fail(agents.FailModel, "its conversation broke off", err)
	}
	f.Spent = s.meter.Spent()
	s.log.line("failed: " + f.Error())
	return f
}
