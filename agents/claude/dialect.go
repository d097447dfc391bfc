package claude

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"si/agents"
	"si/agents/stream"
)

// hopeless is how often the program may try again after its key was refused: it
// would do so for minutes.
const hopeless = 2

// dialect reads the stream of one run.
type dialect struct {
	now  func() time.Time
	zone *time.Location

	begun   bool
	names   map[string]string // of tool calls under way, by their id
	seen    map[string]bool   // messages whose tokens were counted
	usage   agents.Usage      // of the messages so far: less than the truth, which the result tells
	refused int               // tries again after the key was refused
	refusal string            // what was said then
	limit   limitInfo         // the last word on a usage limit
	result  *result           // the last one
	counted tally             // of all results
}

// line has the fields of all kinds of lines.
type line struct {
	Type    string  `json:"type"`
	Subtype string  `json:"subtype"`
	Session string  `json:"session_id"`
	Model   string  `json:"model"`
	Message message `json:"message"`

	Attempt     int             `json:"attempt"`
	MaxRetries  int             `json:"max_retries"`
	DelayMS     float64         `json:"retry_delay_ms"`
	ErrorStatus int             `json:"error_status"`
	Error       json.RawMessage `json:"error"`

	Tool      string          `json:"tool_name"`
	ToolUseID string          `json:"tool_use_id"`
	Text      json.RawMessage `json:"description"`
	Limit     limitInfo       `json:"rate_limit_info"`
	Request   struct {
		Subtype string          `json:"subtype"`
		Tool    string          `json:"tool_name"`
		Input   json.RawMessage `json:"input"`
	} `json:"request"`
}

type message struct {
	ID      string          `json:"id"`
	Model   string          `json:"model"`
	Content json.RawMessage `json:"content"` // blocks, or a text
	Usage   *tokens         `json:"usage"`
}

type block struct {
	Type     string          `json:"type"`
	Text     string          `json:"text"`
	Thinking string          `json:"thinking"`
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Input    json.RawMessage `json:"input"`
	CallID   string          `json:"tool_use_id"`
	Content  json.RawMessage `json:"content"`
	IsError  bool            `json:"is_error"`
}

// limitInfo is what the program knows of a usage limit. Only a rejected one stops it.
type limitInfo struct {
	Status   string  `json:"status"`
	ResetsAt float64 `json:"resetsAt"` // seconds after 1970
	Type     string  `json:"rateLimitType"`
}

func (l limitInfo) until() time.Time {
	if l.ResetsAt < 1e9 || l.ResetsAt > 1e10 {
		return time.Time{}
	}
	return time.Unix(int64(l.ResetsAt), 0).UTC()
}

// structured is the tool by which the program gives an answer after a schema; it is
// no work.
const structured = "StructuredOutput"

// Line is as promised by stream.Dialect.
func (d *dialect) Line(data []byte) []agents.Event {
	if isKind(data, "stream_event") { // parts of messages, which come whole too
		return nil
	}
	if bytes.Contains(data, []byte(`"type":"result"`)) || bytes.Contains(data, []byte(`"type": "result"`)) {
		if events, was := d.readResult(data); was {
			return events
		}
	}
	var l line
	if lenient(data, &l) != nil {
		return nil
	}
	switch l.Type {
	case "system":
		return d.system(l)
	case "assistant":
		return d.assistant(l.Message)
	case "user":
		return d.results(l.Message)
	case "rate_limit_event":
		return d.limits(l.Limit)
	case "control_request":
		if l.Request.Subtype == "can_use_tool" {
			return []agents.Event{{Kind: agents.EventPermission, Tool: l.Request.Tool, Text: agents.CallLine(string(l.Request.Input), agents.CallKeys()...), Failed: true}}
		}
	}
	return nil
}

// isKind tells a line by its beginning, before it is decoded.
func isKind(data []byte, kind string) bool {
	return bytes.HasPrefix(data, []byte(`{"type":"`+kind+`"`))
}

// lenient decodes what it can: one field of another type than usual does not cost
// the others.
func lenient(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	var wrong *json.UnmarshalTypeError
	if err != nil && !asType(err, &wrong) {
		return err
	}
	return nil
}

// Long is as promised by stream.Dialect: tools' results may be of any length.
func (d *dialect) Long([]byte) []agents.Event { return nil }

// Done is as promised by stream.Dialect.
func (d *dialect) Done() bool { return d.result != nil || d.refused >= hopeless }

func (d *dialect) system(l line) []agents.Event {
	switch l.Subtype {
	case "init":
		if d.begun { // once more for each turn
			return nil
		}
		d.begun = true
		return []agents.Event{{Kind: agents.EventStarted, Session: l.Session, Model: l.Model}}
	case "api_retry":
		if l.ErrorStatus == 401 || l.ErrorStatus == 403 {
			d.refused++
			d.refusal = textOf(l.Error)
		}
		why := fmt.Sprintf("%s; try %d of %d", textOf(l.Error), l.Attempt, l.MaxRetries)
		if l.ErrorStatus > 0 {
			why = fmt.Sprintf("%d %s", l.ErrorStatus, why)
		}
		return []agents.Event{{Kind: agents.EventRetry, Text: why, Until: d.now().Add(time.Duration(min(max(l.DelayMS, 0), 1e9)) * time.Millisecond)}}
	case "permission_denied":
		return []agents.Event{{Kind: agents.EventPermission, Tool: l.Tool, ToolID: l.ToolUseID, Text: textOf(l.Text), Failed: true}}
	}
	return nil
}

// assistant reads a message of the model. A message comes in several lines, each
// with a part of its content and the same tokens.
func (d *dialect) assistant(m message) []agents.Event {
	d.result = nil // it goes on
	var events []agents.Event
	for _, b := range blocks(m.Content) {
		switch b.Type {
		case "text":
			events = append(events, agents.Event{Kind: agents.EventText, Text: b.Text})
		case "thinking":
			events = append(events, agents.Event{Kind: agents.EventThought, Text: b.Thinking})
		case "tool_use", "server_tool_use":
			if b.Name == structured {
				continue
			}
			if d.names == nil {
				d.names = map[string]string{}
			}
			if len(d.names) < maxCalls {
				d.names[b.ID] = b.Name
			}
			events = append(events, agents.Event{Kind: agents.EventToolStart, Tool: b.Name, ToolID: b.ID, Text: agents.CallLine(string(b.Input), agents.CallKeys()...)})
		}
	}
	return append(events, d.count(m)...)
}

// maxCalls bounds what is remembered of a run.
const maxCalls = 4096

// count adds the tokens of a message that was not seen before.
func (d *dialect) count(m message) []agents.Event {
	if m.Usage == nil || m.ID == "" || d.seen[m.ID] || m.Usage.sum() == (agents.Usage{}) || len(d.seen) >= 16*maxCalls {
		return nil
	}
	if d.seen == nil {
		d.seen = map[string]bool{}
	}
	d.seen[m.ID] = true
	d.usage = d.usage.Add(m.Usage.sum())
	sum := d.usage
	return []agents.Event{{Kind: agents.EventUsage, Usage: &sum, Model: m.Model}}
}

// results reads what tools gave back.
func (d *dialect) results(m message) []agents.Event {
	var events []agents.Event
	for _, b := range blocks(m.Content) {
		name, known := d.names[b.CallID]
		if b.Type != "tool_result" || !known {
			continue
		}
		delete(d.names, b.CallID)
		events = append(events, agents.Event{Kind: agents.EventToolEnd, Tool: name, ToolID: b.CallID, Text: textOf(b.Content), Failed: b.IsError})
	}
	return events
}

func (d *dialect) limits(l limitInfo) []agents.Event {
	d.limit = l
	if l.Status == "allowed" || l.Status == "" {
		return nil
	}
	text := strings.TrimSpace(strings.ReplaceAll(l.Type, "_", " ") + " limit: " + strings.ReplaceAll(l.Status, "_", " "))
	return []agents.Event{{Kind: agents.EventLimit, Text: text, Until: l.until(), Failed: l.Status == "rejected"}}
}

func blocks(raw json.RawMessage) []block {
	var out []block
	if lenient(raw, &out) != nil {
		return nil
	}
	return out
}

// textOf is a text, or the texts of a list of blocks.
func textOf(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []string
	for _, b := range blocks(raw) {
		parts = append(parts, b.Text)
	}
	return strings.Join(parts, "\n")
}

var _ stream.Dialect = (*dialect)(nil)
