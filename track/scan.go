package track

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// maxDepth bounds the nesting of a document; the deepest of the contract has
// six levels.
const maxDepth = 100

// scanFault is what scan found, and how many bytes in.
type scanFault struct {
	offset int64
	what   string
}

// scan finds what is wrong with a document although its syntax is right, also
// in the parts that this program does not model: a key that stands twice in one
// object, of which another reader may take the other one; a number too large for
// a float; a nesting that no document has.
func scan(data []byte) *scanFault {
	s := scanner{dec: json.NewDecoder(bytes.NewReader(data))}
	s.dec.UseNumber()
	for {
		tok, err := s.dec.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return nil // the decoder says it better
		}
		if fault := s.token(tok); fault != "" {
			return &scanFault{s.dec.InputOffset(), fault}
		}
	}
}

type scanner struct {
	dec   *json.Decoder
	stack []scanLevel
}

type scanLevel struct {
	keys  map[string]bool // nil in a list
	value bool            // the next token of an object is a value
}

func (s *scanner) token(tok json.Token) string {
	if delim, ok := tok.(json.Delim); ok && (delim == '}' || delim == ']') {
		s.stack = s.stack[:len(s.stack)-1]
		return ""
	}
	if fault, isKey := s.key(tok); isKey {
		return fault
	}
	switch tok := tok.(type) {
	case json.Delim:
		level := scanLevel{}
		if tok == '{' {
			level.keys = make(map[string]bool)
		}
		s.stack = append(s.stack, level)
		if len(s.stack) > maxDepth {
			return fmt.Sprintf("nested deeper than %d levels", maxDepth)
		}
	case json.Number:
		if _, err := strconv.ParseFloat(tok.String(), 64); err != nil {
			return fmt.Sprintf("the number %s is too large", clip(tok.String(), 40))
		}
	}
	return ""
}

// key handles tok when an object expects a key.
func (s *scanner) key(tok json.Token) (fault string, isKey bool) {
	if len(s.stack) == 0 {
		return "", false
	}
	level := &s.stack[len(s.stack)-1]
	if level.keys == nil {
		return "", false
	}
	if level.value {
		level.value = false
		return "", false
	}
	level.value = true
	name, _ := tok.(string)
	if level.keys[name] {
		return fmt.Sprintf("%s: the key stands twice in one object", clip(name, 60)), true
	}
	level.keys[name] = true
	return "", true
}
