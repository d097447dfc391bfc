package pane

import (
	"fmt"
	"slices"
	"strings"

	"si/track"
	"si/tui"
	"si/tui/look"
	"si/tui/scene"
)

// columns are the widths of the table's columns; 0 leaves one out.
type columns struct{ who, family, score, runs, effect, what int }

func columnsFor(w int, entries []*scene.Entry) columns {
	c := columns{who: 11, family: 14, score: 10, runs: 7, effect: 26}
	for _, e := range entries {
		c.who = min(20, max(c.who, look.Width(e.Executor)+1))
	}
	if w < 110 {
		c.family = 0
	}
	if w < 90 {
		c.effect = 15
	}
	if w < 66 {
		c.runs = 0
	}
	if w < 46 {
		c.effect = 0
	}
	if w < 34 {
		c.score = 0
	}
	c.who = min(c.who, max(1, w-2-c.score))
	c.what = max(0, w-2-c.who-c.family-c.score-c.runs-c.effect)
	return c
}

// Rows is the height that the table likes to have.
func Rows(s *scene.Scene) int { return len(s.Entries) + 4 }

// Table is the round's candidates and their tournament as it goes: one row a candidate, which fills
// in sample by sample. Below the rows stands what the chosen one is about.
func Table(l look.Look, s *scene.Scene, w, h int, chosen string) []string {
	inner := w - 4
	c := columnsFor(inner, s.Entries)
	lines := []string{l.Faint.On(row(l, c, " ", "candidate", "approach", "score", "runs", "effect", "state"))}
	first := 0
	for i, e := range s.Entries {
		if e.Executor == chosen {
			first = max(0, i-max(1, h-5)+1)
		}
	}
	for i, e := range s.Entries {
		if i >= first && len(lines) < h-2 {
			lines = append(lines, entryRow(l, c, s, e, e.Executor == chosen))
		}
	}
	if room := h - 2 - len(lines); room > 0 {
		lines = append(lines, about(l, s, chosen, inner, room)...)
	}
	title := []look.Span{{Paint: l.Title, Text: "candidates"}, span(l.Faint, " of round %d", s.Round.N)}
	var facts []look.Span
	if s.Round.Best != nil {
		facts = append(facts, span(l.Faint, "champion "), span(l.Plain, "%s", tui.Score(*s.Round.Best)))
	}
	return l.Frame(w, h, chosen != "", title, facts, lines)
}

// about says what the chosen candidate tries, or what the table shows.
func about(l look.Look, s *scene.Scene, chosen string, w, most int) []string {
	e := s.Entry(chosen)
	if e == nil {
		e = newest(s)
	}
	if e == nil {
		if len(s.Entries) == 0 {
			return []string{l.Faint.On(l.Cut("the plans of the round appear here, then their candidates and runs", w))}
		}
		return nil
	}
	text := e.Executor + ": " + e.Hypothesis
	if e.Reason != "" {
		text += "  " + l.Marks.Arrow + " " + e.Reason
	}
	var out []string
	for _, line := range l.Wrap(text, w, most) {
		out = append(out, l.Faint.On(line))
	}
	return out
}

// newest is the candidate that is worth a word when none is chosen: the one in the
// duel, else the last one that was decided.
func newest(s *scene.Scene) (e *scene.Entry) {
	for _, v := range s.Entries {
		switch v.Phase {
		case scene.Duelling:
			return v
		case scene.Kept:
			e = v
		case scene.Refused, scene.NoChange, scene.Rejected:
			if e == nil || e.Phase != scene.Kept {
				e = v
			}
		case scene.Planned, scene.Approved, scene.Changing, scene.Committed, scene.Checked:
		}
	}
	return e
}

func row(l look.Look, c columns, mark, who, family, score, runs, effect, what string) string {
	return l.Fit(mark, 2) + l.Fit(who, c.who) + l.Fit(family, c.family) + right(l, score, c.score) + right(l, runs, c.runs) + l.Cut("  ", c.effect) + l.Fit(effect, c.effect-2) + l.Fit(what, c.what)
}

// right makes a number end at the column's right edge.
func right(l look.Look, s string, w int) string {
	s = l.Cut(s, w)
	return strings.Repeat(" ", max(0, w-look.Width(s))) + s
}

func entryRow(l look.Look, c columns, s *scene.Scene, e *scene.Entry, chosen bool) string {
	mark, paint := entryMark(l, e)
	text := row(l, c, mark, e.Executor, e.Family, score(e.Score()), runsOf(e), effect(l, s, e, c.effect-2), state(e, s.Live()))
	if chosen {
		return l.Chosen.On(l.Fit(text, 2+c.who+c.family+c.score+c.runs+c.effect+c.what))
	}
	return paint.On(text)
}

func entryMark(l look.Look, e *scene.Entry) (string, look.Paint) {
	switch e.Phase {
	case scene.Kept:
		return l.Marks.Kept, l.Good
	case scene.Refused, scene.NoChange, scene.Rejected:
		return l.Marks.Refused, l.Faint
	case scene.Duelling, scene.Changing:
		return l.Marks.Working, l.Focus
	case scene.Planned, scene.Approved, scene.Committed, scene.Checked:
	}
	return l.Marks.Waiting, l.Plain
}

// runsOf counts the runs that decide: of the candidate and of the champion.
func runsOf(e *scene.Entry) string {
	mine, champion := 0, 0
	for _, r := range e.Runs {
		if r.Champion {
			champion++
		} else {
			mine++
		}
	}
	if mine+champion == 0 {
		return ""
	}
	return fmt.Sprintf("%d+%d", mine, champion)
}

// effect is the verdict's effect with its interval; while the duel goes on it is
// what its runs show up to now, marked as such, with one mark a run.
func effect(l look.Look, s *scene.Scene, e *scene.Entry, w int) string {
	if e.Effect != nil {
		text := tui.EffectText(e.Effect)
		if look.Width(text) > w { // the value alone says more than half an interval
			text, _, _ = strings.Cut(text, " ")
		}
		return text
	}
	v, ok := e.SoFar(s.Facts.Direction)
	if !ok {
		return ""
	}
	text := "~" + percent(v) + " "
	marks := sampleMarks(l, e, s.Facts.Direction)
	if over := len(marks) - (w - look.Width(text)); over > 0 {
		marks = marks[min(over, len(marks)):]
	}
	return text + strings.Join(marks, "")
}

// sampleMarks tells for each run of the candidate whether it was better than the
// champion's median.
func sampleMarks(l look.Look, e *scene.Entry, d track.Direction) (marks []string) {
	var champion []float64
	for _, r := range e.Runs {
		if r.Champion {
			champion = append(champion, r.Score)
		}
	}
	slices.Sort(champion)
	middle := champion[len(champion)/2]
	for _, r := range e.Runs {
		switch {
		case r.Champion:
		case r.Score == middle:
			marks = append(marks, l.Marks.Even)
		case (r.Score > middle) == (d != track.LowerIsBetter):
			marks = append(marks, l.Marks.Up)
		default:
			marks = append(marks, l.Marks.Down)
		}
	}
	return marks
}

func state(e *scene.Entry, live bool) string {
	switch e.Phase {
	case scene.Planned:
		return "planned: " + e.Hypothesis
	case scene.Approved:
		return "approved: " + e.Hypothesis
	case scene.Rejected:
		return "plan rejected: " + e.Reason
	case scene.Changing:
		if !live {
			return "not finished: " + e.Hypothesis
		}
		return "executor at work: " + e.Hypothesis
	case scene.NoChange:
		return "no candidate: " + e.Reason
	case scene.Committed:
		return "committed, waits for its check: " + e.Hypothesis
	case scene.Checked:
		return "checked: " + e.Hypothesis
	case scene.Duelling:
		return "in the duel: " + e.Hypothesis
	case scene.Refused:
		return "refused: " + e.Reason
	case scene.Kept:
		return "kept: " + e.Hypothesis
	}
	return ""
}
