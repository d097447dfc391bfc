package loop

import (
	"context"
	"errors"
	"fmt"
	"sync"
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
	mu     sync.Mutex
	inside int
	since  time.Time
	total  time.Duration
}

func (p *lot) enter(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.inside == 0 {
		p.since = now
	}
	p.inside++
}

func (p *lot) leave(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.inside--
	if p.inside == 0 {
		p.total += now.Sub(p.since)
	}
}

// parked is how long the run has waited for usage limits.
func (l *Loop) parked() time.Duration {
	l.lot.mu.Lock()
	defer l.lot.mu.Unlock()
	return l.lot.total
}

// park waits when the agent failed at a usage limit: waited says that the limit is
// lifted, and the same attempt is made again. A wait that is longer than the user
// allows ends the run with what the round has.
func (r *round) park(ctx context.Context, t agents.Task, failure error) (waited bool, err error) {
	var f *agents.Failure
	if !errors.As(failure, &f) || f.Kind != agents.FailUsage {
		return false, nil
	}
	now := r.cfg.Now()
	until := f.Until
	if !until.After(now) {
		until = now.Add(15 * time.Minute)
	}
	longest := r.longestWait()
	if wait := until.Sub(now); wait > longest {
		r.purse.close(fmt.Sprintf("%s: its usage limit is lifted at %s, in %s; the longest wait is %s (si.agents.wait_hours)",
			t.ID, until.Format("2006-01-02 15:04 MST"), wait.Round(time.Minute), longest))
		return false, nil
	}
	p := track.Parked{Role: string(t.Role), ID: t.ID, Reason: f.What, Until: until.UTC()}
	if err := r.emit(track.EvParked, t.ID, p); err != nil {
		return false, err
	}
	r.lot.enter(now)
	err = r.helm.sleep(ctx, r.cfg.after(until.Sub(now)))
	r.lot.leave(r.cfg.Now())
	if err != nil {
		return false, err
	}
	return true, r.emit(track.EvUnparked, t.ID, p)
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
