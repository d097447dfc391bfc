package codex

import (
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

	model  string // that was asked for: the stream does not name it
	text   string // the last message: the answer
	failed string // what turn.failed said
	wrong  string // what the last error said
	done   bool   // turn.completed, or turn.failed
	ok     bool
}

type line struct {
	Type    string `json:"type"`
	Thread  string `json:"thread_id"`
	Item    item   `json:"item"`
	Message string `json:"message"`
	Usage   *usage `json:"usage"`
	Error   struct {
		Message string `json:"message"`
	} `json:"error"`
}

// item is a part of a turn. It has the fields of all kinds.
type item struct {
	ID      string `json:"id"`
	Type    string `json:"type"`
	Text    string `json:"text"`
	Message string `json:"message"`
	Status  string `json:"status"` // in_progress, completed, failed, declined

	Command string `json:"command"`
	Output  string `json:"aggregated_output"`
	Exit    *int   `json:"exit_code"`

	Changes []struct {
		Path string `json:"path"`
		Kind string `json:"kind"`
	} `json:"changes"`

	Server    string          `json:"server"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Result    json.RawMessage `json:"result"`
	Error     json.RawMessage `json:"error"`

	Query string `json:"query"`
	Todo  []struct {
		Text string `json:"text"`
		Done bool   `json:"completed"`
	} `json:"items"`
}

// usage is of the whole thread, which a run of ours begins: the last one counts.
// Input includes what was read from and written to the cache.
type usage struct {
	Input      int64 `json:"input_tokens"`
	CacheRead  int64 `json:"cached_input_tokens"`
	CacheWrite int64 `json:"cache_write_input_tokens"`
	Output     int64 `json:"output_tokens"`
	Reasoning  int64 `json:"reasoning_output_tokens"`
}

func (u usage) net() agents.Usage {
	return agents.Usage{
		Input:     max(u.Input-u.CacheRead-u.CacheWrite, 0),
		CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Output: u.Output, Reasoning: u.Reasoning,
	}
}

// Line is as promised by stream.Dialect.
func (d *dialect) Line(data []byte) []agents.Event {
	var l line
	var wrong *json.UnmarshalTypeError
	if err := json.Unmarshal(data, &l); err != nil && !errors.As(err, &wrong) {
		return nil
	}
	switch l.Type {
	case "thread.started":
		return []agents.Event{{Kind: agents.EventStarted, Session: l.Thread, Model: d.model}}
	case "turn.started":
		d.done, d.ok = false, false
	case "item.started":
		return start(l.Item)
	case "item.updated":
		if l.Item.Type == "todo_list" {
			return plan(l.Item)
		}
	case "item.completed":
		return d.finished(l.Item)
	case "error":
		return d.trouble(l.Message)
	case "turn.failed":
		d.done, d.ok, d.failed = true, false, cmp.Or(l.Error.Message, d.wrong, "the turn failed")
	case "turn.completed":
		d.done, d.ok = true, true
		if l.Usage != nil {
			return []agents.Event{{Kind: agents.EventUsage, Usage: new(l.Usage.net())}}
		}
	}
	return nil
}

// Long is as promised by stream.Dialect: commands may print at any length.
func (d *dialect) Long([]byte) []agents.Event { return nil }

// Done is as promised by stream.Dialect.
func (d *dialect) Done() bool { return d.done }

// End is as promised by stream.Dialect.
func (d *dialect) End(stream.Exit) stream.Verdict {
	switch {
	case d.ok:
		return stream.Verdict{Text: d.text, JSON: stream.Object(d.text)}
	case d.failed != "" || d.wrong != "":
		return stream.Failed(cmp.Or(d.failed, d.wrong), 0, d.now(), d.zone)
	}
	return stream.Unfinished()
}

// trouble reads an error of the program: one that it tries to overcome, or the last.
func (d *dialect) trouble(said string) []agents.Event {
	if strings.HasPrefix(said, "Reconnecting") {
		return []agents.Event{{Kind: agents.EventRetry, Text: said}}
	}
	d.wrong = said
	return []agents.Event{{Kind: agents.EventNotice, Text: said, Failed: true}}
}

// start tells of an item that has begun, when it is a call of a tool.
func start(i item) []agents.Event {
	e := agents.Event{Kind: agents.EventToolStart, ToolID: i.ID}
	switch i.Type {
	case "command_execution":
		e.Tool, e.Text = "shell", i.Command
	case "mcp_tool_call":
		e.Tool, e.Text = i.Server+"."+i.Tool, agents.CallLine(string(i.Arguments), agents.CallKeys()...)
	case "web_search":
		e.Tool, e.Text = "web_search", i.Query
	case "file_change":
		e.Tool, e.Text = "edit", changes(i)
	case "collab_tool_call":
		e.Tool = cmp.Or(i.Tool, i.Type)
	case "todo_list":
		return plan(i)
	default:
		return nil
	}
	return []agents.Event{e}
}

func (d *dialect) finished(i item) []agents.Event {
	e := agents.Event{Kind: agents.EventToolEnd, ToolID: i.ID, Failed: i.Status == "failed" || i.Status == "declined"}
	switch i.Type {
	case "agent_message":
		d.text = i.Text
		return []agents.Event{{Kind: agents.EventText, Text: i.Text}}
	case "reasoning":
		return []agents.Event{{Kind: agents.EventThought, Text: i.Text}}
	case "error":
		return []agents.Event{{Kind: agents.EventNotice, Text: i.Message}}
	case "todo_list":
		return plan(i)
	case "command_execution":
		e.Tool, e.Text = "shell", i.Output
		if i.Exit != nil && *i.Exit != 0 {
			e.Failed = true
		}
	case "mcp_tool_call":
		e.Tool, e.Text = i.Server+"."+i.Tool, mcpText(i)
	case "web_search": // begun and ended without a start in some versions
		e.Tool, e.Text = "web_search", i.Query
	case "file_change":
		e.Tool, e.Text = "edit", changes(i)
	case "collab_tool_call":
		e.Tool = cmp.Or(i.Tool, i.Type)
	default:
		return nil
	}
	return []agents.Event{e}
}

func plan(i item) []agents.Event {
	var out strings.Builder
	for _, t := range i.Todo {
		mark := "[ ] "
		if t.Done {
			mark = "[x] "
		}
		out.WriteString(mark + t.Text + "\n")
	}
	if out.Len() == 0 {
		return nil
	}
	return []agents.Event{{Kind: agents.EventPlan, Text: out.String()}}
}

func changes(i item) string {
	var out []string
	for _, c := range i.Changes {
		out = append(out, strings.TrimSpace(c.Kind+" "+c.Path))
	}
	return strings.Join(out, ", ")
}

// mcpText is what an MCP tool gave: its texts, or its error.
func mcpText(i item) string {
	var r struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	}
	var parts []string
	if json.Unmarshal(i.Result, &r) == nil {
		for _, c := range r.Content {
			parts = append(parts, c.Text)
		}
	}
	if text := strings.Join(parts, "\n"); text != "" || len(i.Error) == 0 || string(i.Error) == "null" {
		return text
	}
	return fmt.Sprintf("error: %s", i.Error)
}

var _ stream.Dialect = (*dialect)(nil)
