package look

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Span is a text in one paint.
type Span struct {
	Paint Paint
	Text  string
}

// Width is the number of columns that a text takes.
func Width(s string) int { return ansi.StringWidth(s) }

// Fit makes a text exactly w columns wide: it is cut with a mark, or filled with
// blanks. The text holds no control character.
func (l Look) Fit(s string, w int) string {
	if w <= 0 {
		return ""
	}
	s = l.Cut(s, w)
	return s + blanks(w-Width(s))
}

// Cut makes a text at most w columns wide.
func (l Look) Cut(s string, w int) string {
	s = l.agreed(s)
	if len(s) <= w || Width(s) <= w {
		return s
	}
	if w <= 0 {
		return ""
	}
	return ansi.Truncate(s, w, l.Marks.Cut)
}

// agreed replaces what terminals do not agree about the width of, such as flags
// and joined emoji: it would move everything behind it on its line. A look for
// ASCII terminals leaves ASCII only.
func (l Look) agreed(s string) string {
	plain := true
	for i := range len(s) {
		if s[i] >= 0x80 || s[i] == '\t' || s[i] < ' ' {
			plain = false
			break
		}
	}
	if plain {
		return s
	}
	s = strings.ReplaceAll(s, "\t", "    ")
	if l.ASCII {
		return toASCII(s)
	}
	if ansi.StringWidth(s) == ansi.StringWidthWc(s) && !strings.ContainsRune(s, '\uFE0F') {
		return s
	}
	var out strings.Builder
	state := byte(0)
	for len(s) > 0 {
		seq, width, n, next := ansi.DecodeSequence(s, state, nil)
		if width != ansi.StringWidthWc(seq) || strings.ContainsRune(seq, '\uFE0F') {
			seq = "?"
		}
		out.WriteString(seq)
		s, state = s[n:], next
	}
	return out.String()
}

func (l Look) agreedSpans(spans []Span) []Span {
	out := make([]Span, len(spans))
	for i, s := range spans {
		out[i] = Span{s.Paint, l.agreed(s.Text)}
	}
	return out
}

// toASCII writes what has an ASCII form in it, and ? for the rest.
func toASCII(s string) string {
	var out strings.Builder
	for _, r := range s {
		switch {
		case r < 0x80:
			out.WriteRune(r)
		case strings.ContainsRune("→⇒▸", r):
			out.WriteString("->")
		case strings.ContainsRune("–—−‐─", r):
			out.WriteByte('-')
		case r == '…':
			out.WriteString("...")
		case strings.ContainsRune("‘’", r):
			out.WriteByte('\'')
		case strings.ContainsRune("“”«»", r):
			out.WriteByte('"')
		case r == '∞':
			out.WriteString("inf")
		case strings.ContainsRune("·•●", r):
			out.WriteByte('*')
		default:
			out.WriteByte('?')
		}
	}
	return out.String()
}

// Row lays spans on one line that is exactly w columns wide: left ones from the
// left, right ones to the right edge. When the room is short the left ones are
// cut, and right ones that do not fit beside at least a third of it are left out,
// the first ones first, with the separator that follows.
func (l Look) Row(w int, left, right []Span) string {
	left = l.agreedSpans(left)
	return l.row(w, left, right, min(spansWidth(left)+1, w/3))
}

// RowLeft is Row for a left side that matters more: the right one gets what it
// leaves.
func (l Look) RowLeft(w int, left, right []Span) string {
	left = l.agreedSpans(left)
	return l.row(w, left, right, spansWidth(left)+2)
}

func (l Look) row(w int, left, right []Span, keep int) string {
	if w <= 0 {
		return ""
	}
	right = l.fitting(l.agreedSpans(right), max(0, w-keep))
	room := w - spansWidth(right)
	if len(right) > 0 && len(left) > 0 {
		room = max(0, room-1)
	}
	var b strings.Builder
	used := l.write(&b, left, room)
	b.WriteString(blanks(w - used - spansWidth(right)))
	l.write(&b, right, w)
	return b.String()
}

// fitting leaves out the first spans until the rest has room, and the separator
// that then comes first.
func (l Look) fitting(spans []Span, room int) []Span {
	cut := false
	for len(spans) > 0 && spansWidth(spans) > room {
		spans, cut = spans[1:], true
	}
	for cut && len(spans) > 0 {
		text := strings.TrimLeft(spans[0].Text, " ,"+l.Marks.Dot)
		if text != "" {
			return append([]Span{{spans[0].Paint, text}}, spans[1:]...)
		}
		spans = spans[1:]
	}
	return spans
}

func (l Look) write(b *strings.Builder, spans []Span, room int) (used int) {
	for _, s := range spans {
		if used >= room {
			return used
		}
		text := l.Cut(s.Text, room-used)
		used += Width(text)
		b.WriteString(s.Paint.On(text))
	}
	return used
}

func spansWidth(spans []Span) (n int) {
	for _, s := range spans {
		n += Width(s.Text)
	}
	return n
}

func blanks(n int) string {
	if n <= 0 {
		return ""
	}
	return strings.Repeat(" ", n)
}

// Wrap breaks a text into lines of at most w columns, at most most of them; the
// last one is cut when there is more.
func (l Look) Wrap(s string, w, most int) []string {
	if w <= 0 || most <= 0 {
		return nil
	}
	lines := strings.Split(ansi.Wrap(l.agreed(s), w, ""), "\n")
	if len(lines) > most {
		rest := strings.Join(lines[most-1:], " ")
		lines = append(lines[:most-1], l.Cut(rest, w))
	}
	return lines
}
