package acp

import (
	"fmt"

	"si/agents"
)

// blame is what a program that tries again and again says of its server on stderr: some
// say it nowhere else. It explains an end without an answer, and nothing else; what the
// program sends after it takes it back.
type blame struct {
	kind agents.FailureKind
	said string
}

// suspect looks at a line of stderr, which has been cleaned.
func (s *session) suspect(line string) {
	why := agents.SaidWhy(line)
	if !s.turn || s.ending || why != agents.FailUsage && why != agents.FailAuth {
		return
	}
	s.blame = blame{why, line}
	s.emit(agents.Event{Kind: agents.EventRetry, Text: line})
}

// explained is the failure of a program that came to no end, or to one without an
// answer, by what it said of its server; f when it said nothing.
func (s *session) explained(f *agents.Failure) *agents.Failure {
	switch s.blame.kind { //nolint:exhaustive // suspect lets no others through
	case agents.FailUsage:
		g := s.fail(agents.FailUsage, "its usage limit is reached: "+f.What, fmt.Errorf("it said: %s", s.blame.said))
		g.Until, g.Code = s.o.Until(s.blame.said+"\n"+f.Said, s.o.Clock.Now()), f.Code
		s.emit(agents.Event{Kind: agents.EventLimit, Text: s.blame.said, Until: g.Until, Failed: true})
		return g
	case agents.FailAuth:
		g := s.fail(agents.FailAuth, "it is not logged in, or its key is wrong: "+f.What, fmt.Errorf("it said: %s", s.blame.said))
		g.Code = f.Code
		return g
	}
	return f
}
