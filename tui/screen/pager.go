package screen

import (
	"fmt"
	"strings"

	"si/tui/look"
	"si/tui/pane"
	"si/tui/scene"
)

// text is what a pager shows: numbered lines, of which the first ones may be gone.
type text interface {
	first() int // number of the first line that is there
	end() int   // number behind the last one
	line(n int) (string, look.Paint)
}

// pager scrolls and searches. Its zero value follows the end.
type pager struct {
	top    int // number of the first line shown, when it does not follow
	still  bool
	query  string
	hit    int // number of the line that was found, −1 for none
	height int // of the last drawing
}

// begin shows a text from its start.
func (p *pager) begin() { *p = pager{still: true, hit: -1} }

// scroll moves by lines, down when n is positive. At the end it follows again.
func (p *pager) scroll(t text, n int) {
	if !p.still {
		p.top = t.end() - p.height
	}
	p.top = max(t.first(), p.top+n)
	p.still = p.top < t.end()-p.height
}

// search finds the next line that holds the query, in the direction, and shows it.
func (p *pager) search(t text, query string, step int) bool {
	p.query = query
	from := p.hit
	if from < t.first() || from >= t.end() {
		from = t.end()
		if p.still {
			from = p.top - step
		}
	}
	want := strings.ToLower(query)
	count := t.end() - t.first()
	for i := 1; i <= count; i++ {
		n := from + i*step
		n = t.first() + mod(n-t.first(), count)
		if got, _ := t.line(n); strings.Contains(strings.ToLower(got), want) {
			p.hit, p.still = n, true
			p.top = max(t.first(), min(n-p.height/2, t.end()-p.height))
			return true
		}
	}
	return false
}

func mod(a, b int) int { return ((a % b) + b) % b }

// draw gives the lines that are seen.
func (p *pager) draw(l look.Look, t text, w, h int) []string {
	p.height = h
	from := t.end() - h
	if p.still {
		from = min(p.top, from)
		from = max(from, min(p.top, t.first()))
	}
	from = max(from, t.first())
	var out []string
	for n := from; n < min(from+h, t.end()); n++ {
		s, paint := t.line(n)
		out = append(out, p.paintHit(l, s, paint, n, w))
	}
	return out
}

// paintHit marks what was searched for.
func (p *pager) paintHit(l look.Look, s string, paint look.Paint, n, w int) string {
	s = l.Cut(s, w)
	at := -1
	if p.query != "" {
		at = strings.Index(strings.ToLower(s), strings.ToLower(p.query))
	}
	if at < 0 || at+len(p.query) > len(s) || len(strings.ToLower(s)) != len(s) {
		return paint.On(s)
	}
	mark := l.Warn
	if n == p.hit {
		mark = l.Chosen
	}
	return paint.On(s[:at]) + mark.On(s[at:at+len(p.query)]) + paint.On(s[at+len(p.query):])
}

// where says which part is seen.
func (p *pager) where(t text) string {
	if !p.still {
		return "following the end"
	}
	return fmt.Sprintf("line %d of %d", p.top+1, t.end())
}

// agentText is the output of an agent.
type agentText struct {
	l look.Look
	a *scene.Agent
}

func (t agentText) first() int { return t.a.Lines.Lost() }
func (t agentText) end() int   { return t.a.Lines.Lost() + t.a.Lines.Len() }
func (t agentText) line(n int) (string, look.Paint) {
	line := t.a.Lines.At(n - t.first())
	return pane.LineText(t.l, line)
}

// logText is the event log.
type logText struct {
	l   look.Look
	log *scene.Ring[scene.Log]
}

func (t logText) first() int { return t.log.Lost() }
func (t logText) end() int   { return t.log.Lost() + t.log.Len() }
func (t logText) line(n int) (string, look.Paint) {
	e := t.log.At(n - t.first())
	round := "   "
	if e.Round > 0 {
		round = fmt.Sprintf("%3d", e.Round)
	}
	return e.At.Local().Format("15:04:05 ") + round + "  " + e.Text, pane.MoodPaint(t.l, e.Mood)
}

// plainText is lines that do not change.
type plainText struct {
	lines []string
	paint func(string) look.Paint
}

func (t plainText) first() int { return 0 }
func (t plainText) end() int   { return len(t.lines) }
func (t plainText) line(n int) (string, look.Paint) {
	return t.lines[n], t.paint(t.lines[n])
}
