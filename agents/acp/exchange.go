package acp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"time"

	"si/agents"
)

// The reasons to stop listening.
var (
	errGone = errors.New("the program has ended")
	errWall = errors.New("its limit of time is over")
	errIdle = errors.New("it printed nothing for too long")
	errSlow = errors.New("it did not answer in time")
	errOver = errors.New("a limit is passed")
)

// JSON-RPC 2.0 errors that si gives.
const (
	codeNoMethod = -32601
	codeTooLong  = -32600
)

// next is the program's next message.
func (s *session) next(ctx context.Context, limit <-chan struct{}) (message, error) {
	for {
		select {
		case l := <-s.c.lines:
			if m, is := s.take(l); is {
				return m, nil
			}
		case <-s.c.gone:
			return message{}, errGone
		case <-ctx.Done():
			return message{}, ctx.Err()
		case <-s.wall.rang:
			return message{}, errWall
		case <-s.idle.rang:
			if !s.stillHeard() {
				return message{}, errIdle
			}
		case <-limit:
			return message{}, errSlow
		}
	}
}

// take reads a line; false for one that is no message.
func (s *session) take(l line) (message, bool) {
	s.heard = s.o.Clock.Now()
	if l.stderr {
		s.complain(l.text)
		return message{}, false
	}
	m := read(l.text)
	if m.long {
		s.notice("a message of more than %d bytes was passed over", maxLine)
	}
	if m.sort == stray {
		s.pass(l.text)
		return message{}, false
	}
	s.blame = blame{}
	return m, true
}

// stillHeard says whether something came within the idle limit, and sets the alarm
// for when it will be over.
func (s *session) stillHeard() bool {
	quiet := s.o.Clock.Now().Sub(s.heard)
	if quiet >= s.t.Idle {
		return false
	}
	s.idle = ringAfter(s.o.Clock, s.t.Idle-quiet)
	return true
}

// call sends a request and handles what comes until its answer does; 0 is no
// limit. The error of the program is an *rpcError.
func (s *session) call(ctx context.Context, method string, params any, limit time.Duration) (json.RawMessage, error) {
	s.calls++
	s.waiting = strconv.Itoa(s.calls)
	defer func() { s.waiting = "" }()
	err := s.send(map[string]any{"jsonrpc": "2.0", "id": s.calls, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	slow := ringAfter(s.o.Clock, limit)
	defer slow.stop()
	for {
		m, err := s.next(ctx, slow.rang)
		if err != nil {
			return nil, err
		}
		if s.answers(m) {
			return result(m, method)
		}
		if err := s.handle(m); err != nil {
			return nil, err
		}
		if s.over != "" {
			return nil, errOver
		}
	}
}

// answers says whether m is the answer that is waited for. An error without an id
// is: the program could not read what was sent.
func (s *session) answers(m message) bool {
	if m.sort != reply || s.waiting == "" {
		return false
	}
	key := idKey(m.ID)
	return key == s.waiting || key == "" && m.Error != nil
}

func result(m message, method string) (json.RawMessage, error) {
	if m.Error != nil {
		m.Error.method = method
		return nil, m.Error
	}
	if m.long {
		return nil, &rpcError{method: method, Message: "its answer is too long to be read"}
	}
	return m.Result, nil
}

// send queues a message; the stdin of a program that has ended takes none.
func (s *session) send(message any) error {
	err := s.c.out.send(message)
	if errors.Is(err, io.ErrClosedPipe) {
		return errGone
	}
	return err
}

func (s *session) notify(method string, params any) error {
	return s.send(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
}

func (s *session) reply(m message, result any) error {
	return s.send(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": result})
}

func (s *session) refuse(m message, code int, text string) error {
	return s.send(map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": map[string]any{"code": code, "message": text}})
}

// handle does what a message that is no awaited answer asks for.
func (s *session) handle(m message) error {
	switch m.sort {
	case request:
		if m.long {
			return s.refuse(m, codeTooLong, "the request is too long")
		}
		if m.Method == "session/request_permission" {
			return s.permission(m)
		}
		s.log.line("asked for " + m.Method + ", which is not offered")
		return s.refuse(m, codeNoMethod, "method not found: it is not among this client's capabilities")
	case notification:
		if m.Method == "session/update" {
			s.update(m)
		}
	case stray, reply: // an answer that nobody waits for: it came too late
	}
	return nil
}

// update tells what a session/update says. Kinds that si does not know are passed
// over.
func (s *session) update(m message) {
	u := m.Params.Update
	own := s.id == "" || m.Params.SessionID == "" || m.Params.SessionID == s.id
	switch u.Kind {
	case "agent_message_chunk":
		if own { // an agent's helpers have sessions of their own, and their words are no answer
			s.chunk(u)
		}
	case "agent_thought_chunk":
		s.words(agents.EventThought, textOf(u.Content))
	case "tool_call", "tool_call_update":
		s.text.interrupt()
		s.tool(u, false)
	case "plan":
		s.emit(agents.Event{Kind: agents.EventPlan, Text: planText(u.Entries)})
	case "usage_update":
		s.money(u)
	case "current_mode_update":
		s.log.line("mode: " + s.plain(u.Mode))
	}
}

func (s *session) chunk(u update) {
	text := textOf(u.Content)
	if text != "" && !s.asked { // programs chat about their settings, too
		s.log.line("before the turn: " + s.plain(text))
		return
	}
	if text != "" {
		s.flushTools()
		s.text.add(u.MessageID, text)
		s.words(agents.EventText, text)
	}
	if u.Meta.Usage != nil {
		s.step(u.Meta.Usage)
	}
}

// money takes what the session has cost so far. What the update says of tokens is
// the size of the context, not what was used.
func (s *session) money(u update) {
	if u.Cost == nil || u.Cost.Amount == nil || *u.Cost.Amount < 0 || u.Cost.Currency != "" && u.Cost.Currency != "USD" {
		return
	}
	s.cost = u.Cost.Amount
	s.tellUsage()
}
