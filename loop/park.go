package loop

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"si/agents"
	"si/track"
)

// defaultWait is the longest wait for a usage limit to be lifted: most limits are of
// five hours.
const defaultWait = 6 * time.Hour

// lot counts how long the run has been parked. Agents that wait side by side count
// once.
type lot struct {
	mu sync.Mutex
	waits
}

func (p *lot) enter(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.begin(now)
}

func (p *lot) leave(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end(now)
}

// waits is a time in which at least one waited: several wait side by side.
type waits struct {
	inside int
	since  time.Time
	total  time.Duration
}

func (w *waits) begin(now time.Time) {
	if w.inside == 0 {
		w.since = now
	}
	w.inside++
}

func (w *waits) end(now time.Time) {
	if w.inside == 1 {
		w.total += now.Sub(w.since)
	}
	w.inside = max(0, w.inside-1)
}

// until is what was waited until now, the wait that is not over, too.
func (w *waits) until(now time.Time) time.Duration {
	if w.inside > 0 {
		return w.total + now.Sub(w.since)
	}
	return w.total
}

// patience is how a task's waits went so far: an agent that names a limit each time
// that it is started must not wait for ever, nor ask the whole night in a row.
type patience struct {
	begun  int           // limits met in the middle of its work
	tries  int           // waits in a row after which the agent did nothing
	waited time.Duration // in them
	did    atomic.Bool   // the agent did something since the last one
}

const (
	// leastWait is the shortest wait for an agent that did nothing after the last one.
	leastWait = time.Minute
	// mostParks is how often one task can be begun anew because of a limit that it met
	// in the middle of its work: it does not fit into what is allowed at once.
	mostParks = 6
)

// watching hears whether the agent does something.
func (p *patience) watching(t *agents.Task) {
	also := t.Watch
	t.Watch = func(e agents.Event) {
		if e.Kind == agents.EventToolStart || e.Usage != nil && e.Usage.Total() > 0 {
			p.did.Store(true)
		}
		if also != nil {
			also(e)
		}
	}
}

func (p *patience) String() string {
	if p.tries == 0 {
		return ""
	}
	return fmt.Sprintf(", after %d waits of %s that were for nothing", p.tries, p.waited.Round(time.Minute))
}

// parked is how long the run has waited for usage limits.
func (l *Loop) parked() time.Duration {
	l.lot.mu.Lock()
	defer l.lot.mu.Unlock()
	return l.lot.total
}

// park waits when the agent failed at a usage limit: waited says that the limit is
// lifted, and the same attempt is made again. A wait that is longer than the user
// allows ends the run with what the round has; so do several in a row that come to it
// together and were for nothing. Who meets its limit in the middle of its work too
// often has failed.
func (r *round) park(ctx context.Context, t agents.Task, failure error, p *patience) (waited bool, err error) {
	var f *agents.Failure
	if !errors.As(failure, &f) || f.Kind != agents.FailUsage {
		return false, nil
	}
	if p.did.Swap(false) {
		p.tries, p.waited = 0, 0
		if p.begun++; p.begun > mostParks {
			return false, nil
		}
	}
	now := r.cfg.Now()
	until := f.Until
	if !until.After(now) {
		until = now.Add(15 * time.Minute)
	}
	if least := now.Add(leastWait); p.tries > 0 && until.Before(least) {
		until = least
	}
	longest, wait := r.longestWait(), until.Sub(now)
	if p.waited+wait > longest {
		r.purse.close(fmt.Sprintf("%s: its usage limit is lifted at %s, in %s%s; the longest wait is %s (si.agents.wait_hours)",
			t.ID, until.Format("2006-01-02 15:04 MST"), wait.Round(time.Minute), p, longest))
		return false, nil
	}
	p.tries, p.waited = p.tries+1, p.waited+wait
	said := track.Parked{Role: string(t.Role), ID: t.ID, Reason: f.What, Until: until.UTC()}
	if err := r.emit(track.EvParked, t.ID, said); err != nil {
		return false, err
	}
	r.lot.enter(now)
	err = r.helm.sleep(ctx, r.cfg.after(until.Sub(now)))
	r.lot.leave(r.cfg.Now())
	if err != nil {
		return false, err
	}
	return true, r.emit(track.EvUnparked, t.ID, said)
}

func (r *round) longestWait() time.Duration {
	switch hours := r.settings.Value.SI.Agents.WaitHours; {
	case hours < 0:
		return 0
	case hours == 0:
		return defaultWait
	default:
		return time.Duration(hours * float64(time.Hour))
	}
}

// after is the clock's alarm.
func (c Config) after(d time.Duration) <-chan time.Time {
	if c.After != nil {
		return c.After(d)
	}
	return time.After(d)
}
