package acp

import (
	"strings"

	"si/agents"
	"si/internal/clean"
)

const (
	maxOutput = 4 << 10 // bytes of one event of output
	maxBrief  = 200     // runes of a tool's result in an event
)

// tool tells of a tool call. Programs announce one before they know what is asked
// of it: that is waited for, since the limit of repeated calls compares it.
func (s *session) tool(u update, asked bool) *tool {
	c := s.tools.find(u)
	list := pieces(u.Content)
	c.merge(u, list)
	if c.ended {
		return c
	}
	begun := asked || u.Status != "" && u.Status != "pending" || u.Kind == "tool_call_update" && hasValue(u.RawInput)
	if !c.started && !begun {
		s.hold(c)
		return c
	}
	s.start(c)
	s.tellProgress(c, u, textOfPieces(list))
	return c
}

func (s *session) tellProgress(c *tool, u update, said string) {
	switch u.Status {
	case "completed", "failed", "cancelled":
		c.ended = true
		text := clean.Line(firstText(said, outputText(u.RawOutput), c.output), maxBrief)
		s.emit(agents.Event{Kind: agents.EventToolEnd, Tool: c.called(), ToolID: c.id, Text: text, Failed: u.Status != "completed"})
		c.output, c.input, c.places = "", told{}, nil
	case "in_progress":
		fresh := strings.TrimPrefix(said, c.output) // some programs repeat all of it
		c.output = cut(said, maxKept)
		if strings.TrimSpace(fresh) != "" {
			s.emit(agents.Event{Kind: agents.EventToolOutput, Tool: c.called(), ToolID: c.id, Text: fresh[max(0, len(fresh)-maxOutput):]})
		}
	}
}

func (s *session) start(c *tool) {
	if c.started {
		return
	}
	c.started = true
	s.emit(agents.Event{Kind: agents.EventToolStart, Tool: c.called(), ToolID: c.id, Text: c.asked(s.secrets)})
}

func (s *session) hold(c *tool) {
	for _, h := range s.tools.held {
		if h == c {
			return
		}
	}
	s.tools.held = append(s.tools.held, c)
	if len(s.tools.held) > maxHeld {
		s.start(s.tools.held[0])
		s.tools.held = s.tools.held[1:]
	}
}

// flushTools tells of the calls of which no more was told.
func (s *session) flushTools() {
	for _, c := range s.tools.held {
		s.start(c)
	}
	s.tools.held = nil
}
