package scene

import (
	"strings"
	"time"

	"si/internal/clean"
	"si/track"
)

// The bounds of what a scene keeps of one agent.
const (
	mostLines = 2000
	mostRunes = 1000 // of a line
)

// Agent is one agent's task.
type Agent struct {
	ID, Role, Backend, Model string
	Round, Attempt           int
	Started, Ended           time.Time
	Failed                   bool
	Idle                     string // what it has instead of a proposal: "no other plan: …"
	Cut                      bool   // ended with the loop, not by itself
	Reason                   string
	Tools                    int
	Usage                    *track.Usage
	Cost                     *float64
	Doing                    string // the tool call under way
	Note                     string // a retry, a limit
	Lines                    *Ring[Line]
	Dropped                  int    // activities that nobody wrote down or read
	File                     string // its activity, as the journal names it
	Log                      string
	open                     bool // the last line may go on
}

// Line is one line of what an agent said or did.
type Line struct {
	Kind LineKind
	Text string
}

// LineKind says what a line is.
type LineKind int

// The kinds of lines.
const (
	Said LineKind = iota
	Thought
	Tool
	Output
	Bad
	Notice
)

// Working reports whether the agent has not ended.
func (a *Agent) Working() bool { return a.Ended.IsZero() }

// Elapsed is how long the agent has worked at now.
func (a *Agent) Elapsed(now time.Time) time.Duration {
	if !a.Working() {
		now = a.Ended
	}
	return span(a.Started, now)
}

func (s *Scene) aboutAgents(e track.Event) {
	switch e.Ev { //nolint:exhaustive // the kinds of this group
	case track.EvAgentStarted:
		s.startAgent(e)
	case track.EvNothing:
		s.idle(e)
	case track.EvAgentEnded, track.EvAgentFailed:
		d := decoded[track.AgentEvent](e)
		a := s.Agent(d.ID)
		if a == nil {
			return
		}
		a.Ended, a.Doing, a.Note, a.open = e.TS, "", "", false
		a.spent(d.Spent)
		if e.Ev == track.EvAgentFailed {
			a.Failed, a.Reason = true, text(d.Reason)
			a.put(Bad, a.Reason)
		}
	}
}

// idle notes that an agent has nothing to propose.
func (s *Scene) idle(e track.Event) {
	d := decoded[track.AgentEvent](e)
	if a := s.Agent(d.ID); a != nil {
		a.Idle = text(d.Reason)
		a.put(Notice, a.Idle)
	}
}

func (s *Scene) startAgent(e track.Event) {
	d := decoded[track.AgentEvent](e)
	a := &Agent{
		ID: word(d.ID), Role: word(d.Role), Backend: word(d.Backend), Model: word(d.Model), Round: e.Round, Attempt: max(1, d.Attempt),
		Started: e.TS, Lines: NewRing[Line](mostLines), File: d.Doing, Log: d.Log,
	}
	for i, old := range s.Agents {
		if old.ID == a.ID { // tried once more
			s.Agents[i] = a
			return
		}
	}
	s.Agents = append(s.Agents, a)
}

func (s *Scene) endAgents(at time.Time) {
	for _, a := range s.Agents {
		if a.Working() {
			a.Ended, a.Cut = at, true
		}
	}
}

// Act folds what an agent did into its lines and counters.
func (s *Scene) Act(a *Agent, doing []track.Activity) {
	for _, v := range doing {
		a.act(v)
	}
	s.Version++
}

// Print appends lines of an agent's log, for agents without an activity file.
func (s *Scene) Print(a *Agent, lines []string) {
	for _, l := range lines {
		a.put(Said, l)
	}
	s.Version++
}

// Drop counts activities that were passed over.
func (s *Scene) Drop(a *Agent, n int) {
	if n > 0 {
		a.Dropped += n
		a.open = false
		s.Version++
	}
}

func (a *Agent) act(v track.Activity) {
	a.Dropped += max(0, v.Dropped)
	if v.Model != "" {
		a.Model = word(v.Model)
	}
	if v.Usage != nil {
		a.Usage = v.Usage
	}
	if v.CostUSD != nil {
		a.Cost = v.CostUSD
	}
	switch v.Kind {
	case "text":
		a.say(Said, v.Text)
	case "thought":
		a.say(Thought, v.Text)
	case "tool_start":
		a.Tools++
		a.Doing = line(strings.TrimSpace(v.Tool + " " + v.Text))
		a.put(Tool, a.Doing)
	case "tool_output":
		a.say(Output, v.Text)
	case "tool_end":
		a.Doing = ""
		a.endTool(v)
	case "permission":
		a.permission(v)
	case "plan", "notice", "retry", "limit":
		a.Note = ""
		if v.Kind == "retry" || v.Kind == "limit" {
			a.Note = line(v.Kind + ": " + v.Text)
		}
		a.put(Notice, v.Text)
	}
}

func (a *Agent) endTool(v track.Activity) {
	kind := Output
	if v.Failed {
		kind = Bad
	}
	if strings.TrimSpace(v.Text) != "" {
		a.put(kind, v.Text)
	} else if v.Failed {
		a.put(Bad, v.Tool+" failed")
	}
}

func (a *Agent) permission(v track.Activity) {
	word, kind := "allowed: ", Notice
	if v.Failed {
		word, kind = "not allowed: ", Bad
	}
	a.put(kind, word+strings.TrimSpace(v.Tool+" "+v.Text))
}

// say appends a part of a text: it goes on where the part before it ended.
func (a *Agent) say(kind LineKind, part string) {
	part = clean.Text([]byte(part))
	if part == "" {
		return
	}
	lines := strings.Split(part, "\n")
	ends := lines[len(lines)-1] == ""
	if ends {
		lines = lines[:len(lines)-1]
	}
	if last := a.Lines.last(); a.open && last != nil && last.Kind == kind {
		if len(last.Text) < mostRunes {
			last.Text = cut(last.Text + lines[0])
		}
		lines = lines[1:]
	}
	for _, l := range lines {
		a.Lines.Put(Line{kind, cut(l)})
	}
	a.open = !ends
}

// put appends whole lines.
func (a *Agent) put(kind LineKind, s string) {
	a.open = false
	for l := range strings.SplitSeq(strings.TrimRight(clean.Text([]byte(s)), "\n"), "\n") {
		a.Lines.Put(Line{kind, cut(l)})
	}
}

func (a *Agent) spent(s *track.Spent) {
	if s == nil {
		return
	}
	a.Tools = max(a.Tools, s.Tools)
	if s.Usage != nil {
		a.Usage = s.Usage
	}
	if s.CostUSD != nil {
		a.Cost = s.CostUSD
	}
	if s.Model != "" {
		a.Model = word(s.Model)
	}
}

func cut(s string) string {
	if len(s) <= mostRunes {
		return s
	}
	r := []rune(s)
	return string(r[:min(len(r), mostRunes)])
}

// text is words of others on one line; word is a name of theirs.
func text(s string) string { return clean.Line(s, mostRunes) }
func line(s string) string { return clean.Line(s, 200) }
func word(s string) string { return clean.Line(s, 60) }
