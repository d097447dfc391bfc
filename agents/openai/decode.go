package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"si/agents"
	"si/agents/httpmodel"
	"si/internal/clean"
)

const (
	maxText  = 8 << 20 // bytes of a reply's text, and of its calls' arguments
	maxCalls = 128     // in one reply
)

// chunk is one event of a stream. Reasoning stands where the server's makers put
// it: DeepSeek and vLLM, or OpenRouter and LM Studio.
type chunk struct {
	Model   string `json:"model"`
	Choices []struct {
		Index        int    `json:"index"`
		FinishReason string `json:"finish_reason"`
		Delta        struct {
			Content          string      `json:"content"`
			Refusal          string      `json:"refusal"`
			ReasoningContent string      `json:"reasoning_content"`
			Reasoning        string      `json:"reasoning"`
			ToolCalls        []callDelta `json:"tool_calls"`
		} `json:"delta"`
	} `json:"choices"`
	Usage *usage          `json:"usage"`
	Error json.RawMessage `json:"error"`
}

type callDelta struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"` // a text, of some servers an object
	} `json:"function"`
}

type usage struct {
	PromptTokens        int64 `json:"prompt_tokens"`
	CompletionTokens    int64 `json:"completion_tokens"`
	PromptTokensDetails struct {
		CachedTokens int64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionTokensDetails struct {
		ReasoningTokens int64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// normalised takes what came from the cache out of the input.
func (u usage) normalised() *agents.Usage {
	cached := max(0, min(u.PromptTokensDetails.CachedTokens, u.PromptTokens))
	return &agents.Usage{
		Input: max(0, u.PromptTokens) - cached, CacheRead: cached,
		Output: max(0, u.CompletionTokens), Reasoning: max(0, u.CompletionTokensDetails.ReasoningTokens),
	}
}

// reply grows with the chunks.
type reply struct {
	out      httpmodel.Reply
	text     strings.Builder
	calls    []*growingCall
	size     int
	finished bool
	refused  bool
}

type growingCall struct {
	index int
	id    string
	name  string
	args  strings.Builder
}

// Decode reads one reply. It is whole when the server has said [DONE]: a finish
// reason alone is followed by the usage, and a stream that ends before has been
// cut.
func (Wire) Decode(s *httpmodel.Stream, hear httpmodel.Hear) (httpmodel.Reply, error) {
	var r reply
	for {
		e, err := s.Next()
		if errors.Is(err, io.EOF) {
			return httpmodel.Reply{}, httpmodel.ErrCut
		}
		if err != nil {
			return httpmodel.Reply{}, err
		}
		if strings.TrimSpace(string(e.Data[:min(len(e.Data), 20)])) == "[DONE]" {
			if !r.finished {
				return httpmodel.Reply{}, httpmodel.ErrCut
			}
			return r.whole(), nil
		}
		var c chunk
		if err := s.Unmarshal(e.Data, &c); err != nil {
			return httpmodel.Reply{}, err
		}
		if err := r.add(c, e.Data, hear); err != nil {
			return httpmodel.Reply{}, err
		}
	}
}

func (r *reply) add(c chunk, data []byte, hear httpmodel.Hear) error {
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return httpmodel.ReadRefusal(0, data)
	}
	if c.Model != "" {
		r.out.Model = clean.Line(c.Model, 200)
	}
	if c.Usage != nil {
		r.out.Usage = c.Usage.normalised()
	}
	for _, choice := range c.Choices {
		if choice.Index != 0 { // one was asked for
			continue
		}
		d := choice.Delta
		if thought := d.ReasoningContent + d.Reasoning; thought != "" {
			hear(agents.EventThought, thought)
		}
		if text := d.Content + d.Refusal; text != "" {
			r.text.WriteString(text)
			hear(agents.EventText, text)
		}
		r.refused = r.refused || d.Refusal != ""
		for _, call := range d.ToolCalls {
			if err := r.addCall(call); err != nil {
				return err
			}
		}
		r.finish(choice.FinishReason)
		if r.size += len(d.Content) + len(d.Refusal); r.size > maxText {
			return &httpmodel.MalformedError{What: fmt.Sprintf("a reply of more than %d bytes", maxText)}
		}
	}
	return nil
}

func (r *reply) finish(reason string) {
	switch reason {
	case "":
		return
	case "length":
		r.out.Stop = httpmodel.StopLength
	case "content_filter":
		r.out.Stop = httpmodel.StopRefused
	}
	r.finished = true
}

// addCall joins the parts of calls, which are told apart by their index; of
// servers without one a part that has a name begins a new call.
func (r *reply) addCall(d callDelta) error {
	g := r.find(d)
	if g == nil {
		if len(r.calls) >= maxCalls {
			return &httpmodel.MalformedError{What: fmt.Sprintf("more than %d tool calls at once", maxCalls)}
		}
		g = &growingCall{index: len(r.calls)}
		if d.Index != nil {
			g.index = *d.Index
		}
		r.calls = append(r.calls, g)
	}
	if g.id == "" {
		g.id = d.ID
	}
	g.name += d.Function.Name
	args := textOf(d.Function.Arguments)
	g.args.WriteString(args)
	r.size += len(args) + len(d.Function.Name) + len(d.ID)
	return nil
}

func (r *reply) find(d callDelta) *growingCall {
	if d.Index == nil {
		if len(r.calls) == 0 || d.Function.Name != "" {
			return nil
		}
		return r.calls[len(r.calls)-1]
	}
	for _, g := range r.calls {
		if g.index == *d.Index {
			return g
		}
	}
	return nil
}

// textOf reads arguments that are a text, as they should be, or the object itself.
func textOf(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

func (r *reply) whole() httpmodel.Reply {
	m := httpmodel.Message{From: httpmodel.Model, Text: r.text.String()}
	for i, g := range r.calls {
		if g.id == "" { // some local servers give none
			g.id = fmt.Sprintf("call_%d", i)
		}
		m.Calls = append(m.Calls, httpmodel.Call{ID: g.id, Name: g.name, Args: g.args.String()})
	}
	r.out.Message = m
	if r.refused {
		r.out.Stop = httpmodel.StopRefused
	}
	return r.out
}
