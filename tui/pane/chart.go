package pane

import (
	"strings"

	"si/plot"
	"si/plot/terminal"
	"si/tui/look"
)

// Picture is a chart that was drawn for a size. It is drawn when its data or its
// size changes and kept until then.
type Picture struct {
	version, w, h int
	lines         []string
}

// Chart frames the picture of the progress, which it draws anew when that is
// needed.
func (p *Picture) Chart(l look.Look, d plot.Data, version, w, h int) []string {
	if p.lines == nil || p.version != version || p.w != w || p.h != h {
		p.draw(l, d, w, h)
		p.version, p.w, p.h = version, w, h
	}
	return l.Frame(w, h, false, []look.Span{{Paint: l.Title, Text: "progress"}}, p.facts(l, w), p.lines)
}

// facts explain the marks, in the frame.
func (p *Picture) facts(l look.Look, w int) []look.Span {
	if w < 50 {
		return []look.Span{{Paint: l.Faint, Text: "by round"}}
	}
	champion, candidate, start := "⣀⣀", "⠒", "⠂⠂"
	if l.ASCII {
		champion, candidate, start = "==", "o", "--"
	}
	return []look.Span{
		{Paint: l.Faint, Text: start + " start  "}, {Paint: l.Focus, Text: candidate + " candidate  "}, {Paint: l.Good, Text: champion + " champion"},
	}
}

func (p *Picture) draw(l look.Look, d plot.Data, w, h int) {
	cells := terminal.Draw(d, terminal.Options{Width: w - 4, Height: h - 2, ASCII: l.ASCII})
	p.lines = make([]string, 0, len(cells))
	for _, row := range cells {
		p.lines = append(p.lines, cellRow(l, row))
	}
}

// cellRow paints a row of cells, neighbours of one role together.
func cellRow(l look.Look, row []terminal.Cell) string {
	var out, run strings.Builder
	role := terminal.Blank
	flush := func() {
		out.WriteString(rolePaint(l, role).On(run.String()))
		run.Reset()
	}
	for _, c := range row {
		if c.Role != role {
			flush()
			role = c.Role
		}
		run.WriteRune(c.Rune)
	}
	flush()
	return out.String()
}

func rolePaint(l look.Look, r terminal.Role) look.Paint {
	switch r {
	case terminal.Champion, terminal.Winner:
		return l.Good
	case terminal.Candidate:
		return l.Focus
	case terminal.Target:
		return l.Warn
	case terminal.Interval, terminal.Baseline, terminal.Axis, terminal.Label:
		return l.Faint
	case terminal.Blank:
	}
	return l.Plain
}
