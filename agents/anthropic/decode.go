package anthropic

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
	maxReply  = 8 << 20 // bytes of all blocks of a reply
	maxBlocks = 512
)

// event is any event of a stream.
type event struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		Model string `json:"model"`
		Usage usage  `json:"usage"`
	} `json:"message"`
	ContentBlock startedBlock `json:"content_block"`
	Delta        struct {
		Type        string `json:"type"`
		Text        string `json:"text"`
		PartialJSON string `json:"partial_json"`
		Thinking    string `json:"thinking"`
		Signature   string `json:"signature"`
		StopReason  string `json:"stop_reason"`
	} `json:"delta"`
	Usage *usage `json:"usage"`
}

type startedBlock struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Text      string          `json:"text"`
	Input     json.RawMessage `json:"input"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
}

// usage is of the whole reply so far; a later event has the fields that changed.
type usage struct {
	Input      *int64 `json:"input_tokens"`
	CacheRead  *int64 `json:"cache_read_input_tokens"`
	CacheWrite *int64 `json:"cache_creation_input_tokens"`
	Output     *int64 `json:"output_tokens"`
}

func (u *usage) update(v usage) {
	for _, f := range []struct{ to, from **int64 }{
		{&u.Input, &v.Input}, {&u.CacheRead, &v.CacheRead}, {&u.CacheWrite, &v.CacheWrite}, {&u.Output, &v.Output},
	} {
		if *f.from != nil {
			*f.to = *f.from
		}
	}
}

// normalised is the usage as si counts it, nil when the server said nothing.
func (u usage) normalised() *agents.Usage {
	if u.Input == nil && u.Output == nil {
		return nil
	}
	of := func(n *int64) int64 {
		if n == nil {
			return 0
		}
		return max(0, *n)
	}
	return &agents.Usage{Input: of(u.Input), CacheRead: of(u.CacheRead), CacheWrite: of(u.CacheWrite), Output: of(u.Output)}
}

// reply grows with the events.
type reply struct {
	out    httpmodel.Reply
	usage  usage
	blocks map[int]*growing
	order  []int
	size   int
	reason string
}

// growing is a block of the reply. text is what its deltas add up to.
type growing struct {
	startedBlock
	text      strings.Builder
	signature strings.Builder
}

// Decode reads one reply. It is whole when the server has said message_stop.
func (Wire) Decode(s *httpmodel.Stream, hear httpmodel.Hear) (httpmodel.Reply, error) {
	r := reply{blocks: map[int]*growing{}}
	for {
		in, err := s.Next()
		if errors.Is(err, io.EOF) {
			return httpmodel.Reply{}, httpmodel.ErrCut
		}
		if err != nil {
			return httpmodel.Reply{}, err
		}
		var e event
		if err := s.Unmarshal(in.Data, &e); err != nil {
			return httpmodel.Reply{}, err
		}
		switch e.Type {
		case "message_stop":
			if r.reason == "" {
				return httpmodel.Reply{}, httpmodel.ErrCut
			}
			return r.whole()
		case "error":
			return httpmodel.Reply{}, httpmodel.ReadRefusal(0, in.Data)
		}
		if err := r.add(e, hear); err != nil {
			return httpmodel.Reply{}, err
		}
	}
}

func (r *reply) add(e event, hear httpmodel.Hear) error {
	switch e.Type {
	case "message_start":
		r.out.Model = clean.Line(e.Message.Model, 200)
		r.usage.update(e.Message.Usage)
	case "content_block_start":
		if len(r.blocks) >= maxBlocks {
			return &httpmodel.MalformedError{What: fmt.Sprintf("a reply of more than %d blocks", maxBlocks)}
		}
		return r.start(e, hear)
	case "content_block_delta":
		return r.delta(e, hear)
	case "message_delta":
		r.reason = e.Delta.StopReason
		if e.Usage != nil {
			r.usage.update(*e.Usage)
		}
	}
	return nil // ping, content_block_stop, and what comes in later versions
}

func (r *reply) start(e event, hear httpmodel.Hear) error {
	if r.blocks[e.Index] != nil {
		return &httpmodel.MalformedError{What: fmt.Sprintf("the block %d begins twice", e.Index)}
	}
	g := &growing{startedBlock: e.ContentBlock}
	r.blocks[e.Index] = g
	r.order = append(r.order, e.Index)
	g.text.WriteString(g.Text + g.Thinking)
	g.signature.WriteString(g.Signature)
	if g.Text != "" {
		hear(agents.EventText, g.Text)
	}
	return r.grow(len(g.Text) + len(g.Thinking) + len(g.Signature) + len(g.Data) + len(g.ID) + len(g.Name) + len(g.Input))
}

func (r *reply) delta(e event, hear httpmodel.Hear) error {
	g := r.blocks[e.Index]
	if g == nil {
		return &httpmodel.MalformedError{What: fmt.Sprintf("a part of the block %d, which has not begun", e.Index)}
	}
	d := e.Delta
	switch d.Type {
	case "text_delta":
		g.text.WriteString(d.Text)
		hear(agents.EventText, d.Text)
	case "thinking_delta":
		g.text.WriteString(d.Thinking)
		hear(agents.EventThought, d.Thinking)
	case "input_json_delta":
		g.text.WriteString(d.PartialJSON)
	case "signature_delta":
		g.signature.WriteString(d.Signature)
	}
	return r.grow(len(d.Text) + len(d.Thinking) + len(d.PartialJSON) + len(d.Signature))
}

func (r *reply) grow(n int) error {
	if r.size += n; r.size > maxReply {
		return &httpmodel.MalformedError{What: fmt.Sprintf("a reply of more than %d bytes", maxReply)}
	}
	return nil
}

func (r *reply) whole() (httpmodel.Reply, error) {
	m := httpmodel.Message{From: httpmodel.Model}
	for _, i := range r.order {
		switch g := r.blocks[i]; g.Type {
		case "text":
			m.Text += g.text.String()
		case "thinking", "redacted_thinking":
			raw, err := g.thought()
			if err != nil {
				return httpmodel.Reply{}, err
			}
			m.Kept = append(m.Kept, raw)
		case "tool_use":
			m.Calls = append(m.Calls, httpmodel.Call{ID: g.ID, Name: g.Name, Args: g.args()})
		}
	}
	switch r.reason {
	case "max_tokens", "model_context_window_exceeded":
		r.out.Stop = httpmodel.StopLength
	case "refusal":
		r.out.Stop = httpmodel.StopRefused
	}
	r.out.Message, r.out.Usage = m, r.usage.normalised()
	return r.out, nil
}

// args is the input of a call, in parts or, from some servers, whole at the start.
func (g *growing) args() string {
	if g.text.Len() == 0 && string(g.Input) != "null" {
		return string(g.Input)
	}
	return g.text.String()
}

// thought is the block as the server wants it back.
func (g *growing) thought() (json.RawMessage, error) {
	if g.Type == "redacted_thinking" {
		return json.Marshal(map[string]string{"type": g.Type, "data": g.Data})
	}
	return json.Marshal(map[string]string{"type": g.Type, "thinking": g.text.String(), "signature": g.signature.String()})
}
