package loop

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"si/agents"
	"si/track"
)

// ledger is what the run that the journal leaves unfinished has used of its budgets. A
// run goes on over a crash, a stop and a failure; it is over when it came to one of its
// ends, and the next start has its budgets anew.
type ledger struct {
	over    bool // nothing is left unfinished
	spent   amount
	rounds  map[int]amount
	dearest map[agents.Role]amount
	runs    int           // of the benchmark
	worked  time.Duration // of the starts before the last
	open    map[string]openTask

	started, last time.Time // of the last start
	waited        waits
}

// openTask is an agent that was started, and of whose end the journal does not tell.
type openTask struct {
	round int
	track.AgentEvent
}

func newLedger() *ledger {
	return &ledger{over: true, rounds: map[int]amount{}, dearest: map[agents.Role]amount{}, open: map[string]openTask{}}
}

// hear takes the journal's events in their order.
func (g *ledger) hear(ev track.Event) error {
	defer func() { g.last = ev.TS }()
	switch ev.Ev { //nolint:exhaustive // what tells of budgets
	case track.EvRunStarted:
		var s track.RunStarted
		if err := ev.Decode(&s); err != nil {
			return err
		}
		g.start(ev.TS, s)
	case track.EvRunEnded:
		var s track.Summary
		if err := ev.Decode(&s); err != nil {
			return err
		}
		g.over = !goesOn(s.Status)
	case track.EvMeasured:
		g.runs++
	case track.EvParked:
		g.waited.begin(ev.TS)
	case track.EvUnparked:
		g.waited.end(ev.TS)
	case track.EvSteered:
		var s track.Steered
		if err := ev.Decode(&s); err != nil {
			return err
		}
		switch s.Waits {
		case track.WaitBegins:
			g.waited.begin(ev.TS)
		case track.WaitEnds:
			g.waited.end(ev.TS)
		}
	case track.EvAgentStarted, track.EvAgentEnded, track.EvAgentFailed:
		var a track.AgentEvent
		if err := ev.Decode(&a); err != nil {
			return err
		}
		g.agent(ev, a)
	}
	return nil
}

// goesOn tells whether a run with this status is taken up by the next start.
func goesOn(s track.Status) bool {
	return s == track.StatusRunning || s == track.StatusUserStopped || s == track.StatusFailed
}

func (g *ledger) start(at time.Time, s track.RunStarted) {
	if g.over {
		*g = *newLedger()
		g.over = false
	} else {
		g.worked += g.sinceStart()
	}
	clear(g.open) // what they cost is in s
	for _, a := range s.Broken {
		g.book(a.Round, a.AgentEvent)
	}
	g.started, g.waited = at, waits{}
}

// sinceStart is how long the last start worked, as far as the journal tells.
func (g *ledger) sinceStart() time.Duration {
	return max(0, g.last.Sub(g.started)-g.waited.until(g.last))
}

func (g *ledger) agent(ev track.Event, a track.AgentEvent) {
	key := fmt.Sprintf("%d/%s", ev.Round, a.ID)
	if ev.Ev == track.EvAgentStarted {
		g.open[key] = openTask{ev.Round, a}
		return
	}
	delete(g.open, key)
	g.book(ev.Round, a)
}

func (g *ledger) book(round int, a track.AgentEvent) {
	if a.Spent == nil {
		return
	}
	cost, role := amountOf(*a.Spent), agents.Role(a.Role)
	g.spent, g.rounds[round] = g.spent.plus(cost), g.rounds[round].plus(cost)
	d := g.dearest[role]
	g.dearest[role] = amount{max(d.cost, cost.cost), max(d.tokens, cost.tokens)}
}

// broken are the agents that a kill of this program ended, with what they had told of
// their cost until then: their own words are on disk, the journal has only their start.
func (g *ledger) broken(paths track.Paths) []track.BrokenTask {
	var out []track.BrokenTask
	for _, key := range sortedKeys(g.open) {
		t := g.open[key]
		if t.Doing == "" {
			continue
		}
		if t.Spent = toldSpent(paths.ActivityPath(t.round, t.ID, t.Attempt)); t.Spent != nil {
			out = append(out, track.BrokenTask{Round: t.round, AgentEvent: t.AgentEvent})
		}
	}
	return out
}

// toldSpent is the last that an agent at work told of its tokens and cost; nil when it
// told nothing, or when the file cannot be read: it is lossy, and no document.
func toldSpent(path string) *track.Spent {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, 2*diaryMax))
	if err != nil {
		return nil
	}
	var s track.Spent
	for line := range strings.Lines(string(data)) {
		var a track.Activity
		if json.Unmarshal([]byte(line), &a) != nil {
			continue
		}
		if a.Usage != nil {
			s.Usage = a.Usage
		}
		if a.CostUSD != nil {
			s.CostUSD = a.CostUSD
		}
	}
	if s.Usage == nil && s.CostUSD == nil {
		return nil
	}
	s = s.Plausible()
	return &s
}

// carry gives the purse what the run has spent before this start.
func (p *purse) carry(g *ledger, broken []track.BrokenTask) {
	for _, b := range broken {
		g.book(b.Round, b.AgentEvent)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.run.spent, p.before, p.dearest = g.spent, g.rounds, g.dearest
}

// takeUp decides whether this start goes on with the run of the journal, and carries
// over what that has used. status is what the documents say of it.
func (l *Loop) takeUp(g *ledger, status track.Status) {
	if g.over || !goesOn(status) {
		return
	}
	g.worked += g.sinceStart()
	l.broken = g.broken(l.cfg.Paths)
	l.purse.carry(g, l.broken)
	l.past = *g
}
