package httpmodel

import (
	"strings"

	"si/agents"
)

// maxSpoken is how many bytes are held back for the end of a line.
const maxSpoken = 2000

// speaker makes events of whole lines: a model that is heard word by word would
// be thousands of them. An escape code that a server has cut in two comes out
// whole, where it can be told and taken out.
type speaker struct {
	emit func(agents.Event)
	kind agents.EventKind
	held strings.Builder
}

func (s *speaker) hear(kind agents.EventKind, text string) {
	if kind != s.kind {
		s.flush()
		s.kind = kind
	}
	s.held.WriteString(text)
	if s.held.Len() < maxSpoken && !strings.Contains(text, "\n") {
		return
	}
	whole := s.held.String()
	end := strings.LastIndexByte(whole, '\n') + 1
	if end == 0 {
		end = len(whole)
	}
	s.held.Reset()
	s.held.WriteString(whole[end:])
	s.say(whole[:end])
}

func (s *speaker) flush() {
	text := s.held.String()
	s.held.Reset()
	s.say(text)
}

func (s *speaker) say(text string) {
	if text != "" {
		s.emit(agents.Event{Kind: s.kind, Text: text})
	}
}
