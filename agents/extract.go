package agents

import (
	"fmt"
	"math/bits"
	"strings"

	"si/internal/clean"
)

const (
	maxAnswer   = 4 << 20   // bytes of an answer that are looked at, from its end
	maxDocument = 256 << 10 // bytes of a document
	maxNear     = 8 << 10   // bytes of an answer that a repair quotes
)

// finding is what was found in an answer.
type finding struct {
	object string   // the JSON object, "" when there is none that can be read
	near   string   // what a repair quotes: the object, or the end of the answer
	faults []string // why there is no object
}

// attempt is one place in the answer where an object begins.
type attempt struct {
	start, end int
	keys       int // wanted keys that it has
	fault      *scanFault
}

// extract finds the answer in forgiving text: prose, fences, drafts and echoes
// around it are passed over. It takes the last JSON object, at any depth, that
// has all of the keys; without one, the object or the broken beginning of one
// that has most of them. The work is linear in the text, whatever is in it: an
// object deeper than maxDepth is not read, so a byte belongs to a bounded
// number of attempts.
func extract(text string, keys []string) finding {
	if len(text) > maxAnswer {
		text = text[len(text)-maxAnswer:]
	}
	whole, partial, broken := survey(text, keys)
	switch {
	case whole.keys > 0:
		return found(text[whole.start:whole.end])
	case broken.keys > partial.keys:
		line := 1 + strings.Count(text[:broken.start], "\n")
		fault := fmt.Sprintf("the JSON object that begins on line %d of the answer is broken: %s", line, broken.fault.text(text))
		return finding{near: cut(text[broken.start:], maxNear), faults: []string{fault}}
	case partial.keys > 0:
		return found(text[partial.start:partial.end])
	}
	fault := "the answer has no JSON object with the keys " + strings.Join(keys, ", ")
	return finding{near: tail(text, maxNear), faults: []string{fault}}
}

func found(object string) finding {
	f := finding{object: object, near: cut(object, maxNear)}
	if len(object) > maxDocument {
		f.faults = []string{fmt.Sprintf("the JSON object has %d bytes, at most %d are read: say it shorter", len(object), maxDocument)}
	}
	return f
}

// survey tries every brace of the text once, and returns the last object with
// all keys, the last of those with most, and the broken one with most.
func survey(text string, keys []string) (whole, partial, broken attempt) {
	for at := 0; ; {
		next := strings.IndexByte(text[at:], '{')
		if next < 0 {
			return whole, partial, broken
		}
		at += next
		a := try(text, at, keys)
		at++
		switch {
		case a.fault != nil:
			if a.keys > broken.keys {
				broken = a
			}
		case a.keys == len(keys):
			whole = a
			at = a.end
		case a.keys >= partial.keys:
			partial = a
		}
	}
}

func try(text string, start int, keys []string) attempt {
	s := scanner{text: text, pos: start, wanted: keys}
	fault := s.object(1)
	return attempt{start: start, end: s.pos, keys: bits.OnesCount64(s.have), fault: fault}
}

func tail(text string, limit int) string {
	return clean.Text([]byte(text[max(0, len(text)-limit):]))
}
