package pane

import (
	"fmt"
	"strings"
	"time"

	"si/tui/look"
	"si/tui/scene"
)

// Diff is how large the change of a candidate is. Lines are −1 when they were not
// counted.
type Diff struct{ Files, Added, Removed int }

func (d Diff) String() string {
	if d.Added < 0 {
		return files(d.Files)
	}
	return fmt.Sprintf("%s +%d −%d", files(d.Files), d.Added, d.Removed)
}

func files(n int) string {
	if n == 1 {
		return "1 file"
	}
	return fmt.Sprintf("%d files", n)
}

// Agent is the live pane of one agent: its status and counters in the frame, its
// last lines inside.
func Agent(l look.Look, a *scene.Agent, d *Diff, now time.Time, w, h int, focus bool) []string {
	rows := max(0, h-2)
	lines := make([]string, 0, rows)
	for _, line := range a.Lines.Tail(rows) {
		lines = append(lines, Line(l, line, w-4))
	}
	if len(lines) == 0 && rows > 0 {
		lines = append(lines, l.Faint.On(l.Cut(silence(a), w-4)))
	}
	title, facts := AgentTitle(l, a, now), AgentFacts(l, a, d)
	return l.Frame(w, h, focus, title, facts, lines)
}

// AgentRow is an agent in one line, where there is no room for panes.
func AgentRow(l look.Look, a *scene.Agent, d *Diff, now time.Time, w int, focus bool) string {
	left := AgentTitle(l, a, now)
	if focus {
		left = append([]look.Span{{Paint: l.Focus, Text: ">"}}, left...)
	} else {
		left = append([]look.Span{{Text: " "}}, left...)
	}
	facts := AgentFacts(l, a, d)
	if doing := latest(a); doing != "" {
		left = append(left, span(l.Faint, "  %s", doing))
	}
	return l.Row(w, left, facts)
}

func latest(a *scene.Agent) string {
	if a.Doing != "" {
		return a.Doing
	}
	if n := a.Lines.Len(); n > 0 {
		return strings.TrimSpace(a.Lines.At(n - 1).Text)
	}
	return ""
}

func silence(a *scene.Agent) string {
	switch {
	case a.Failed:
		return a.Reason
	case a.Cut:
		return "ended with the loop"
	case !a.Working():
		return "done; it printed nothing"
	}
	return "at work; it has printed nothing yet"
}

// AgentTitle is who works, its state and for how long.
func AgentTitle(l look.Look, a *scene.Agent, now time.Time) []look.Span {
	mark, paint, state := l.Marks.Working, l.Focus, ""
	switch {
	case a.Failed:
		mark, paint, state = l.Marks.Failed, l.Bad, " failed"
	case a.Cut:
		mark, paint, state = l.Marks.Failed, l.Warn, " ended with the loop"
	case a.Idle != "":
		mark, paint, state = l.Marks.Done, l.Faint, " has nothing to propose"
	case !a.Working():
		mark, paint, state = l.Marks.Done, l.Good, " done"
	case a.Note != "":
		mark, paint, state = l.Marks.Waiting, l.Warn, " "+a.Note
	}
	out := []look.Span{span(paint, "%s ", mark), {Paint: l.Strong, Text: a.ID}, {Paint: paint, Text: state}, span(l.Plain, " %s", Elapsed(a.Elapsed(now)))}
	if a.Attempt > 1 {
		out = append(out, span(l.Warn, " try %d", a.Attempt))
	}
	return out
}

// AgentFacts are its player and what it has spent.
func AgentFacts(l look.Look, a *scene.Agent, d *Diff) []look.Span {
	player, _, _ := strings.Cut(a.Backend, " ") // without the arguments of a program
	if a.Model != "" {
		player = a.Model
	}
	var words []string
	if player != "" {
		words = append(words, player)
	}
	if a.Cost != nil {
		words = append(words, Money(*a.Cost))
	}
	if a.Usage != nil {
		words = append(words, Count(a.Usage.Total())+" tok")
	}
	if a.Tools == 1 {
		words = append(words, "1 tool")
	} else if a.Tools > 1 {
		words = append(words, fmt.Sprintf("%d tools", a.Tools))
	}
	if d != nil {
		words = append(words, d.String())
	}
	var out []look.Span
	for i, word := range words {
		if i > 0 {
			word = " " + l.Marks.Dot + " " + word
		}
		out = append(out, look.Span{Paint: l.Faint, Text: word})
	}
	return out
}

// Line is one line of an agent, cut to w columns.
func Line(l look.Look, line scene.Line, w int) string {
	text, paint := LineText(l, line)
	return paint.On(l.Cut(text, w))
}

// LineText is the text of a line with the mark of its kind, and how it is painted.
func LineText(l look.Look, line scene.Line) (string, look.Paint) {
	switch line.Kind {
	case scene.Tool:
		return l.Marks.Arrow + " " + line.Text, l.Key
	case scene.Thought:
		return line.Text, l.Faint
	case scene.Output:
		return "  " + line.Text, l.Faint
	case scene.Bad:
		return line.Text, l.Bad
	case scene.Notice:
		return line.Text, l.Warn
	case scene.Said:
	}
	return line.Text, l.Plain
}
