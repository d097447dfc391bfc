package track

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// Warning is something in a hand-written file that was not understood and is
// not used. It is no reason to stop.
type Warning struct {
	Line int // 1-based
	Text string
}

func (w Warning) String() string { return fmt.Sprintf("line %d: %s", w.Line, w.Text) }

// mdLine is one line of a Markdown file with its comments blanked.
type mdLine struct {
	no     int
	text   string // without the line's end and without blanks around it
	nested bool   // indented
	fenced bool   // within a code block, or one of its fences
}

// mdLines splits data as a person's editor may have left it: with a byte order
// mark, any line ends, broken UTF-8.
func mdLines(data []byte) []mdLine {
	data = bytes.ToValidUTF8(data, []byte("\uFFFD"))
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	data = bytes.ReplaceAll(data, []byte("\r"), []byte("\n"))
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	data = blankComments(data)
	var lines []mdLine
	for i, text := range strings.Split(string(data), "\n") {
		trimmed := strings.TrimFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
		lines = append(lines, mdLine{no: i + 1, text: trimmed, nested: trimmed != "" && (text[0] == ' ' || text[0] == '\t')})
	}
	markFences(lines)
	return lines
}

// markFences marks code blocks. A fence that nothing closes is text: a file cut
// short must not lose its headings.
func markFences(lines []mdLine) {
	open := -1
	for i := range lines {
		fence := fenceOf(lines[i].text)
		switch {
		case open < 0 && fence != "":
			open = i
		case open >= 0 && fence != "" && strings.HasPrefix(fence, fenceOf(lines[open].text)) && fence == lines[i].text:
			for j := open; j <= i; j++ {
				lines[j].fenced = true
			}
			open = -1
		}
	}
}

// fenceOf returns the run of three or more back-ticks or tildes that text
// begins with.
func fenceOf(text string) string {
	for _, c := range []string{"`", "~"} {
		if n := len(text) - len(strings.TrimLeft(text, c)); n >= 3 {
			return text[:n]
		}
	}
	return ""
}

// commentSpans finds the HTML comments that are closed. One that is not is
// text: it must not swallow what was written below it.
func commentSpans(data []byte) (spans [][2]int) {
	for at := 0; ; {
		open := bytes.Index(data[at:], []byte("<!--"))
		if open < 0 {
			return spans
		}
		open += at
		end := bytes.Index(data[open+4:], []byte("-->"))
		if end < 0 {
			return spans
		}
		at = open + 4 + end + 3
		spans = append(spans, [2]int{open, at})
	}
}

// blankComments replaces comments by blanks, keeping the lines.
func blankComments(data []byte) []byte {
	out := bytes.Clone(data)
	for _, s := range commentSpans(data) {
		for i := s[0]; i < s[1]; i++ {
			if out[i] != '\n' {
				out[i] = ' '
			}
		}
	}
	return out
}

// heading splits "## Title ##". A heading without its blank, "##Title", is one
// too, which callers accept for titles that they know.
func (l mdLine) heading() (level int, title string, ok bool) {
	if l.fenced || !strings.HasPrefix(l.text, "#") {
		return 0, "", false
	}
	title = strings.TrimLeft(l.text, "#")
	level = len(l.text) - len(title)
	return level, strings.TrimSpace(strings.TrimRight(title, "# ")), true
}

// bullet returns the text of a list item.
func (l mdLine) bullet() (item string, ok bool) {
	for _, mark := range []string{"- ", "* ", "+ ", "• "} {
		if rest, found := strings.CutPrefix(l.text, mark); found {
			return strings.TrimSpace(rest), true
		}
	}
	digits := strings.TrimLeft(l.text, "0123456789")
	if len(digits) < len(l.text) && (strings.HasPrefix(digits, ". ") || strings.HasPrefix(digits, ") ")) {
		return strings.TrimSpace(digits[2:]), true
	}
	return "", l.text == "-" || l.text == "*" || l.text == "+"
}

// titleKey reduces a heading or a field's name to what it is compared by.
func titleKey(title string) string {
	title, _, _ = strings.Cut(title, "(")
	title = strings.TrimLeft(title, "0123456789.) ")
	title = strings.Map(func(r rune) rune {
		if strings.ContainsRune("*_`:：#", r) {
			return ' '
		}
		return unicode.ToLower(r)
	}, title)
	return strings.Join(strings.Fields(title), " ")
}

// field splits "- **Name**: value", "Name: value" and "| Name | value |".
func (l mdLine) field() (key, value string, ok bool) {
	if cells, is := l.cells(); is && len(cells) >= 2 {
		return titleKey(cells[0]), cells[1], true
	}
	text := l.text
	if item, is := l.bullet(); is {
		text = item
	}
	at := strings.IndexAny(text, ":：")
	if at < 0 {
		return "", "", false
	}
	name, value := text[:at], strings.TrimLeft(text[at:], ":：")
	// In "**Name:** value" the colon stands within the emphasis.
	for _, mark := range []string{"**", "__", "*", "_"} {
		if strings.HasPrefix(name, mark) && !strings.HasSuffix(name, mark) {
			value = strings.TrimPrefix(value, mark)
			break
		}
	}
	return titleKey(name), strings.TrimSpace(value), true
}

// cells splits a table's row; ok is false for anything else.
func (l mdLine) cells() (cells []string, ok bool) {
	if !strings.HasPrefix(l.text, "|") || len(l.text) < 2 {
		return nil, false
	}
	var cell strings.Builder
	escaped := false
	for _, r := range l.text[1:] {
		switch {
		case r == '|' && !escaped:
			cells = append(cells, strings.TrimSpace(cell.String()))
			cell.Reset()
			continue
		case r == '|':
			text := cell.String()
			cell.Reset()
			cell.WriteString(text[:len(text)-1])
		}
		cell.WriteRune(r)
		escaped = r == '\\'
	}
	if rest := strings.TrimSpace(cell.String()); rest != "" {
		cells = append(cells, rest)
	}
	return cells, true
}

// isRule reports whether a row separates a table's head from its body.
func isRule(cells []string) bool {
	for _, c := range cells {
		if strings.Trim(c, "-: ") != "" || c == "" {
			return false
		}
	}
	return len(cells) > 0
}

// placeholder reports whether a value stands for none.
func placeholder(value string) bool {
	switch strings.ToLower(strings.Trim(value, "`*_. ")) {
	case "", "-", "–", "—", "none", "n/a", "tbd", "null":
		return true
	}
	return false
}

// code returns the spans of text in back-ticks.
func code(text string) (spans []string) {
	parts := strings.Split(text, "`")
	for i := 1; i+1 < len(parts); i += 2 {
		if s := strings.TrimSpace(parts[i]); s != "" {
			spans = append(spans, s)
		}
	}
	return spans
}

// escaping holds the patterns that keep a text from being read as structure.
type escaping struct{ start, startEscaped, comment, commentEscaped *regexp.Regexp }

func newEscaping() escaping {
	return escaping{
		start:          regexp.MustCompile("^(\\\\*)(#|```|~~~)"),
		startEscaped:   regexp.MustCompile("^\\\\(\\\\*)(#|```|~~~)"),
		comment:        regexp.MustCompile(`<(\\*)!--`),
		commentEscaped: regexp.MustCompile(`<\\(\\*)!--`),
	}
}

func (e escaping) escape(line string) string {
	return e.comment.ReplaceAllString(e.start.ReplaceAllString(line, `\$1$2`), `<\$1!--`)
}

func (e escaping) unescape(line string) string {
	return e.commentEscaped.ReplaceAllString(e.startEscaped.ReplaceAllString(line, `$1$2`), `<$1!--`)
}
