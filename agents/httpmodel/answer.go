package httpmodel

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"si/agents"
)

// closingOrder asks for the answer in the form that the server can hold it to.
const closingOrder = "Give your answer now: the one JSON object that was asked for, and nothing else."

// finish makes the answer of the model's last words. Where a schema is wanted and
// the words do not keep it, the model is asked once more with the server's own
// means of holding it to the schema, and without tools. It is not done from the
// start: several servers make a model that is held to a schema unable to call
// tools.
func (s *session) finish(ctx context.Context, last Reply) (agents.Answer, error) {
	text := last.Message.Text
	if len(s.t.Schema) == 0 {
		if strings.TrimSpace(text) == "" && !s.t.Role.Edits() {
			return agents.Answer{}, s.fail(agents.FailAnswer, "its model ended without a word", nil)
		}
		return agents.Answer{Text: text}, nil
	}
	if doc := document(text); doc != nil && keeps(s.t.Schema, doc) {
		return agents.Answer{Text: text, JSON: doc}, nil
	}
	if s.quirks.NoTools { // the form was asked for already
		return agents.Answer{Text: text, JSON: document(text)}, nil
	}
	s.say(closingOrder)
	reply, err := s.turn(ctx, true)
	if err != nil {
		return agents.Answer{}, err
	}
	if answer, given := calledAnswer(reply); given {
		return answer, nil
	}
	return agents.Answer{Text: firstText(reply.Message.Text, text), JSON: document(reply.Message.Text)}, nil
}

func (s *session) say(text string) {
	m := Message{From: User, Text: text}
	s.messages = append(s.messages, m)
	s.size.add(m)
}

// calledAnswer is the answer that the model gave by a call of AnswerTool.
func calledAnswer(r Reply) (agents.Answer, bool) {
	for _, c := range r.Message.Calls {
		if c.Name == AnswerTool {
			return agents.Answer{Text: firstText(c.Args, r.Message.Text), JSON: document(c.Args)}, true
		}
	}
	return agents.Answer{}, false
}

// document finds the JSON object in a text: the whole text, or the last fenced
// block of it. nil when there is none; package agents looks harder.
func document(text string) json.RawMessage {
	for _, part := range []string{text, lastFence(text)} {
		part = strings.TrimSpace(part)
		if strings.HasPrefix(part, "{") && json.Valid([]byte(part)) {
			return json.RawMessage(part)
		}
	}
	return nil
}

func lastFence(text string) string {
	text = strings.TrimSpace(text)
	body, found := strings.CutSuffix(text, "```")
	if !found {
		return ""
	}
	start := strings.LastIndex(body, "```")
	if start < 0 {
		return ""
	}
	return strings.TrimPrefix(body[start+3:], "json")
}

// keeps reports whether doc is valid after schema. A schema that cannot be read
// holds nobody to anything.
func keeps(schema, doc json.RawMessage) bool {
	var rules jsonschema.Schema
	if json.Unmarshal(schema, &rules) != nil {
		return true
	}
	resolved, err := rules.Resolve(nil)
	if err != nil {
		return true
	}
	var value any
	return json.Unmarshal(doc, &value) == nil && resolved.Validate(value) == nil
}
