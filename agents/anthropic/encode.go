package anthropic

import (
	"encoding/json"

	"si/agents/httpmodel"
	"si/agents/httpmodel/tools"
)

type request struct {
	Model      string      `json:"model"`
	MaxTokens  int         `json:"max_tokens"`
	Stream     bool        `json:"stream"`
	System     []block     `json:"system,omitempty"`
	Messages   []message   `json:"messages"`
	Tools      []tool      `json:"tools,omitempty"`
	ToolChoice *toolChoice `json:"tool_choice,omitempty"`
	Thinking   *thought    `json:"thinking,omitempty"`
}

type thought struct {
	Type   string `json:"type"`
	Budget int    `json:"budget_tokens"`
}

type toolChoice struct {
	Type string `json:"type"`
	Name string `json:"name,omitempty"`
}

type message struct {
	Role    string `json:"role"`
	Content []any  `json:"content"` // block, or what the server wants back word for word
}

type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   string          `json:"content,omitempty"`
	IsError   bool            `json:"is_error,omitempty"`
	Cache     *cache          `json:"cache_control,omitempty"`
}

type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"`
}

// cache marks the end of what the server is asked to keep for the next step.
type cache struct {
	Type string `json:"type"`
}

func kept() *cache { return &cache{"ephemeral"} }

// Encode writes a request. Where an answer is wanted the tool that takes it is
// offered from the start, and forced at the end.
func (Wire) Encode(r httpmodel.Request) ([]byte, error) {
	body := request{
		Model: r.Model, MaxTokens: maxTokens(r), Stream: true,
		System:   []block{{Type: "text", Text: r.System, Cache: kept()}},
		Messages: messages(r),
	}
	for _, t := range r.Tools {
		body.Tools = append(body.Tools, toolOf(t))
	}
	if len(r.Schema) > 0 && r.Quirks.Rung != httpmodel.RungPrompt && !r.Quirks.NoTools {
		body.Tools = append(body.Tools, tool{httpmodel.AnswerTool, "Give your answer, when you are done. This ends your work.", r.Schema})
		if r.Closing {
			body.ToolChoice = &toolChoice{"tool", httpmodel.AnswerTool}
		}
	}
	if budget := thinking(r); budget > 0 {
		body.Thinking = &thought{"enabled", budget}
	}
	if usesTools(r) && len(body.Tools) == 0 { // the server refuses calls of tools that are not offered
		body.Tools = callable(r)
		body.ToolChoice = &toolChoice{Type: "none"}
	}
	return json.Marshal(body)
}

func usesTools(r httpmodel.Request) bool {
	for _, m := range r.Messages {
		if len(m.Calls) > 0 {
			return true
		}
	}
	return false
}

// callable are the tools that were called in the conversation, by their names.
func callable(r httpmodel.Request) []tool {
	var out []tool
	seen := map[string]bool{}
	for _, m := range r.Messages {
		for _, c := range m.Calls {
			if !seen[c.Name] {
				seen[c.Name] = true
				out = append(out, tool{c.Name, "Not to be used now.", json.RawMessage(`{"type":"object"}`)})
			}
		}
	}
	return out
}

func messages(r httpmodel.Request) []message {
	var out []message
	for i, m := range r.Messages {
		last := i == len(r.Messages)-1
		switch m.From {
		case httpmodel.User:
			b := block{Type: "text", Text: m.Text}
			if last {
				b.Cache = kept()
			}
			out = append(out, message{"user", []any{b}})
		case httpmodel.Model:
			out = append(out, message{"assistant", spoken(m, thinking(r) > 0)})
		case httpmodel.Tools:
			out = append(out, message{"user", results(m.Results, last)})
		}
	}
	return out
}

// spoken is a turn of the model: its thoughts as they came, signatures and all,
// where it goes on thinking; its text; its calls.
func spoken(m httpmodel.Message, thoughts bool) []any {
	var out []any
	if thoughts {
		for _, raw := range m.Kept {
			out = append(out, raw)
		}
	}
	if m.Text != "" {
		out = append(out, block{Type: "text", Text: m.Text})
	}
	for _, c := range m.Calls {
		out = append(out, block{Type: "tool_use", ID: c.ID, Name: c.Name, Input: input(c.Args)})
	}
	if len(out) == 0 {
		out = append(out, block{Type: "text", Text: "(nothing)"})
	}
	return out
}

// input sends back what a model wrote only when it is an object: the server
// refuses the whole conversation otherwise.
func input(args string) json.RawMessage {
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(args), &object) != nil || object == nil {
		return json.RawMessage("{}")
	}
	return json.RawMessage(args)
}

func results(rs []httpmodel.Result, last bool) []any {
	var out []any
	for i, r := range rs {
		b := block{Type: "tool_result", ToolUseID: r.ID, Content: r.Text, IsError: r.Failed}
		if last && i == len(rs)-1 {
			b.Cache = kept()
		}
		out = append(out, b)
	}
	return out
}

func toolOf(t tools.Spec) tool { return tool{t.Name, t.About, t.Schema} }
