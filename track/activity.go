package track

import (
	"fmt"
	"path/filepath"
	"time"
)

// Activity is one line of logs/round_n/<agent>.activity.jsonl: one thing that an
// agent at work did. The file is bounded and lossy: it is for screens and persons, and
// the only word on what an agent has cost that was killed together with the loop. Every text in it is clean: valid UTF-8 without a control
// sequence.
type Activity struct {
	At      time.Time  `json:"at"`
	Kind    string     `json:"kind"` // started, text, thought, tool_start, tool_output, tool_end, plan, permission, usage, retry, limit, notice
	Text    string     `json:"text,omitempty"`
	Tool    string     `json:"tool,omitempty"`
	ToolID  string     `json:"tool_id,omitempty"`
	Failed  bool       `json:"failed,omitempty"`
	Session string     `json:"session,omitempty"`
	Model   string     `json:"model,omitempty"`
	Usage   *Usage     `json:"usage,omitempty"` // of the task so far
	CostUSD *float64   `json:"cost_usd,omitempty"`
	Until   *time.Time `json:"until,omitempty"`
	Dropped int        `json:"dropped,omitempty"` // activities left out before this one
}

// ActivityPath is the file with what an agent of a round did. attempt counts
// from 1.
func (p Paths) ActivityPath(round int, agent string, attempt int) string {
	name := agent
	if attempt > 1 {
		name += fmt.Sprintf(".attempt%d", attempt)
	}
	return filepath.Join(p.LogDir(round), name+".activity.jsonl")
}
