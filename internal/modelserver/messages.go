package modelserver

import (
	"encoding/json"
	"fmt"
)

type messageBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
}

func readMessages(body []byte, r *Request) error {
	var in struct {
		Model     string          `json:"model"`
		Stream    bool            `json:"stream"`
		MaxTokens int             `json:"max_tokens"`
		System    json.RawMessage `json:"system"`
		Messages  []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			InputSchema json.RawMessage `json:"input_schema"`
		} `json:"tools"`
		ToolChoice struct {
			Name string `json:"name"`
		} `json:"tool_choice"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return err
	}
	if in.MaxTokens <= 0 {
		return fmt.Errorf("max_tokens: field required")
	}
	r.Model, r.Stream, r.System, r.Forced = in.Model, in.Stream, texts(in.System), in.ToolChoice.Name
	for _, m := range in.Messages {
		r.Turns = append(r.Turns, messageTurn(m.Role, m.Content))
	}
	for _, t := range in.Tools {
		r.Tools = append(r.Tools, Tool{t.Name, t.Description, t.InputSchema})
	}
	return nil
}

func messageTurn(role string, content json.RawMessage) Turn {
	t := Turn{Role: role, Text: texts(content)}
	var blocks []messageBlock
	if json.Unmarshal(content, &blocks) != nil {
		return t
	}
	for _, b := range blocks {
		switch b.Type {
		case "tool_use":
			t.Calls = append(t.Calls, Call{b.ID, b.Name, string(b.Input)})
		case "tool_result":
			t.Results = append(t.Results, Result{b.ToolUseID, asText(b.Content)})
		}
	}
	return t
}

func messageUsage(u Usage) object {
	if u == (Usage{}) {
		return object{}
	}
	return object{
		"input_tokens": u.Input, "cache_read_input_tokens": u.CacheRead, "cache_creation_input_tokens": u.CacheWrite, "output_tokens": u.Output,
	}
}

func messageOutput(u Usage) object {
	if u == (Usage{}) {
		return object{}
	}
	return object{"output_tokens": u.Output}
}

func messageReason(r Reply) string {
	switch {
	case r.Stop == Length:
		return "max_tokens"
	case r.Stop == Refused:
		return "refusal"
	case len(r.Calls) > 0:
		return "tool_use"
	}
	return "end_turn"
}

func wholeMessage(req Request, r Reply) any {
	var content []any
	if r.Text != "" {
		content = append(content, object{"type": "text", "text": r.Text})
	}
	for _, c := range r.Calls {
		content = append(content, object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": jsonOr(c.Args)})
	}
	return object{
		"id": "msg", "type": "message", "role": "assistant", "model": req.Model, "content": content,
		"stop_reason": messageReason(r), "stop_sequence": nil, "usage": messageUsage(r.Usage),
	}
}

func jsonOr(args string) any {
	if json.Valid([]byte(args)) {
		return json.RawMessage(args)
	}
	return object{}
}

func messageEvents(req Request, r Reply) []event {
	var out []event
	add := func(name string, data object) {
		data["type"] = name
		out = append(out, event{name: name, data: data})
	}
	started := r.Usage
	started.Output = min(1, r.Usage.Output)
	add("message_start", object{"message": object{
		"id": fmt.Sprintf("msg_%d", req.N), "type": "message", "role": "assistant", "model": req.Model, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": messageUsage(started),
	}})
	index := 0
	block := func(start object, deltas []object) {
		add("content_block_start", object{"index": index, "content_block": start})
		for _, d := range deltas {
			add("content_block_delta", object{"index": index, "delta": d})
		}
		add("content_block_stop", object{"index": index})
		index++
	}
	if r.Thought != "" {
		deltas := deltas("thinking_delta", "thinking", pieces(r.Thought, r.Parts))
		block(object{"type": "thinking", "thinking": "", "signature": ""}, append(deltas, object{"type": "signature_delta", "signature": "signed"}))
	}
	add("ping", object{})
	if r.Text != "" {
		block(object{"type": "text", "text": ""}, deltas("text_delta", "text", pieces(r.Text, r.Parts)))
	}
	for _, c := range r.Calls {
		block(object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": object{}}, deltas("input_json_delta", "partial_json", pieces(c.Args, 2)))
	}
	add("message_delta", object{"delta": object{"stop_reason": messageReason(r), "stop_sequence": nil}, "usage": messageOutput(r.Usage)})
	add("message_stop", object{})
	return out
}

func deltas(kind, field string, parts []string) []object {
	var out []object
	for _, p := range parts {
		out = append(out, object{"type": kind, field: p})
	}
	return out
}
