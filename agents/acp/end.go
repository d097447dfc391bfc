package acp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"si/agents"
	"si/internal/proc"
)

// How long the program has for each step of its end; TERM and KILL follow.
const (
	cancelGrace = 3 * time.Second // from session/cancel to the end of the turn
	closeGrace  = 5 * time.Second // from the end of its stdin to its own
)

// stopped judges the end of a turn by what the program says of it.
func (s *session) stopped(reason string) error {
	switch reason {
	case "end_turn":
		return s.spoke()
	case "max_tokens":
		return s.fail(agents.FailTruncated, "its answer was cut at its limit of tokens", nil)
	case "max_turn_requests":
		return s.fail(agents.FailLimit, "it asked its model as often as it may in one turn", nil)
	case "refusal":
		return s.fail(agents.FailModel, "the model refused to answer", nil)
	case "cancelled":
		return s.fail(agents.FailTruncated, "it gave up its turn by itself", nil)
	}
	return s.fail(agents.FailTruncated, fmt.Sprintf("its turn ended without saying that it was done (%q)", reason), nil)
}

// spoke wants words. A role that edits is judged by its workspace, so that work
// without words is work.
func (s *session) spoke() error {
	switch {
	case strings.TrimSpace(s.text.String()) != "":
	case s.t.Role.Edits() && s.meter.Spent().Tools > 0:
		s.notice("it worked, and said nothing")
	default:
		return s.fail(agents.FailAnswer, "it ended its turn without a word", nil)
	}
	return nil
}

// end stops the program: by its protocol, by the end of its stdin, by signals. It
// returns when nothing of it is left. Words that are late are still heard.
func (s *session) end(ctx context.Context, why error) {
	s.ending = why != nil
	if s.ending && s.turn && s.notify("session/cancel", map[string]any{"sessionId": s.id}) == nil {
		s.waiting = fmt.Sprint(s.calls)
		s.listen(nil, cancelGrace)
	}
	_ = s.c.out.Close()
	var hurry <-chan struct{}
	if !s.ending {
		hurry = ctx.Done()
	}
	s.listen(hurry, closeGrace)
	s.c.kill()
	s.listen(nil, 0)
	s.flushTools()
	s.release()
	if s.noise > 0 {
		s.log.line(fmt.Sprintf("%d lines of its output were no messages", s.noise))
	}
}

// listen handles what still comes: until the program has ended, until it has
// answered what is waited for, for at most limit, or until hurry.
func (s *session) listen(hurry <-chan struct{}, limit time.Duration) {
	over := ringAfter(s.o.Clock, limit)
	defer over.stop()
	for {
		select {
		case l := <-s.c.lines:
			m, is := s.take(l)
			if is && s.answers(m) {
				s.waiting = ""
				s.account(m.Result)
				return
			}
			if is {
				_ = s.handle(m) // a program that does not read is ended all the same
			}
		case <-s.c.gone:
			return
		case <-over.rang:
			return
		case <-hurry:
			return
		}
	}
}

// verdict turns the end of the conversation and of the program into an error. A
// finished turn is kept, however the program ended after it.
func (s *session) verdict(ctx context.Context, err error) error {
	var f *agents.Failure
	var refused *rpcError
	switch {
	case err == nil:
		return s.remains()
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &f):
	case errors.As(err, &refused):
		f = s.refused(refused)
	case errors.Is(err, errOver):
		f = s.fail(agents.FailLimit, s.over, nil)
	case errors.Is(err, errWall):
		f = s.explained(s.fail(agents.FailTimeout, fmt.Sprintf("ended after its limit of %s", s.t.Wall), nil))
	case errors.Is(err, errIdle):
		f = s.explained(s.fail(agents.FailIdle, fmt.Sprintf("ended after %s without output", s.t.Idle), nil))
	case errors.Is(err, errSlow):
		f = s.fail(agents.FailStart, "it does not answer: is it a program that speaks the Agent Client Protocol with these flags?", nil)
	case errors.Is(err, errGone):
		f = s.explained(s.died())
	default:
		f = s.fail(agents.FailModel, "the conversation with it broke off", err)
	}
	f.Spent = s.meter.Spent()
	s.log.line("failed: " + f.Error())
	return f
}

// remains is the failure of a program of which not all could be ended: what such
// a one leaves is not to be trusted.
func (s *session) remains() error {
	if s.c.err == nil {
		return nil
	}
	return s.fail(agents.FailExit, "it finished, but not all of it could be ended", s.c.err)
}

// died names the end of a program that ended before its turn did.
func (s *session) died() *agents.Failure {
	r := s.c.result
	kind := agents.FailExit
	if s.id == "" {
		kind = agents.FailStart // it did nothing yet: another one may take its place
	}
	when := " before it had answered"
	var f *agents.Failure
	switch r.Outcome {
	case "":
		return s.fail(agents.FailStart, "it cannot be run", s.c.err)
	case proc.TimedOut:
		return s.fail(agents.FailTimeout, fmt.Sprintf("ended after its limit of %s", s.t.Wall), nil)
	case proc.Signaled:
		f = s.fail(kind, "ended by the signal "+r.Signal+when, s.c.err)
	case proc.Exited, proc.IdledOut, proc.Cancelled:
		if r.Code == 0 && kind == agents.FailExit {
			kind = agents.FailTruncated
		}
		f = s.fail(kind, fmt.Sprintf("it ended with exit code %d%s", r.Code, when), s.c.err)
	}
	if f == nil {
		f = s.fail(kind, fmt.Sprintf("it ended in an unknown way, %q", r.Outcome), s.c.err)
	}
	f.Code = r.Code
	return f
}
