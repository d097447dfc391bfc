package loop

import (
	"sync"

	"si/agents"
	"si/track"
)

// witness sees what one run of an agent does, who plays, and what it costs. It is
// told from the agent's own goroutines.
type witness struct {
	diary *diary // nil for a backend that tells nothing

	mu sync.Mutex
	ev track.AgentEvent
}

// witness lets the task tell what it does, and completes its first event.
func (r *round) witness(t *agents.Task, ev *track.AgentEvent, pay func(track.Spent)) (*witness, error) {
	path := r.cfg.Paths.ActivityPath(r.n, t.ID, ev.Attempt)
	d, err := openDiary(path)
	if err != nil {
		return nil, err
	}
	ev.Doing = r.cfg.Paths.Relative(path)
	w := &witness{diary: d, ev: *ev}
	t.Watch = w.watch
	t.Played = func(p agents.Player) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if p.Name != "" && p.Name != w.ev.Backend {
			d.note(agents.Event{Kind: agents.EventNotice, At: r.cfg.Now(), Text: p.Name + " plays"})
			w.ev.Backend = p.Name
		}
	}
	t.Paid = func(s track.Spent) {
		pay(s)
		w.mu.Lock()
		defer w.mu.Unlock()
		sum := s
		if w.ev.Spent != nil {
			sum = w.ev.Spent.Add(s)
		}
		w.ev.Spent = &sum
		if sum.Model != "" {
			w.ev.Model = sum.Model
		}
	}
	return w, nil
}

func (w *witness) watch(e agents.Event) {
	w.diary.note(e)
	if e.Model == "" {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ev.Model = e.Model
}

// event is what is known of the run.
func (w *witness) event() track.AgentEvent {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ev
}

func (w *witness) close() { w.diary.close() }
