package loop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"si/internal/clean"
	"si/track"
)

// Why an agent's task was ended by the user: it is not tried again.
var (
	errSkipped = errors.New("skipped by the user")
	errVetoed  = errors.New("vetoed by the user")
)

// helm is what people have asked of a run: to stop, to wait, to leave something
// out. The loop asks it at its own pace. It is safe for concurrent use; a nil helm,
// that of set-up, has nothing asked of it.
type helm struct {
	events *emitter
	cancel context.CancelCauseFunc

	mu      sync.Mutex
	changed chan struct{} // closed and replaced at each change
	round   int
	stop    bool
	paused  bool
	idle    time.Duration // spent waiting for a person
	work    map[string]context.CancelCauseFunc
	plans   []string // the planners of this round that have a plan
	vetoes  []string // of this round: planners, executors and plans
	again   []string // what is to be measured once more at the end of this round's tournament
}

func newHelm(events *emitter, cancel context.CancelCauseFunc) *helm {
	return &helm{events: events, cancel: cancel, changed: make(chan struct{}), work: map[string]context.CancelCauseFunc{}}
}

// apply writes a request down and carries it out.
func (h *helm) apply(c track.Control) {
	c.Target, c.Text = clean.Line(c.Target, 200), clean.Line(c.Text, 2000)
	h.mu.Lock()
	round := h.round
	h.mu.Unlock()
	// The request is carried out also when the disk is full and it cannot be
	// written down: that is when a user stops a loop.
	_ = h.events.emit(track.EvControl, round, "user", c)
	if said := h.carryOut(c); said != "" {
		h.say(track.Steered{Act: c.Act, Target: c.Target, Text: said})
	}
	if c.Act == track.ActStop && StopKind(c.When) == StopNow {
		h.cancel(ErrInterrupted)
	}
}

// carryOut changes what is asked for. It returns what there is to say at once.
func (h *helm) carryOut(c track.Control) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	defer h.wake()
	switch c.Act {
	case track.ActStop:
		h.stop = true
	case track.ActPause:
		h.paused = true
		return "pauses before the next step"
	case track.ActResume:
		if !h.paused {
			return "nothing was paused"
		}
		h.paused = false
	case track.ActSkip:
		end := h.work[c.Target]
		if end == nil {
			return fmt.Sprintf("no agent %q is at work", c.Target)
		}
		end(errSkipped)
		return "the agent is ended and gets no second try"
	case track.ActVeto:
		return h.veto(c.Target)
	case track.ActMeasure:
		h.again = append(h.again, c.Target)
		return "is measured once more at the end of this round's tournament; that decides nothing in this round"
	default:
		return fmt.Sprintf("nothing is known by the name %q", clean.Line(c.Act, 40))
	}
	return ""
}

// veto remembers what is not wanted, and ends the executor that works on it.
func (h *helm) veto(target string) string {
	target = planOf(target, h.round)
	if len(h.plans) > 0 && !slices.ContainsFunc(h.plans, func(planner string) bool { return planner == target || names(target, planner) }) {
		return fmt.Sprintf("no plan of this round is called %q; there are %s", target, strings.Join(h.plans, ", "))
	}
	h.vetoes = append(h.vetoes, target)
	for id, end := range h.work {
		if names(id, target) {
			end(errVetoed)
			return "its agent is ended; it does not enter the tournament"
		}
	}
	return "does not enter the tournament; what is merged already stays"
}

// names tells whether a target of a request is this executor: by its own name, or by
// its planner's. An executor and its planner share their letter.
func names(executor, target string) bool {
	return executor == target || executorOf(target) == executor
}

// wake tells whoever waits. The lock is held.
func (h *helm) wake() {
	close(h.changed)
	h.changed = make(chan struct{})
}

func (h *helm) say(s track.Steered) {
	h.mu.Lock()
	round := h.round
	h.mu.Unlock()
	_ = h.events.emit(track.EvSteered, round, "si", s)
}

// enter begins a round: vetoes and requests of the last one are over. vetoes are
// those of this round that were asked for before a crash.
func (h *helm) enter(round int, vetoes, again []string) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, target := range h.again { // asked for after the last tournament
		if !strings.Contains(target, "/") {
			target = fmt.Sprintf("%d/%s", h.round, target)
		}
		again = append(again, target)
	}
	h.round, h.plans, h.vetoes, h.again = round, nil, vetoes, again
}

// at is the round that is played, 0 before the first.
func (h *helm) at() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.round
}

// planned says which planners have a plan in this round.
func (h *helm) planned(ids []string) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.plans = ids
}

// askStop asks for a stop after what runs now.
func (h *helm) askStop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stop = true
	h.wake()
}

// pending returns errStop once a stop was asked for.
func (h *helm) pending() error {
	if h == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stop {
		return errStop
	}
	return nil
}

// gate waits while the run is paused. It returns errStop once a stop was asked for.
func (h *helm) gate(ctx context.Context, now func() time.Time, before string) error {
	if err := h.pending(); err != nil || h == nil {
		return err
	}
	h.mu.Lock()
	paused, changed := h.paused, h.changed
	h.mu.Unlock()
	if !paused {
		return nil
	}
	began := now()
	h.say(track.Steered{Act: track.ActPause, Text: "paused before " + before + "; 'si resume' goes on", Waits: track.WaitBegins})
	for paused {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
		if err := h.pending(); err != nil {
			return err
		}
		h.mu.Lock()
		paused, changed = h.paused, h.changed
		h.mu.Unlock()
	}
	h.mu.Lock()
	h.idle += now().Sub(began)
	h.mu.Unlock()
	h.say(track.Steered{Act: track.ActResume, Text: "goes on with " + before, Waits: track.WaitEnds})
	return nil
}

// sleep waits until alarm, a stop or the end of ctx. It returns errStop for a stop.
func (h *helm) sleep(ctx context.Context, alarm <-chan time.Time) error {
	for {
		if err := h.pending(); err != nil {
			return err
		}
		var changed chan struct{}
		if h != nil {
			h.mu.Lock()
			changed = h.changed
			h.mu.Unlock()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-alarm:
			return nil
		case <-changed:
		}
	}
}

// waited is how long the run has waited for a person.
func (h *helm) waited() time.Duration {
	if h == nil {
		return 0
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.idle
}

// watch lets the user end an agent's task. The context ends with errSkipped or
// errVetoed as its cause then. done is called when the task has ended.
func (h *helm) watch(ctx context.Context, id string) (_ context.Context, done func()) {
	if h == nil {
		return ctx, func() {}
	}
	ctx, end := context.WithCancelCause(ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.work[id] = end
	return ctx, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.work, id)
		end(nil)
	}
}

// unwanted returns why the task's agent was not to go on, by the word of the user or
// for want of money; nil when it was.
func unwanted(ctx context.Context) error {
	var spent *overBudget
	if cause := context.Cause(ctx); errors.Is(cause, errSkipped) || errors.Is(cause, errVetoed) || errors.As(cause, &spent) {
		return cause
	}
	return nil
}

// vetoed tells whether a plan of this round, or what was made of it, is not wanted.
func (h *helm) vetoed(p track.Plan) bool {
	if h == nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.ContainsFunc(h.vetoes, func(target string) bool {
		return target == p.PlannerID || target == executorOf(p.PlannerID)
	})
}

// remeasure takes the requests to measure something once more.
func (h *helm) remeasure() []string {
	if h == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	out := h.again
	h.again = nil
	return out
}
