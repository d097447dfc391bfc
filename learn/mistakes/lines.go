package mistakes

import (
	"bytes"
	"strings"
)

// line is one line of a Markdown file.
type line struct {
	start int    // byte of the file
	text  string // without its end
	eol   string // "\n", "\r\n", or "" for the last one
	code  bool   // in a code block, or one of its fences
	note  bool   // in an HTML comment of several lines
}

func (l line) end() int { return l.start + len(l.text) + len(l.eol) }

// scan splits a file into lines and says which are code. unclosed is the number,
// from 1, of the line that opens a block of code or a comment without end; 0 for
// none.
func scan(data []byte) (lines []line, unclosed int) {
	var s scanner
	for at, n := 0, 1; at < len(data); n++ {
		l := line{start: at}
		end := bytes.IndexByte(data[at:], '\n')
		raw := data[at:]
		if end >= 0 {
			raw, l.eol = data[at:at+end], "\n"
		}
		if text, cr := bytes.CutSuffix(raw, []byte("\r")); cr && l.eol != "" {
			raw, l.eol = text, "\r\n"
		}
		l.text = string(raw)
		s.classify(&l, n)
		lines = append(lines, l)
		at = l.end()
	}
	return lines, s.unclosed()
}

type scanner struct {
	fence     string // the characters that opened a block of code, "" outside
	opened    int
	inNote    bool
	noteAt    int
	inList    bool
	inIndent  bool // in an indented block of code
	lastPlain bool // the line before was text of a paragraph
}

func (s *scanner) unclosed() int {
	switch {
	case s.fence != "":
		return s.opened
	case s.inNote:
		return s.noteAt
	}
	return 0
}

func (s *scanner) classify(l *line, n int) {
	trimmed := strings.TrimLeft(l.text, " \t")
	switch {
	case s.fence != "":
		l.code = true
		if mark := fenceMark(trimmed); len(mark) >= len(s.fence) && strings.HasPrefix(mark, s.fence[:1]) && strings.TrimSpace(trimmed[len(mark):]) == "" {
			s.fence = ""
		}
		return
	case s.inNote:
		l.note = true
		s.inNote = !strings.Contains(l.text, "-->")
		return
	}
	if mark := fenceMark(trimmed); mark != "" && !s.indented(l.text) {
		s.fence, s.opened, l.code = mark, n, true
	} else {
		l.code = s.indented(l.text)
		s.openNote(*l, trimmed, n)
	}
	s.remember(l.text, trimmed, l.code)
}

// openNote begins a comment that does not end on its line. One that begins in the
// middle of a line is text: a mistake may be about comments.
func (s *scanner) openNote(l line, trimmed string, n int) {
	if rest, found := strings.CutPrefix(trimmed, "<!--"); found && !l.code && !strings.Contains(rest, "-->") {
		s.inNote, s.noteAt = true, n
	}
}

// indented reports code by indentation: four columns after a blank line, outside a
// list, where indentation means something else.
func (s *scanner) indented(text string) bool {
	deep := strings.HasPrefix(text, "    ") || strings.HasPrefix(text, "\t")
	return deep && strings.TrimSpace(text) != "" && !s.inList && (s.inIndent || !s.lastPlain)
}

func (s *scanner) remember(text, trimmed string, code bool) {
	blank := strings.TrimSpace(text) == ""
	if !blank {
		switch {
		case isItem(trimmed) && !code:
			s.inList = true
		case len(trimmed) == len(text): // at the margin
			s.inList = false
		}
		s.inIndent = code && s.fence == ""
		s.lastPlain = !code && !strings.HasPrefix(trimmed, "#")
	} else {
		s.lastPlain = false
	}
}

func isItem(text string) bool {
	rest := strings.TrimLeft(text, "0123456789")
	if len(rest) < len(text) {
		return strings.HasPrefix(rest, ". ") || strings.HasPrefix(rest, ") ")
	}
	return len(text) > 1 && strings.ContainsRune("-*+", rune(text[0])) && text[1] == ' '
}

// fenceMark is the run of back-ticks or tildes that can open or close a block of
// code. The text behind back-ticks that open may hold none.
func fenceMark(text string) string {
	for _, c := range []string{"`", "~"} {
		rest := strings.TrimLeft(text, c)
		if n := len(text) - len(rest); n >= 3 {
			if c == "`" && strings.Contains(rest, "`") {
				return ""
			}
			return text[:n]
		}
	}
	return ""
}
