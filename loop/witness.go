package loop

import (
	"cmp"
	"context"
	"sync"

	"si/agents"
	"si/track"
)

// witness sees what one run of an agent does, who plays, and what it costs. It is
// told from the agent's own goroutines.
type witness struct {
	diary *diary
	bill  *bill
	cut   context.CancelCauseFunc // ends the run
	also  func(agents.Event)      // hears each event too; may be nil

	mu   sync.Mutex
	ev   track.AgentEvent
	live track.Spent // of the player at work
}

// witness lets the task tell what it does, and completes its first event.
func (r *round) witness(t *agents.Task, ev *track.AgentEvent, b *bill, cut context.CancelCauseFunc) (*witness, error) {
	path := r.cfg.Paths.ActivityPath(r.n, t.ID, ev.Attempt)
	d, err := openDiary(path)
	if err != nil {
		return nil, err
	}
	ev.Doing = r.cfg.Paths.Relative(path)
	w := &witness{diary: d, bill: b, cut: cut, ev: *ev, also: t.Watch}
	t.Watch, t.Paid = w.watch, w.paid
	t.Played = func(p agents.Player) {
		if w.plays(p) {
			d.note(agents.Event{Kind: agents.EventNotice, At: r.cfg.Now(), Text: p.Name + " plays"})
		}
	}
	return w, nil
}

// plays hears who plays, and tells whether it is another one than was expected.
func (w *witness) plays(p agents.Player) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p.Name == "" || p.Name == w.ev.Backend {
		return false
	}
	w.ev.Backend = p.Name
	return true
}

// watch hears what the agent does. An agent that has used up the budget is ended. The
// diary gets what all players of the task have used until now: when this program is
// killed, that is all that is known of it.
func (w *witness) watch(e agents.Event) {
	if w.also != nil {
		w.also(e)
	}
	told := e.Usage != nil || e.CostUSD != nil
	live := w.hear(&e, told)
	w.diary.note(e)
	if !told {
		return
	}
	if why := w.bill.tell(live); why != "" {
		w.cut(&overBudget{"ended: " + why})
	}
}

// hear takes what the event tells of the player at work, and puts the sum of all
// players into it.
func (w *witness) hear(e *agents.Event, told bool) (live track.Spent) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e.Model != "" {
		w.ev.Model = e.Model
	}
	if e.Kind == agents.EventToolStart {
		w.live.Tools++
	}
	if !told {
		return w.live
	}
	w.live = track.Spent{Usage: cmp.Or(e.Usage, w.live.Usage), CostUSD: cmp.Or(e.CostUSD, w.live.CostUSD), Tools: w.live.Tools}.Plausible()
	sum := w.live
	if w.ev.Spent != nil {
		sum = w.ev.Spent.Add(sum)
	}
	e.Usage, e.CostUSD = sum.Usage, sum.CostUSD
	return w.live
}

// paid hears what the player cost in the end. One that was ended may not say: then it
// is what it told while it worked.
func (w *witness) paid(s track.Spent) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s.Usage == nil {
		s.Usage = w.live.Usage
	}
	if s.CostUSD == nil {
		s.CostUSD = w.live.CostUSD
	}
	s.Tools = max(s.Tools, w.live.Tools)
	w.live = track.Spent{}
	s = s.Plausible()
	w.bill.pay(s)
	sum := s
	if w.ev.Spent != nil {
		sum = w.ev.Spent.Add(s)
	}
	w.ev.Spent = &sum
	if sum.Model != "" {
		w.ev.Model = sum.Model
	}
}

// event is what is known of the run.
func (w *witness) event() track.AgentEvent {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ev
}

func (w *witness) close() { w.diary.close() }
