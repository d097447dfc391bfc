package modelserver

import (
	"encoding/json"
	"fmt"
	"strings"
)

// within stands between the name of a namespace of tools and that of a tool in it.
const within = "::"

type responseItem struct {
	Type      string          `json:"type"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments string          `json:"arguments"`
	Input     string          `json:"input"`
	Output    json.RawMessage `json:"output"`
}

func readResponses(body []byte, r *Request) error {
	var in struct {
		Model        string          `json:"model"`
		Stream       bool            `json:"stream"`
		Instructions string          `json:"instructions"`
		Input        json.RawMessage `json:"input"`
		Tools        []struct {
			Type        string          `json:"type"`
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
			Tools       []struct {      // of a namespace
				Name        string          `json:"name"`
				Description string          `json:"description"`
				Parameters  json.RawMessage `json:"parameters"`
			} `json:"tools"`
		} `json:"tools"`
		Text struct {
			Format struct {
				Type string `json:"type"`
			} `json:"format"`
		} `json:"text"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return err
	}
	r.Model, r.Stream, r.System, r.Form = in.Model, in.Stream, in.Instructions, in.Text.Format.Type
	for _, t := range in.Tools {
		name := t.Name
		if name == "" {
			name = t.Type // a tool of the server's own, such as web_search
		}
		for _, inner := range t.Tools {
			r.Tools = append(r.Tools, Tool{name + within + inner.Name, inner.Description, inner.Parameters})
		}
		if len(t.Tools) == 0 {
			r.Tools = append(r.Tools, Tool{name, t.Description, t.Parameters})
		}
	}
	var text string
	if json.Unmarshal(in.Input, &text) == nil {
		r.Turns = []Turn{{Role: "user", Text: text}}
		return nil
	}
	var items []responseItem
	if err := json.Unmarshal(in.Input, &items); err != nil {
		return err
	}
	for _, item := range items {
		r.addItem(item)
	}
	return nil
}

func (r *Request) addItem(item responseItem) {
	switch item.Type {
	case "message", "":
		if item.Role == "system" || item.Role == "developer" {
			r.System += "\n" + texts(item.Content)
			return
		}
		r.Turns = append(r.Turns, Turn{Role: item.Role, Text: texts(item.Content)})
	case "function_call", "custom_tool_call":
		args := item.Arguments + item.Input
		r.Turns = append(r.Turns, Turn{Role: "assistant", Calls: []Call{{item.CallID, item.Name, args}}})
	case "function_call_output", "custom_tool_call_output":
		r.Turns = append(r.Turns, Turn{Role: "tool", Results: []Result{{item.CallID, asText(item.Output)}}})
	}
}

func responseUsage(u Usage) object {
	in := u.Input + u.CacheRead + u.CacheWrite
	return object{
		"input_tokens": in, "input_tokens_details": object{"cached_tokens": u.CacheRead},
		"output_tokens": u.Output, "output_tokens_details": object{"reasoning_tokens": u.Reasoning}, "total_tokens": in + u.Output,
	}
}

func responseItems(req Request, r Reply) []object {
	var out []object
	if r.Text != "" {
		out = append(out, object{
			"type": "message", "id": fmt.Sprintf("msg_%d", req.N), "role": "assistant", "status": "completed",
			"content": []any{object{"type": "output_text", "text": r.Text, "annotations": []any{}}},
		})
	}
	for i, c := range r.Calls {
		call := object{
			"type": "function_call", "id": fmt.Sprintf("fc_%d_%d", req.N, i), "call_id": c.ID, "name": c.Name, "arguments": c.Args, "status": "completed",
		}
		if space, name, ok := strings.Cut(c.Name, within); ok {
			call["namespace"], call["name"] = space, name
		}
		out = append(out, call)
	}
	return out
}

func wholeResponse(req Request, r Reply) any {
	out := object{
		"id": fmt.Sprintf("resp_%d", req.N), "object": "response", "created_at": 1, "model": req.Model, "status": "completed",
		"output": responseItems(req, r), "usage": responseUsage(r.Usage),
	}
	switch r.Stop {
	case Length:
		out["status"], out["incomplete_details"] = "incomplete", object{"reason": "max_output_tokens"}
	case Refused:
		out["status"], out["incomplete_details"] = "incomplete", object{"reason": "content_filter"}
	}
	return out
}

func responseEvents(req Request, r Reply) []event {
	var out []event
	add := func(name string, data object) {
		data["type"], data["sequence_number"] = name, len(out)
		out = append(out, event{name: name, data: data})
	}
	add("response.created", object{"response": object{"id": fmt.Sprintf("resp_%d", req.N), "object": "response", "status": "in_progress", "model": req.Model, "output": []any{}}})
	for i, item := range responseItems(req, r) {
		started := object{}
		for k, v := range item {
			started[k] = v
		}
		started["status"] = "in_progress"
		if item["type"] == "message" {
			started["content"] = []any{}
		}
		add("response.output_item.added", object{"output_index": i, "item": started})
		if item["type"] == "message" {
			for _, p := range pieces(r.Text, r.Parts) {
				add("response.output_text.delta", object{"output_index": i, "item_id": item["id"], "content_index": 0, "delta": p})
			}
		}
		add("response.output_item.done", object{"output_index": i, "item": item})
	}
	end := "response.completed"
	if r.Stop != "" {
		end = "response.incomplete"
	}
	add(end, object{"response": wholeResponse(req, r)})
	return out
}
