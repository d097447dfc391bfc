package agents

import (
	"fmt"
	"time"

	"si/internal/secret"
	"si/track"
)

// EventKind says what an agent did.
type EventKind string

// The kinds of events. A backend that has no word for one leaves it out.
const (
	EventStarted    EventKind = "started"     // Session, Model
	EventText       EventKind = "text"        // Text: a part of what the model says to people
	EventThought    EventKind = "thought"     // Text: a part of its reasoning
	EventToolStart  EventKind = "tool_start"  // Tool, ToolID, Text: what is asked of it, in one line
	EventToolOutput EventKind = "tool_output" // ToolID, Text: a part of what it prints
	EventToolEnd    EventKind = "tool_end"    // Tool, ToolID, Text: its result, Failed
	EventPlan       EventKind = "plan"        // Text: the agent's own list of what is to be done
	EventPermission EventKind = "permission"  // Tool, Text: what it asked to be allowed, Failed when refused
	EventUsage      EventKind = "usage"       // Usage and CostUSD: of the task so far, not of the last step
	EventRetry      EventKind = "retry"       // Text: why; Until: when it tries again
	EventLimit      EventKind = "limit"       // Text: which usage limit; Until: when it is lifted; Failed when it is reached
	EventNotice     EventKind = "notice"      // Text
)

// Event is one thing that an agent did. Text comes from outside: whoever hands
// it on to a screen or a file has made it harmless with Clean.
type Event struct {
	Kind    EventKind
	At      time.Time
	Text    string
	Tool    string
	ToolID  string
	Failed  bool
	Session string
	Model   string
	Usage   *Usage
	CostUSD *float64
	Until   time.Time
}

// Usage is what a task used up, as the journal keeps it.
type Usage = track.Usage

// Spent is what a task cost, as the journal keeps it.
type Spent = track.Spent

// Limits end a task; 0 is no limit. The limits of time are the task's Wall and
// Idle.
type Limits struct {
	Steps   int     // tool calls
	Repeats int     // identical tool calls in a row
	Tokens  int64   // Usage.Total
	CostUSD float64 // of the task
}

// Meter counts what a task spends, by its events. It is not safe for concurrent
// use.
type Meter struct {
	limits  Limits
	spent   Spent
	last    string // the last tool call
	repeats int
}

// NewMeter returns a meter that watches over limits.
func NewMeter(limits Limits) *Meter { return &Meter{limits: limits} }

// Add counts e. It returns what is wrong once a limit is passed, otherwise "".
func (m *Meter) Add(e Event) string {
	if e.Session != "" {
		m.spent.Session = e.Session
	}
	if e.Model != "" {
		m.spent.Model = e.Model
	}
	if e.Usage != nil {
		u := *e.Usage
		m.spent.Usage = &u
	}
	if e.CostUSD != nil {
		c := *e.CostUSD
		m.spent.CostUSD = &c
	}
	if e.Usage != nil || e.CostUSD != nil {
		m.spent = m.spent.Plausible()
	}
	if e.Kind == EventToolStart {
		m.spent.Tools++
		if call := e.Tool + "\x00" + e.Text; call == m.last {
			m.repeats++
		} else {
			m.last, m.repeats = call, 1
		}
	}
	return m.passed()
}

func (m *Meter) passed() string {
	l, s := m.limits, m.spent
	switch {
	case l.Steps > 0 && s.Tools > l.Steps:
		return fmt.Sprintf("it made more than %d tool calls, the limit of a task", l.Steps)
	case l.Repeats > 0 && m.repeats > l.Repeats:
		return fmt.Sprintf("it made the same tool call %d times in a row", m.repeats)
	case l.Tokens > 0 && s.Usage != nil && s.Usage.Total() > l.Tokens:
		return fmt.Sprintf("it used %d tokens; the limit of a task is %d", s.Usage.Total(), l.Tokens)
	case l.CostUSD > 0 && s.CostUSD != nil && *s.CostUSD > l.CostUSD:
		return fmt.Sprintf("it cost $%.2f; the limit of a task is $%.2f", *s.CostUSD, l.CostUSD)
	}
	return ""
}

// Spent is what was counted so far.
func (m *Meter) Spent() Spent { return m.spent }

// Edits reports whether the role may change its working folder.
func (r Role) Edits() bool { return r == Executor || r == Builder }

// Without is the event without the secrets, on whichever of its fields they stand.
func (e Event) Without(s secret.Set) Event {
	if s.Empty() {
		return e
	}
	for _, text := range []*string{&e.Text, &e.Tool, &e.ToolID, &e.Session, &e.Model} {
		*text = s.Mask(*text)
	}
	return e
}

// Without is the answer without the secrets: it becomes documents and prompts. One that
// has a secret where JSON cannot be without it has no document any more.
func (a Answer) Without(s secret.Set) Answer {
	a.Text, a.JSON = s.Mask(a.Text), s.JSON(a.JSON)
	a.Spent.Session, a.Spent.Model = s.Mask(a.Spent.Session), s.Mask(a.Spent.Model)
	return a
}

// Without is the failure without the secrets, which programs repeat in their
// complaints.
func (f *Failure) Without(s secret.Set) *Failure {
	g := *f
	g.What, g.Said, g.Err = s.Mask(f.What), s.Mask(f.Said), s.Error(f.Err)
	g.Spent.Session, g.Spent.Model = s.Mask(f.Spent.Session), s.Mask(f.Spent.Model)
	return &g
}
