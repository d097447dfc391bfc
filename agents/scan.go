package agents

import (
	"fmt"
	"slices"
	"strings"

	"si/internal/clean"
)

// maxDepth is how deep a document may be nested; those of the contract have 4
// levels. It bounds the work of extract.
const maxDepth = 32

const tooDeep = "nested more than 32 deep"

// scanner reads one JSON value strictly (RFC 8259), so that what it accepts is
// what encoding/json accepts, and says what is wrong in words that a model can
// act on.
type scanner struct {
	text   string
	pos    int
	wanted []string
	have   uint64 // bit i: the outermost object has wanted[i]
}

// scanFault is what is wrong, and where. It is put into words only for the
// attempt that is reported: counting lines for each would not be linear.
type scanFault struct {
	at   int
	what string
}

func (f *scanFault) text(answer string) string {
	if f.at >= len(answer) {
		return "the answer ends before the object does"
	}
	line := 1 + strings.Count(answer[:f.at], "\n")
	near := answer[max(0, f.at-30):min(len(answer), f.at+30)]
	return fmt.Sprintf("%s, on line %d near %q", f.what, line, clean.Line(near, 60))
}

func (s *scanner) fault(what string) *scanFault { return &scanFault{s.pos, what} }

func (s *scanner) object(depth int) *scanFault {
	if depth > maxDepth {
		return s.fault(tooDeep)
	}
	s.pos++ // the brace
	if s.blank() == '}' {
		s.pos++
		return nil
	}
	for {
		if err := s.member(depth); err != nil {
			return err
		}
		switch s.blank() {
		case '}':
			s.pos++
			return nil
		case ',':
			s.pos++
			if s.blank() == '}' {
				return s.fault("a trailing comma before }")
			}
		default:
			return s.fault("want , or } after a value")
		}
	}
}

func (s *scanner) member(depth int) *scanFault {
	if s.blank() != '"' {
		return s.fault("want a key in double quotes")
	}
	start := s.pos
	if err := s.string(); err != nil {
		return err
	}
	key := s.text[start+1 : s.pos-1]
	if s.blank() != ':' {
		return s.fault("want : after a key")
	}
	s.pos++
	if i := slices.Index(s.wanted, key); i >= 0 && depth == 1 {
		s.have |= 1 << i
	}
	return s.value(depth + 1)
}

func (s *scanner) array(depth int) *scanFault {
	if depth > maxDepth {
		return s.fault(tooDeep)
	}
	s.pos++
	if s.blank() == ']' {
		s.pos++
		return nil
	}
	for {
		if err := s.value(depth + 1); err != nil {
			return err
		}
		switch s.blank() {
		case ']':
			s.pos++
			return nil
		case ',':
			s.pos++
			if s.blank() == ']' {
				return s.fault("a trailing comma before ]")
			}
		default:
			return s.fault("want , or ] after a value")
		}
	}
}

func (s *scanner) value(depth int) *scanFault {
	switch c := s.blank(); {
	case c == '{':
		return s.object(depth)
	case c == '[':
		return s.array(depth)
	case c == '"':
		return s.string()
	case c == '-' || c >= '0' && c <= '9':
		return s.number()
	}
	for _, word := range []string{"true", "false", "null"} {
		if strings.HasPrefix(s.text[s.pos:], word) {
			s.pos += len(word)
			return nil
		}
	}
	for _, word := range []string{"NaN", "Infinity", "nan", "inf"} {
		if strings.HasPrefix(s.text[s.pos:], word) {
			return s.fault(word + " is not a JSON number: numbers are finite, unknown is null")
		}
	}
	return s.fault("want a value: a text in double quotes, a number, true, false, null, a list or an object")
}

// blank passes over blanks and returns the byte after them, 0 at the end.
func (s *scanner) blank() byte {
	for s.pos < len(s.text) {
		switch c := s.text[s.pos]; c {
		case ' ', '\t', '\r', '\n':
			s.pos++
		default:
			return c
		}
	}
	return 0
}
