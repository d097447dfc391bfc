package openai

import (
	"encoding/json"

	"si/agents"
	"si/agents/httpmodel"
	"si/agents/httpmodel/tools"
)

type request struct {
	Model               string         `json:"model"`
	Messages            []message      `json:"messages"`
	Stream              bool           `json:"stream"`
	StreamOptions       *streamOptions `json:"stream_options,omitempty"`
	MaxTokens           int            `json:"max_tokens,omitempty"`
	MaxCompletionTokens int            `json:"max_completion_tokens,omitempty"`
	ReasoningEffort     string         `json:"reasoning_effort,omitempty"`
	Tools               []tool         `json:"tools,omitempty"`
	ToolChoice          any            `json:"tool_choice,omitempty"`
	ResponseFormat      any            `json:"response_format,omitempty"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type message struct {
	Role       string  `json:"role"`
	Content    *string `json:"content"`
	ToolCalls  []call  `json:"tool_calls,omitempty"`
	ToolCallID string  `json:"tool_call_id,omitempty"`
}

type call struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type tool struct {
	Type     string       `json:"type"`
	Function toolFunction `json:"function"`
}

type toolFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// Encode writes a request.
func (Wire) Encode(r httpmodel.Request) ([]byte, error) {
	body := request{Model: r.Model, Stream: true, Messages: messages(r)}
	if !r.Quirks.NoUsage {
		body.StreamOptions = &streamOptions{true}
	}
	if r.Quirks.OldMaxTokens {
		body.MaxTokens = r.Limit()
	} else {
		body.MaxCompletionTokens = r.Limit()
	}
	if !r.Quirks.NoEffort {
		body.ReasoningEffort = r.Effort
	}
	for _, t := range r.Tools {
		body.Tools = append(body.Tools, toolOf(t))
	}
	if r.Closing {
		hold(&body, r)
	}
	return json.Marshal(body)
}

func messages(r httpmodel.Request) []message {
	out := []message{{Role: "system", Content: &r.System}}
	for _, m := range r.Messages {
		switch m.From {
		case httpmodel.User:
			out = append(out, message{Role: "user", Content: &m.Text})
		case httpmodel.Model:
			out = append(out, spoken(m))
		case httpmodel.Tools:
			for _, res := range m.Results {
				out = append(out, message{Role: "tool", Content: &res.Text, ToolCallID: res.ID})
			}
		}
	}
	return out
}

// spoken is a turn of the model. Content is null next to calls, as some servers
// take no empty text; a turn without either says so.
func spoken(m httpmodel.Message) message {
	out := message{Role: "assistant"}
	text := m.Text
	if text == "" && len(m.Calls) == 0 {
		text = "(nothing)"
	}
	if text != "" {
		out.Content = &text
	}
	for _, c := range m.Calls {
		out.ToolCalls = append(out.ToolCalls, call{c.ID, "function", function{c.Name, arguments(c.Args)}})
	}
	return out
}

// arguments sends back what a model wrote only when it is JSON: servers refuse
// the whole conversation otherwise.
func arguments(args string) string {
	if json.Valid([]byte(args)) {
		return args
	}
	return "{}"
}

func toolOf(t tools.Spec) tool {
	return tool{"function", toolFunction{t.Name, t.About, t.Schema}}
}

// strict is the schema as strict mode takes it. What cannot be read is sent as it
// is, for the server to refuse.
func strict(schema json.RawMessage) json.RawMessage {
	if out, err := agents.StrictSchema(schema); err == nil {
		return out
	}
	return schema
}

// hold holds the model to the schema of its answer in the form of the ladder.
func hold(body *request, r httpmodel.Request) {
	if len(r.Schema) == 0 {
		return
	}
	switch r.Quirks.Rung {
	case httpmodel.RungSchema:
		body.ResponseFormat = map[string]any{
			"type":        "json_schema",
			"json_schema": map[string]any{"name": "answer", "schema": strict(r.Schema), "strict": true},
		}
	case httpmodel.RungObject:
		body.ResponseFormat = map[string]any{"type": "json_object"}
	case httpmodel.RungTool:
		body.Tools = []tool{{"function", toolFunction{httpmodel.AnswerTool, "Give the answer.", r.Schema}}}
		body.ToolChoice = map[string]any{"type": "function", "function": map[string]any{"name": httpmodel.AnswerTool}}
	case httpmodel.RungPrompt:
	}
}
