package benchmark

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"si/internal/lazyre"
	"si/internal/proc"
)

const (
	maxQuoted = 200      // runes of an offending line that a message quotes
	maxRaw    = 16 << 10 // bytes of output that a result keeps
)

// cleanLine makes one line of foreign output fit for a message: no control or
// format characters, valid UTF-8, cut.
func cleanLine(text string) string {
	text = strings.ReplaceAll(strings.TrimSpace(text), "\t", " ")
	cut := ""
	if n := 0; len(text) > maxQuoted {
		for i := range text {
			if n++; n > maxQuoted {
				text, cut = text[:i], "…"
				break
			}
		}
	}
	return escape(text, "") + cut
}

// escape writes what is not printable as an escape sequence, except the
// characters in keep. Format characters (bidirectional overrides, say) are not
// printable either: they change how the rest of a line reads.
func escape(text, keep string) string {
	var b strings.Builder
	for i, w := 0, 0; i < len(text); i += w {
		var r rune
		r, w = utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && w == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case unicode.IsPrint(r) || strings.ContainsRune(keep, r):
			b.WriteRune(r)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// rawText is the head and tail of a stream as a result keeps it: at most
// maxRaw bytes, valid UTF-8, control characters escaped.
func rawText(c proc.Captured) string {
	if c.Total <= int64(len(c.Head)) {
		if whole := escape(string(c.Head), "\n\t"); len(whole) <= maxRaw {
			return whole
		}
	}
	const half = maxRaw/2 - 64 // leaves room for the note
	tail := c.Tail
	if c.Total <= int64(len(c.Head)) {
		tail = c.Head
	}
	note := fmt.Sprintf("\n[… %d bytes in all …]\n", c.Total)
	return headOf(c.Head, half) + note + tailOf(tail, half)
}

// headOf and tailOf escape first and cut afterwards, since escaping binary
// output makes it longer. The cut keeps runes whole.
func headOf(data []byte, limit int) string {
	text := escape(string(data[:min(len(data), limit)]), "\n\t")
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "")
}

func tailOf(data []byte, limit int) string {
	text := escape(string(data[max(len(data)-limit, 0):]), "\n\t")
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[len(text)-limit:], "")
}

// failing is how test and build programs begin the line that says what failed. What
// they print last is often no more than that something did.
var failing = lazyre.New(`^\s*(?:--- FAIL: |FAILED |panic: |[Ee]rror(?:\[\w+\])?: |\w*(?:Error|Exception): )`)

// tellingLines are the first lines of a stream that say what failed, for a message.
func tellingLines(c proc.Captured, n int) string {
	streams := [][]byte{c.Head}
	if c.Total > int64(len(c.Head)) {
		streams = append(streams, c.Tail)
	}
	var lines []string
	for _, data := range streams {
		for line := range bytes.Lines(data) {
			if text := string(line[:min(len(line), 4*maxQuoted)]); len(lines) < n && failing.MatchString(text) {
				lines = append(lines, cleanLine(text))
			}
		}
	}
	return strings.Join(lines, " / ")
}

// lastLines are the last non-blank lines of a stream, for a message.
func lastLines(c proc.Captured, n int) string {
	data := c.Tail
	if c.Total <= int64(len(c.Head)) {
		data = c.Head
	}
	data = data[max(len(data)-4096, 0):]
	var lines []string
	for line := range strings.Lines(string(data)) {
		if line = cleanLine(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines[max(len(lines)-n, 0):], " / ")
}
