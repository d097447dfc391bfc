package httpmodel

import (
	"context"
	"errors"
	"fmt"

	"si/agents"
	"si/agents/httpmodel/tools"
	"si/internal/clean"
)

const (
	maxTurns    = 1000 // requests of one task; the limits of a task end it far earlier
	maxBadCalls = 8    // in a row, with arguments that cannot be read
	maxBrief    = 200  // runes of a tool's result in an event
)

// converse asks the model, runs the tools that it calls, and asks again, until
// it has no more calls to make.
func (s *session) converse(ctx context.Context) (agents.Answer, error) {
	s.messages = []Message{{From: User, Text: s.t.Prompt}}
	s.size.add(s.messages[0])
	s.emit(agents.Event{Kind: agents.EventStarted, Model: s.model})
	if s.quirks.NoTools && s.t.Role.Edits() {
		return agents.Answer{}, s.fail(agents.FailStart, "its server takes no tools for this model, so that it cannot edit: name another model", nil)
	}
	if s.quirks.NoTools {
		s.emit(agents.Event{Kind: agents.EventNotice, Text: "the model is offered no tools: its server does not take them"})
	}
	for range maxTurns {
		reply, err := s.turn(ctx, false)
		if err != nil {
			return agents.Answer{}, err
		}
		if answer, given := calledAnswer(reply); given {
			return answer, nil
		}
		if len(reply.Message.Calls) == 0 {
			return s.finish(ctx, reply)
		}
		if err := s.callAll(ctx, reply.Message.Calls); err != nil {
			return agents.Answer{}, err
		}
		s.keepShort()
	}
	return agents.Answer{}, s.fail(agents.FailLimit, fmt.Sprintf("it asked its model %d times without coming to an end", maxTurns), nil)
}

// turn gets one reply and takes it into the conversation.
func (s *session) turn(ctx context.Context, closing bool) (Reply, error) {
	reply, err := s.ask(ctx, closing)
	if err != nil {
		return Reply{}, err
	}
	s.size.measured(reply.Usage)
	switch {
	case s.over != "":
		return Reply{}, s.fail(agents.FailLimit, s.over, nil)
	case reply.Stop == StopLength:
		return Reply{}, s.fail(agents.FailTruncated, "its answer was cut at the limit of tokens of one answer: raise max_tokens", nil)
	case reply.Stop == StopRefused:
		return Reply{}, s.fail(agents.FailModel, "the model refused to answer", nil)
	}
	s.messages = append(s.messages, reply.Message)
	if reply.Usage == nil {
		s.size.add(reply.Message)
	}
	return reply, nil
}

// request is the next question. Nothing is offered when the answer is wanted now.
func (s *session) request(closing bool) Request {
	r := Request{
		Model: s.model, Effort: firstText(s.t.Effort, s.o.Effort), MaxTokens: s.o.MaxTokens,
		System: s.system(), Messages: s.messages, Schema: s.t.Schema, Quirks: s.quirks,
		Closing: closing || s.quirks.NoTools && len(s.t.Schema) > 0,
	}
	if !closing && !s.quirks.NoTools {
		r.Tools = s.box.Specs()
	}
	return r
}

func (s *session) system() string {
	text := "You work in the folder " + s.t.Dir + ". Paths of files are relative to it, and nothing outside of it can be reached by the file tools. " +
		"Call a tool whenever you need one; call several at once when they do not depend on each other. "
	if s.t.Role.Edits() {
		return text + "You may edit files and run commands. Nobody can answer questions: decide by yourself. When you are done, write your report and call no tool."
	}
	return text + "You may read and search, and change nothing. Nobody can answer questions: decide by yourself. When you know enough, write your answer and call no tool."
}

// callAll runs the calls in their order and takes the results into the
// conversation.
func (s *session) callAll(ctx context.Context, calls []Call) error {
	m := Message{From: Tools}
	for _, c := range calls {
		result, err := s.call(ctx, c)
		if err != nil {
			return err
		}
		m.Results = append(m.Results, result)
	}
	s.messages = append(s.messages, m)
	s.size.add(m)
	return nil
}

func (s *session) call(ctx context.Context, c Call) (Result, error) {
	name := clean.Line(c.Name, 60)
	s.emit(agents.Event{Kind: agents.EventToolStart, Tool: name, ToolID: c.ID, Text: tools.Summary(c.Name, c.Args)})
	if s.over != "" { // before it is run: a limit that lets one more through is none
		return Result{}, s.fail(agents.FailLimit, s.over, nil)
	}
	r := s.box.Call(ctx, c.Name, c.Args)
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	r.Text = s.hide.Mask(r.Text)
	s.emit(agents.Event{Kind: agents.EventToolEnd, Tool: name, ToolID: c.ID, Text: clean.Line(r.Text, maxBrief), Failed: r.Failed})
	if s.badCalls++; !r.Malformed {
		s.badCalls = 0
	}
	if s.badCalls >= maxBadCalls {
		return Result{}, s.fail(agents.FailLimit, fmt.Sprintf("it made %d tool calls in a row that cannot be understood", s.badCalls), errors.New(clean.Line(r.Text, 300)))
	}
	return Result{ID: c.ID, Name: c.Name, Text: r.Text, Failed: r.Failed}, nil
}
