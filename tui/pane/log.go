package pane

import (
	"fmt"

	"si/tui/look"
	"si/tui/scene"
)

// Log is what happened, newest at the bottom. back is how many lines the reader
// has gone back; most words need more than one line only in a log of full height,
// where they get it.
func Log(l look.Look, s *scene.Scene, w, h, back int) []string {
	rows := max(0, h-2)
	end := max(0, s.Log.Len()-back)
	from := max(0, end-rows)
	lines := make([]string, 0, rows)
	for i := from; i < end; i++ {
		lines = append(lines, logLine(l, s.Log.At(i), w-4))
	}
	var facts []look.Span
	if back > 0 {
		facts = append(facts, span(l.Warn, "%d newer", s.Log.Len()-end))
	}
	return l.Frame(w, h, false, []look.Span{{Paint: l.Title, Text: "events"}}, facts, lines)
}

func logLine(l look.Look, e scene.Log, w int) string {
	stamp := e.At.Local().Format("15:04:05 ")
	if w < 50 {
		stamp = e.At.Local().Format("15:04 ")
	}
	if w < 24 {
		stamp = ""
	}
	return l.Faint.On(stamp) + MoodPaint(l, e.Mood).On(l.Cut(e.Text, w-len(stamp)))
}

// MoodPaint is how a line of the log is painted.
func MoodPaint(l look.Look, m scene.Mood) look.Paint {
	switch m {
	case scene.Good:
		return l.Good
	case scene.Poor:
		return l.Bad
	case scene.Warn:
		return l.Warn
	case scene.Quiet:
		return l.Faint
	case scene.Plain:
	}
	return l.Plain
}

// Notice is what a terminal shows that is too small for the screen.
func Notice(l look.Look, w, h, needW, needH int) []string {
	text := fmt.Sprintf("si needs %d×%d, this terminal has %d×%d; the loop runs on. q quits", needW, needH, w, h)
	if l.ASCII {
		text = fmt.Sprintf("si needs %dx%d, this terminal has %dx%d; the loop runs on. q quits", needW, needH, w, h)
	}
	return l.Block(l.Wrap(text, w, h), w, h)
}
