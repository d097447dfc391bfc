// Package clean makes text of unknown origin safe to show, log and put into a
// prompt. What it returns is valid UTF-8 without a control sequence, and without
// a character that hides or reorders what stands beside it. It does not judge
// what the text says.
package clean

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text drops every escape sequence and every control character but newline and
// tab. CR LF and a lone CR become a newline, so that nothing can be overwritten
// on a line. Invalid UTF-8 becomes U+FFFD; invisible characters and those that
// change the direction of text are shown as <U+200B>. The work is linear and
// cleaning twice changes nothing.
func Text(b []byte) string {
	var out strings.Builder
	out.Grow(len(b))
	b = trimBOM(b)
	for len(b) > 0 {
		if n := plain(b); n > 0 {
			out.Write(b[:n])
			b = b[n:]
			continue
		}
		r, size := utf8.DecodeRune(b)
		switch {
		case r == esc || stringOrCSI(r) != 0:
			b = b[sequence(b):]
			continue
		case r == '\r':
			if size < len(b) && b[size] == '\n' {
				size++
			}
			out.WriteByte('\n')
		case r == '\n' || r == '\t':
			out.WriteRune(r)
		case unicode.IsControl(r):
			// Dropped: it would act on the terminal.
		case hidden(r):
			out.WriteString(visible(r))
		default:
			out.WriteRune(r) // utf8.RuneError for a wrong byte
		}
		b = b[size:]
	}
	return out.String()
}

// plain is how many bytes at the start of b are printable ASCII, which is nearly
// all text that there is: they are copied without a look at each.
func plain(b []byte) int {
	for i, c := range b {
		if c < ' ' || c > '~' {
			return i
		}
	}
	return len(b)
}

// Line is Text on one line: every run of blanks becomes one blank, and a text
// of more than limit runes is cut and ends in "…". Of a very long text only a
// part that can matter is looked at. A limit below 1 gives "".
func Line(s string, limit int) string {
	if limit < 1 {
		return ""
	}
	start, more := head(s, 64*limit+4096)
	runes := []rune(strings.Join(strings.Fields(Text([]byte(start))), " "))
	if len(runes) <= limit && !more {
		return string(runes)
	}
	return strings.TrimRight(string(runes[:min(len(runes), limit-1)]), " ") + "…"
}

// head returns at most limit bytes of s, whole characters, and whether there is
// more.
func head(s string, limit int) (start string, more bool) {
	if len(s) <= limit {
		return s, false
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit], true
}

// visible is the name of a character that cannot be seen, such as <U+200B>.
func visible(r rune) string {
	return fmt.Sprintf("<%U>", r)
}

// trimBOM drops a mark of the encoding at the start; anywhere else the same
// character is an invisible one.
func trimBOM(b []byte) []byte {
	if strings.HasPrefix(string(b[:min(3, len(b))]), "\ufeff") {
		return b[3:]
	}
	return b
}

// hidden reports characters that take no room on the screen, or that reorder
// their neighbours: both make a text read as something that it is not, and the
// tag characters carry whole hidden sentences.
func hidden(r rune) bool {
	switch r {
	case '\u034f', '\u115f', '\u1160', '\u2028', '\u2029', '\u3164', '\uffa0':
		return true
	}
	return unicode.Is(unicode.Cf, r) || r >= 0xe0000 && r <= 0xe0fff
}
