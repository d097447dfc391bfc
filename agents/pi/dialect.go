package pi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"si/agents"
	"si/agents/stream"
)

// dialect reads the stream of one run.
type dialect struct {
	now  func() time.Time
	zone *time.Location

	usage   agents.Usage
	usd     float64
	text    string // of the last message of the model
	stop    string // why that message ended; "" before the first one
	wrong   string // its error
	ended   bool   // the agent has ended, and will not try again
	settled bool   // 1.6: nothing more comes
}

type line struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Message   message         `json:"message"`
	CallID    string          `json:"toolCallId"`
	Tool      string          `json:"toolName"`
	Args      json.RawMessage `json:"args"`
	Result    content         `json:"result"`
	IsError   bool            `json:"isError"`
	WillRetry bool            `json:"willRetry"`
	Attempt   int             `json:"attempt"`
	Attempts  int             `json:"maxAttempts"`
	DelayMS   float64         `json:"delayMs"`
	Error     string          `json:"errorMessage"`
	Aborted   bool            `json:"aborted"`
}

type message struct {
	Role  string `json:"role"`
	Model string `json:"model"`
	content
	Usage *struct {
		Input      int64 `json:"input"` // net of the cache
		Output     int64 `json:"output"`
		CacheRead  int64 `json:"cacheRead"`
		CacheWrite int64 `json:"cacheWrite"`
		Reasoning  int64 `json:"reasoning"`
		Cost       struct {
			Total float64 `json:"total"`
		} `json:"cost"`
	} `json:"usage"`
	Stop  string `json:"stopReason"` // stop, toolUse, length, error, aborted
	Error string `json:"errorMessage"`
}

type content struct {
	Content json.RawMessage `json:"content"` // blocks, or a text
}

type block struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Thinking string `json:"thinking"`
}

func (c content) blocks() []block {
	var all []block
	if json.Unmarshal(c.Content, &all) == nil {
		return all
	}
	var text string
	if json.Unmarshal(c.Content, &text) == nil && text != "" {
		return []block{{Type: "text", Text: text}}
	}
	return nil
}

func (c content) text() string {
	var parts []string
	for _, b := range c.blocks() {
		if b.Type == "text" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// kindOf is the type of a line, which stands first in it.
func kindOf(data []byte) string {
	rest, found := bytes.CutPrefix(data, []byte(`{"type":"`))
	end := bytes.IndexByte(rest, '"')
	if !found || end < 0 {
		return ""
	}
	return string(rest[:end])
}

// Line is as promised by stream.Dialect. The kinds that repeat what others tell
// once, some of them the whole message for each word, are not decoded.
func (d *dialect) Line(data []byte) []agents.Event {
	switch kindOf(data) {
	case "message_update", "message_start", "turn_end", "tool_execution_update", "entry_appended":
		return nil
	}
	var l line
	var wrong *json.UnmarshalTypeError
	if err := json.Unmarshal(data, &l); err != nil && !errors.As(err, &wrong) {
		return nil
	}
	switch l.Type {
	case "session":
		return []agents.Event{{Kind: agents.EventStarted, Session: l.ID}}
	case "agent_start":
		d.ended, d.settled = false, false
	case "message_end":
		if l.Message.Role == "assistant" {
			return d.said(l.Message)
		}
	case "tool_execution_start":
		return []agents.Event{{Kind: agents.EventToolStart, Tool: l.Tool, ToolID: l.CallID, Text: agents.CallLine(string(l.Args), agents.CallKeys()...)}}
	case "tool_execution_end":
		return []agents.Event{{Kind: agents.EventToolEnd, Tool: l.Tool, ToolID: l.CallID, Text: l.Result.text(), Failed: l.IsError}}
	case "auto_retry_start":
		d.ended = false
		delay := time.Duration(min(max(l.DelayMS, 0), 1e9)) * time.Millisecond
		return []agents.Event{{Kind: agents.EventRetry, Text: fmt.Sprintf("%s; try %d of %d", l.Error, l.Attempt, l.Attempts), Until: d.now().Add(delay)}}
	case "agent_end":
		d.ended = !l.WillRetry
	case "agent_settled":
		d.settled = true
		if l.Aborted {
			d.stop = "aborted"
		}
	}
	return nil
}

// Long is as promised by stream.Dialect: the end of the agent repeats the whole
// conversation.
func (d *dialect) Long(head []byte) []agents.Event {
	if kindOf(head) == "agent_end" {
		d.ended = true
	}
	return nil
}

// Done is as promised by stream.Dialect. Versions before 1.0 say no more than that
// the agent has ended, and may try again after an error.
func (d *dialect) Done() bool { return d.settled || d.ended && d.stop != "error" }

// said reads a whole message of the model.
func (d *dialect) said(m message) []agents.Event {
	d.text, d.stop, d.wrong = m.text(), cmp.Or(m.Stop, "missing"), m.Error
	var events []agents.Event
	for _, b := range m.blocks() {
		switch {
		case b.Type == "thinking" && b.Thinking != "":
			events = append(events, agents.Event{Kind: agents.EventThought, Text: b.Thinking})
		case b.Type == "text" && b.Text != "":
			events = append(events, agents.Event{Kind: agents.EventText, Text: b.Text})
		}
	}
	if m.Usage == nil {
		return events
	}
	u := agents.Usage{Input: m.Usage.Input, CacheRead: m.Usage.CacheRead, CacheWrite: m.Usage.CacheWrite, Output: m.Usage.Output, Reasoning: m.Usage.Reasoning}
	if u == (agents.Usage{}) {
		return events
	}
	d.usage = d.usage.Add(u)
	e := agents.Event{Kind: agents.EventUsage, Usage: new(d.usage), Model: m.Model}
	if d.usd += max(m.Usage.Cost.Total, 0); d.usd > 0 {
		e.CostUSD = new(d.usd)
	}
	return append(events, e)
}

// End is as promised by stream.Dialect. The program ends with exit code 0 whatever
// happened: what counts is how the last message of the model ended.
func (d *dialect) End(stream.Exit) stream.Verdict {
	switch {
	case d.stop == "error":
		return stream.Failed(cmp.Or(d.wrong, "the model's message ended with an error"), 0, d.now(), d.zone)
	case d.stop == "length":
		return stream.Verdict{Kind: agents.FailTruncated, What: "its answer was cut at the limit of tokens of one answer", Said: d.wrong}
	case d.stop == "aborted":
		return stream.Verdict{Kind: agents.FailTruncated, What: "it was interrupted", Said: d.wrong}
	case d.stop == "stop" && (d.ended || d.settled):
		return stream.Verdict{Text: d.text, JSON: stream.Object(d.text)}
	}
	return stream.Unfinished()
}

var _ stream.Dialect = (*dialect)(nil)
