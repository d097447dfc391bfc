package skills

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"si/internal/durable"
)

const (
	clocksFile = "skills-curator.json"
	maxClocks  = 1 << 20
	// noteEvery bounds how often activity is written down.
	noteEvery = time.Minute
)

// clocks are the curator's memory of time, on the disk: a tool that starts and stops
// every day still gets its pass.
type clocks struct {
	MadeAt     time.Time `json:"made_at"`          // when the store was first seen
	LastPass   time.Time `json:"last_pass_at"`     // zero before the first
	LastActive time.Time `json:"last_activity_at"` // the last that anybody did with the library
	Rested     time.Time `json:"rested_at"`        // the end of the last gap that was long enough for a pass
	Result     *Result   `json:"last_result,omitempty"`
}

func (l *Library) loadClocks() (clocks, error) {
	var c clocks
	info, err := os.Lstat(l.at(clocksFile))
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxClocks) {
		err = errors.New("it is no regular file, or too large")
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(l.at(clocksFile))
	}
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err != nil {
		return clocks{}, fmt.Errorf("the clocks of the curator in %s cannot be read and start anew: %w", l.at(clocksFile), err)
	}
	return c, nil
}

// tick takes note of the time. A clock of the machine that was set back would leave
// dates in the future, with which nothing ever ages; they become now.
func (c *clocks) tick(now time.Time, idle time.Duration) {
	if c.MadeAt.IsZero() {
		c.MadeAt = now
	}
	for _, t := range []*time.Time{&c.MadeAt, &c.LastPass, &c.LastActive, &c.Rested} {
		if t.After(now) {
			*t = now
		}
	}
	if !c.LastActive.IsZero() && now.Sub(c.LastActive) >= idle {
		c.Rested = now
	}
	c.LastActive = now
}

// since is the end of the last pass, or the beginning.
func (c *clocks) since() time.Time {
	if c.LastPass.IsZero() {
		return c.MadeAt
	}
	return c.LastPass
}

// dueAt is when the interval is over; the zero time when nothing is known yet.
func (c *clocks) dueAt(interval time.Duration) time.Time {
	if c.since().IsZero() {
		return time.Time{}
	}
	return c.since().Add(interval)
}

// due reports whether a scheduled pass may run: the interval is over, and there was
// a gap long enough since the last pass, or there is one now.
func (c *clocks) due(now time.Time, a Aging) bool {
	at := c.dueAt(a.interval())
	if at.IsZero() || now.Before(at) {
		return false
	}
	return now.Sub(c.LastActive) >= a.idle() || c.Rested.After(c.since())
}

// changeClocks changes the clocks; the lock must be held.
func (l *Library) changeClocks(change func(*clocks)) error {
	c, _ := l.loadClocks() // Status tells of a fault; clocks that start anew delay a pass, no more
	change(&c)
	data, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	store := durable.Store{Hooks: l.hooks}
	if err := store.Replace(l.at(clocksFile), append(data, '\n'), 0o644); err != nil {
		return fmt.Errorf("note the time for the curator: %w", err)
	}
	return nil
}

// NoteActivity sets the curator's idle clock back. Call it when a run starts, and
// whenever an agent or a person works with the library.
func (c *Curator) NoteActivity(ctx context.Context) error {
	now := c.lib.now()
	known, fault := c.lib.loadClocks()
	if since := now.Sub(known.LastActive); fault == nil && since >= 0 && since < noteEvery {
		return nil
	}
	return c.lib.exclusively(ctx, func() error {
		return c.lib.changeClocks(func(k *clocks) { k.tick(now, c.aging.idle()) })
	})
}
