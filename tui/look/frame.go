package look

import "strings"

// Frame draws a box of exactly w × h cells around lines, with a title in its upper
// edge and facts at the right of it. Lines are styled and not wider than w − 4;
// those that have no room are left out. A box that is too small to hold anything
// is its title alone.
func (l Look) Frame(w, h int, focus bool, title, facts []Span, lines []string) []string {
	if w < 8 || h < 2 {
		return l.small(w, h, title, facts)
	}
	edge := l.Edge(focus)
	box := l.Marks.Box
	out := make([]string, 0, h)
	out = append(out, l.top(w, edge, title, facts))
	for i := range h - 2 {
		inner := ""
		if i < len(lines) {
			inner = lines[i]
		}
		out = append(out, edge.On(box.Down)+" "+inner+blanks(w-4-Width(inner))+" "+edge.On(box.Down))
	}
	return append(out, edge.On(box.BottomLeft+strings.Repeat(box.Across, w-2)+box.BottomRight))
}

// Edge is the paint of a frame.
func (l Look) Edge(focus bool) Paint {
	if focus {
		return l.Focus
	}
	return l.Border
}

// top is the upper edge of a box.
func (l Look) top(w int, edge Paint, title, facts []Span) string {
	box := l.Marks.Box
	title, facts = l.agreedSpans(title), l.agreedSpans(facts)
	room := w - 6 // corners, and a blank and a line on both sides of the title
	facts = l.fitting(facts, min(room-min(spansWidth(title)+3, room/2), w-9))
	if n := spansWidth(facts); n > 0 {
		room -= n + 3
	}
	var b strings.Builder
	b.WriteString(edge.On(box.TopLeft+box.Across) + " ")
	used := l.write(&b, title, room) + 4
	b.WriteString(" ")
	if n := spansWidth(facts); n > 0 {
		b.WriteString(edge.On(strings.Repeat(box.Across, max(0, w-used-n-4))) + " ")
		l.write(&b, facts, n)
		b.WriteString(" " + edge.On(box.Across+box.TopRight))
		return b.String()
	}
	b.WriteString(edge.On(strings.Repeat(box.Across, max(0, w-used-1)) + box.TopRight))
	return b.String()
}

func (l Look) small(w, h int, title, facts []Span) []string {
	if w <= 0 || h <= 0 {
		return nil
	}
	out := []string{l.Row(w, title, facts)}
	for len(out) < h {
		out = append(out, blanks(w))
	}
	return out
}

// Block makes lines exactly w wide and h high: they are cut, or filled with blanks.
func (l Look) Block(lines []string, w, h int) []string {
	out := make([]string, 0, max(0, h))
	for i := range h {
		line := ""
		if i < len(lines) {
			line = lines[i]
		}
		out = append(out, line+blanks(w-Width(line)))
	}
	return out
}

// Beside joins two blocks of the same height, line by line.
func Beside(a, b []string) []string {
	out := make([]string, 0, max(len(a), len(b)))
	for i := range max(len(a), len(b)) {
		line := ""
		if i < len(a) {
			line = a[i]
		}
		if i < len(b) {
			line += b[i]
		}
		out = append(out, line)
	}
	return out
}
