package glob

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// segment is a pattern for one name in a path, or ** for any number of names.
type segment struct {
	deep   bool
	plain  bool   // text is the only name
	text   string // of a plain one
	tokens []token
}

// token matches one character, or with star any number of them.
type token struct {
	star   bool
	ranges []span
}

type span struct{ low, high rune }

func literalSegment(name string) segment {
	s := segment{plain: true, text: name}
	for _, r := range name {
		s.tokens = append(s.tokens, token{ranges: []span{{r, r}}})
	}
	return s
}

func parseAlternative(form string) (alternative, error) {
	var a alternative
	below := strings.HasSuffix(form, "/")
	for _, text := range strings.Split(form, "/") {
		switch text {
		case "", ".":
			continue
		case "..":
			return a, errors.New(".. leads out of the repository")
		}
		s, err := parseSegment(text)
		if err != nil {
			return a, err
		}
		a.segments = append(a.segments, s)
	}
	if below {
		a.segments = append(a.segments, segment{deep: true})
	}
	if len(a.segments) == 0 {
		return a, errors.New("it names nothing")
	}
	a.ends()
	return a, nil
}

// ends finds what every path of the alternative begins with and ends in.
func (a *alternative) ends() {
	a.literal = true
	var names []string
	for _, s := range a.segments {
		if !s.plain {
			a.literal = false
			break
		}
		names = append(names, s.text)
	}
	a.prefix = strings.Join(names, "/")
	if last := a.segments[len(a.segments)-1]; !last.deep {
		a.suffix = last.tail()
	}
}

// tail is the text that every name of the segment ends in.
func (s segment) tail() string {
	if s.plain {
		return s.text
	}
	i := len(s.tokens)
	for i > 0 && !s.tokens[i-1].star && s.tokens[i-1].single() {
		i--
	}
	var b strings.Builder
	for _, t := range s.tokens[i:] {
		b.WriteRune(t.ranges[0].low)
	}
	return b.String()
}

func (t token) single() bool { return len(t.ranges) == 1 && t.ranges[0].low == t.ranges[0].high }

func parseSegment(text string) (segment, error) {
	if text == "**" {
		return segment{deep: true}, nil
	}
	s := segment{plain: true}
	var name strings.Builder
	for len(text) > 0 {
		t, size, err := parseToken(text)
		if err != nil {
			return s, err
		}
		text = text[size:]
		s.plain = s.plain && !t.star && t.single()
		if s.plain {
			name.WriteRune(t.ranges[0].low)
		}
		if n := len(s.tokens); t.star && n > 0 && s.tokens[n-1].star {
			continue
		}
		s.tokens = append(s.tokens, t)
	}
	if s.plain {
		s.text = name.String()
	}
	return s, nil
}

func parseToken(text string) (t token, size int, err error) {
	switch text[0] {
	case '*':
		return token{star: true}, 1, nil
	case '?':
		return token{ranges: []span{{0, utf8.MaxRune}}}, 1, nil
	case '[':
		return parseClass(text)
	}
	r, size := utf8.DecodeRuneInString(text)
	if r == '\\' {
		if len(text) == 1 {
			return t, 0, errEscape
		}
		r, size = utf8.DecodeRuneInString(text[1:])
		size++
	}
	return token{ranges: []span{{r, r}}}, size, nil
}

// parseClass reads [a-z] or, with ! or ^ after the bracket, its complement.
func parseClass(text string) (t token, size int, err error) {
	i, not := 1, false
	if len(text) > 1 && (text[1] == '!' || text[1] == '^') {
		i, not = 2, true
	}
	for first := true; ; first = false {
		if i >= len(text) {
			return t, 0, errBracket
		}
		if text[i] == ']' && !first {
			break
		}
		low, n, err := classRune(text[i:])
		if err != nil {
			return t, 0, err
		}
		i += n
		high := low
		if i+1 < len(text) && text[i] == '-' && text[i+1] != ']' {
			if high, n, err = classRune(text[i+1:]); err != nil {
				return t, 0, err
			}
			i += n + 1
		}
		if high < low {
			return t, 0, fmt.Errorf("the range %c-%c of a class is backwards", low, high)
		}
		t.ranges = append(t.ranges, span{low, high})
	}
	if not {
		t.ranges = complement(t.ranges)
	}
	return t, i + 1, nil
}

func classRune(text string) (rune, int, error) {
	r, n := utf8.DecodeRuneInString(text)
	if r != '\\' {
		return r, n, nil
	}
	if len(text) < 2 {
		return 0, 0, errEscape
	}
	r, n = utf8.DecodeRuneInString(text[1:])
	return r, n + 1, nil
}
