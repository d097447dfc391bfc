package interview

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"si/internal/clean"
	"si/tui/look"
)

// The frame around a page, in lines: the title, the steps, a rule; and a rule, a
// fault's lines and the keys.
const (
	headLines  = 4
	footLines  = 2
	faultLines = 4
	leastWidth = 60
	leastRows  = 16
)

// View draws the screen.
func (m *Model) View() tea.View {
	v := tea.NewView(strings.Join(m.lines(), "\n"))
	v.AltScreen = true
	v.WindowTitle = "si set-up: " + m.step.String()
	return v
}

// room is what a page has of the screen.
func (m *Model) room() (w, h int) {
	return max(20, m.w-4), max(4, m.h-headLines-footLines-len(m.faultText()))
}

func (m *Model) lines() []string {
	if m.w == 0 || m.h == 0 {
		return nil // the terminal has not said how large it is
	}
	if m.w < leastWidth || m.h < leastRows {
		return m.look.Block([]string{"the terminal is too small for the set-up", "make it 60 by 16 or larger; ctrl+c leaves"}, m.w, m.h)
	}
	w, h := m.room()
	out := m.head()
	for _, line := range m.look.Block(m.page.view(m, w, h), w, h) {
		out = append(out, "  "+line)
	}
	return append(out, m.foot()...)
}

func (m *Model) head() []string {
	l := m.look
	left := []look.Span{{Paint: l.Title, Text: "si"}, {Text: " set up "}, {Paint: l.Strong, Text: clean.Line(m.world.Repository, 200)}}
	right := []look.Span{{Paint: l.Faint, Text: "from " + clean.Line(m.branch, 60)}}
	return []string{
		" " + l.Row(m.w-2, left, right),
		" " + m.rail(),
		l.Border.On(strings.Repeat(l.Marks.Rule, m.w)),
		"",
	}
}

// rail is the steps, with where the person is.
func (m *Model) rail() string {
	l := m.look
	var parts []string
	for s := StepTrust; s <= StepStart; s++ {
		switch {
		case s == m.step:
			parts = append(parts, l.Focus.On(l.Marks.Working+" "+s.String()))
		case s < m.step:
			parts = append(parts, l.Good.On(l.Marks.Done)+" "+s.String())
		default:
			parts = append(parts, l.Faint.On(l.Marks.Waiting+" "+s.String()))
		}
	}
	return strings.Join(parts, "  ")
}

func (m *Model) foot() []string {
	l := m.look
	out := []string{l.Border.On(strings.Repeat(l.Marks.Rule, m.w))}
	for _, line := range m.faultText() {
		out = append(out, " "+l.Bad.On(line))
	}
	keys := m.page.keys()
	if m.busy != "" && !m.hearsWhileBusy() {
		keys = m.busy + l.Marks.Cut
	}
	if m.leaving {
		keys = "ending what runs; ctrl+c again leaves at once"
	}
	left := []look.Span{{Paint: l.Key, Text: keys}}
	right := []look.Span{{Paint: l.Faint, Text: "esc back   ctrl+c leave"}}
	return append(out, " "+l.Row(m.w-2, left, right))
}

// faultText is the fault as lines that fit.
func (m *Model) faultText() []string {
	if m.fault == "" {
		return nil
	}
	var out []string
	for _, line := range strings.Split(m.fault, "\n") {
		out = append(out, m.look.Wrap(line, max(10, m.w-2), faultLines)...)
	}
	return out[:min(len(out), faultLines)]
}

// wrapped is a paragraph as lines.
func (m *Model) wrapped(paint look.Paint, text string, w int) []string {
	const most = 12
	var out []string
	for _, line := range m.look.Wrap(text, w, most) {
		out = append(out, paint.On(line))
	}
	return out
}
