package httpmodel

import (
	"fmt"
	"unicode/utf8"

	"si/agents"
)

const (
	keepWhenLong    = 4   // messages with results that stay whole when a conversation grows long
	keepWhenRefused = 1   // when the server has refused it
	keptOfResult    = 400 // bytes of a shortened result
	longAt          = 0.7 // of the window
	bytesPerToken   = 3.5 // of code and English; a guess until the server says
)

// size is how many tokens a conversation has: what the server counted with the
// last reply, and a guess for what came after it.
type size struct {
	counted int64
	bytes   int64 // since
}

func (z *size) tokens() int64 { return z.counted + int64(float64(z.bytes)/bytesPerToken) }

func (z *size) measured(u *agents.Usage) {
	if u != nil {
		z.counted, z.bytes = u.Total(), 0
	}
}

func (z *size) add(m Message) {
	z.bytes += int64(len(m.Text))
	for _, c := range m.Calls {
		z.bytes += int64(len(c.Args) + len(c.Name))
	}
	for _, r := range m.Results {
		z.bytes += int64(len(r.Text))
	}
}

// keepShort shortens the results of old tool calls when the conversation comes
// near the model's window. It does so seldom and for all of them at once: each
// time what the server keeps of the conversation becomes worthless.
func (s *session) keepShort() {
	if float64(s.size.tokens()) > longAt*float64(s.o.Window) {
		s.shorten(keepWhenLong)
	}
}

// shorten leaves of each old result its start and a note, of the newest keep
// messages all. It reports whether there was something to shorten.
func (s *session) shorten(keep int) bool {
	var cut, seen int
	for i := len(s.messages) - 1; i >= 0; i-- {
		if s.messages[i].From != Tools {
			continue
		}
		if seen++; seen > keep {
			cut += shortenResults(s.messages[i].Results)
		}
	}
	if cut == 0 {
		return false
	}
	s.size.counted = max(0, s.size.counted-int64(float64(cut)/bytesPerToken))
	s.emit(agents.Event{Kind: agents.EventNotice, Text: fmt.Sprintf("the conversation grows long: %d bytes of older tool results are left out of it", cut)})
	return true
}

func shortenResults(results []Result) (cut int) {
	for i := range results {
		r := &results[i]
		if len(r.Text) <= 2*keptOfResult {
			continue
		}
		end := keptOfResult
		for end > 0 && !utf8.RuneStart(r.Text[end]) {
			end--
		}
		left := len(r.Text) - end
		r.Text = fmt.Sprintf("%s\n[%d bytes are left out, as the conversation has grown long; call the tool again to see them]", r.Text[:end], left)
		cut += left
	}
	return cut
}
