package modelserver

import "encoding/json"

func readChat(body []byte, r *Request) error {
	var in struct {
		Model    string `json:"model"`
		Stream   bool   `json:"stream"`
		Messages []struct {
			Role       string          `json:"role"`
			Content    json.RawMessage `json:"content"`
			ToolCallID string          `json:"tool_call_id"`
			ToolCalls  []struct {
				ID       string `json:"id"`
				Function struct {
					Name      string `json:"name"`
					Arguments string `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"messages"`
		Tools []struct {
			Function struct {
				Name        string          `json:"name"`
				Description string          `json:"description"`
				Parameters  json.RawMessage `json:"parameters"`
			} `json:"function"`
		} `json:"tools"`
		ToolChoice     json.RawMessage `json:"tool_choice"`
		ResponseFormat struct {
			Type string `json:"type"`
		} `json:"response_format"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return err
	}
	r.Model, r.Stream, r.Form = in.Model, in.Stream, in.ResponseFormat.Type
	for _, m := range in.Messages {
		if m.Role == "system" || m.Role == "developer" {
			r.System += texts(m.Content)
			continue
		}
		t := Turn{Role: m.Role, Text: texts(m.Content)}
		for _, c := range m.ToolCalls {
			t.Calls = append(t.Calls, Call{c.ID, c.Function.Name, c.Function.Arguments})
		}
		if m.Role == "tool" {
			t.Results, t.Text = []Result{{m.ToolCallID, t.Text}}, ""
		}
		r.Turns = append(r.Turns, t)
	}
	for _, t := range in.Tools {
		r.Tools = append(r.Tools, Tool{t.Function.Name, t.Function.Description, t.Function.Parameters})
	}
	var forced struct {
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	}
	if json.Unmarshal(in.ToolChoice, &forced) == nil {
		r.Forced = forced.Function.Name
	}
	return nil
}

func chatCall(i int, c Call) object {
	return object{"index": i, "id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": c.Args}}
}

func chatUsage(u Usage) any {
	if u == (Usage{}) {
		return nil
	}
	return object{
		"prompt_tokens": u.Input + u.CacheRead + u.CacheWrite, "completion_tokens": u.Output, "total_tokens": u.Input + u.CacheRead + u.CacheWrite + u.Output,
		"prompt_tokens_details":     object{"cached_tokens": u.CacheRead},
		"completion_tokens_details": object{"reasoning_tokens": u.Reasoning},
	}
}

func chatReason(r Reply) string {
	switch {
	case r.Stop == Length:
		return "length"
	case r.Stop == Refused:
		return "content_filter"
	case len(r.Calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

func wholeChat(req Request, r Reply) any {
	message := object{"role": "assistant", "content": r.Text}
	var calls []any
	for i, c := range r.Calls {
		calls = append(calls, chatCall(i, c))
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	return object{
		"id": "chat", "object": "chat.completion", "created": 1, "model": req.Model,
		"choices": []any{object{"index": 0, "message": message, "finish_reason": chatReason(r)}}, "usage": chatUsage(r.Usage),
	}
}

func chatEvents(req Request, r Reply) []event {
	var out []event
	add := func(delta object, reason any) {
		out = append(out, event{data: object{
			"id": "chat", "object": "chat.completion.chunk", "created": 1, "model": req.Model,
			"choices": []any{object{"index": 0, "delta": delta, "finish_reason": reason}},
		}})
	}
	add(object{"role": "assistant", "content": ""}, nil)
	for _, p := range pieces(r.Thought, r.Parts) {
		add(object{"reasoning_content": p}, nil)
	}
	for _, p := range pieces(r.Text, r.Parts) {
		add(object{"content": p}, nil)
	}
	for i, c := range r.Calls {
		start := c
		start.Args = ""
		add(object{"tool_calls": []any{chatCall(i, start)}}, nil)
		for _, p := range pieces(c.Args, 2) {
			add(object{"tool_calls": []any{object{"index": i, "function": object{"arguments": p}}}}, nil)
		}
	}
	add(object{}, chatReason(r))
	if u := chatUsage(r.Usage); u != nil {
		out = append(out, event{data: object{"id": "chat", "object": "chat.completion.chunk", "created": 1, "model": req.Model, "choices": []any{}, "usage": u}})
	}
	return append(out, event{raw: "[DONE]"})
}
