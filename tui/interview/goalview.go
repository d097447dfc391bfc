package interview

import (
	"fmt"
	"strings"

	"si/internal/clean"
	"si/loop/clarify"
	"si/tui/look"
)

// The scoreboard stands beside the question where there is room, else above it.
const (
	sideFrom  = 92
	sideWidth = 38
	widest    = 84
)

func (p *questionPage) formWidth(*Model) int {
	return besideBoard(p.w)
}

// besideBoard is the width that a question has: lines of more are hard to read.
func besideBoard(w int) int {
	if w < sideFrom {
		return w
	}
	return min(w-sideWidth-2, widest)
}

// above is what stands over the form.
func (p *questionPage) above(m *Model) []string {
	w := p.formWidth(m)
	var out []string
	if p.w < sideFrom {
		out = append(out, scoreLine(m.look, p.scores, w), "")
	}
	q := p.question
	if q.Missing != "" {
		out = append(out, m.wrapped(m.look.Warn, clean.Line(string(q.About)+": "+q.Missing, 300), w)...)
	}
	if len(q.Seen) > 0 {
		out = append(out, m.look.Faint.On("Seen in the repository:"))
		for _, s := range q.Seen {
			out = append(out, m.look.Faint.On(m.look.Cut("  "+m.look.Marks.Dot+" "+clean.Line(s, 200), w)))
		}
	}
	return append(out, "")
}

func (p *questionPage) view(m *Model, w, h int) []string {
	if p.waiting || p.form == nil {
		what := "looking at the repository" + m.look.Marks.Cut
		if m.looked {
			what = "the clarifier reads your answer" + m.look.Marks.Cut
		}
		return []string{m.look.Faint.On(what)}
	}
	left := append(p.above(m), strings.Split(p.form.view(), "\n")...)
	if w < sideFrom {
		return left
	}
	fw := p.formWidth(m)
	board := m.look.Frame(sideWidth, 9, false, []look.Span{{Text: fmt.Sprintf("goal, question %d", len(m.turns)+1)}}, nil, scoreboard(m.look, p.scores, sideWidth-4))
	return look.Beside(m.look.Block(left, fw+2, h), m.look.Block(board, sideWidth, h))
}

// scoreboard is the four dimensions and what they leave open.
func scoreboard(l look.Look, s clarify.Scores, w int) []string {
	const bar = 12
	var out []string
	for _, d := range clarify.Dimensions() {
		v := s[d].Value
		full := v * bar / 100
		paint, mark := l.Bad, l.Marks.Waiting
		switch {
		case v >= clearEnough:
			paint, mark = l.Good, l.Marks.Done
		case v > 0:
			paint, mark = l.Warn, l.Marks.Working
		}
		name := l.Fit(string(d), 10)
		out = append(out, l.Cut(paint.On(mark)+" "+name+" "+paint.On(strings.Repeat(filled(l), full))+l.Faint.On(strings.Repeat(l.Marks.Dot, bar-full))+fmt.Sprintf(" %3d", v), w))
	}
	return append(out, "", fmt.Sprintf("ambiguity %d, clear at 20 or less", s.Ambiguity()), l.Faint.On("each part has to reach 80"))
}

func filled(l look.Look) string {
	if l.ASCII {
		return "#"
	}
	return "─"
}

// scoreLine is the scoreboard on one line.
func scoreLine(l look.Look, s clarify.Scores, w int) string {
	var parts []string
	for _, d := range clarify.Dimensions() {
		v := s[d].Value
		paint := l.Warn
		if v >= clearEnough {
			paint = l.Good
		}
		parts = append(parts, string(d)+" "+paint.On(fmt.Sprint(v)))
	}
	return l.Cut(strings.Join(parts, "  ")+fmt.Sprintf("   ambiguity %d", s.Ambiguity()), w)
}
