package skills

import (
	"context"
	"fmt"
	"time"
)

// Result is what a pass did.
type Result struct {
	At     time.Time `json:"at"`
	Moves  []Move    `json:"moves"`
	Backup string    `json:"backup,omitempty"` // "" when nothing was to be done
}

// Run makes a pass now. Without anything to do it makes no backup.
func (c *Curator) Run(ctx context.Context) (Result, error) {
	var r Result
	err := c.lib.exclusively(ctx, func() error {
		var err error
		r, err = c.pass()
		return err
	})
	return r, err
}

// RunIfDue makes a pass if one is due. Call it at the end of a run, never in a round.
func (c *Curator) RunIfDue(ctx context.Context) (Result, bool, error) {
	k, err := c.lib.loadClocks()
	if err != nil || !k.due(c.lib.now(), c.aging) {
		return Result{}, false, err
	}
	r, err := c.Run(ctx)
	return r, true, err
}

func (c *Curator) pass() (Result, error) {
	now := c.lib.now()
	r := Result{At: now}
	err := c.adopt(now)
	if err == nil {
		r.Moves, err = c.Plan()
	}
	if err == nil && len(r.Moves) > 0 {
		var b Backup
		if b, err = c.lib.backup(); err == nil {
			r.Backup = b.Name
			err = c.apply(r.Moves, now)
		}
	}
	if err != nil {
		return Result{}, fmt.Errorf("a pass over the skills: %w", err)
	}
	return r, c.lib.changeClocks(func(k *clocks) {
		k.tick(now, c.aging.idle())
		k.LastPass, k.Result = now, &r
	})
}

// adopt gives skills that nobody has counted yet a beginning, and takes dates of the
// future for now.
func (c *Curator) adopt(now time.Time) error {
	listing, err := c.lib.List()
	if err != nil {
		return err
	}
	odd := func(t *time.Time) bool { return t != nil && t.After(now) }
	var names []string
	for _, info := range listing.Skills {
		if info.Curatable() && (info.CreatedAt == nil || odd(info.CreatedAt) || odd(info.LastUsedAt) || odd(info.StaleAt) || info.State == Stale && info.StaleAt == nil) {
			names = append(names, info.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return c.lib.countsLocked(func(t *telemetry) {
		for _, name := range names {
			t.of(name).adopt(now)
		}
	})
}

func (r *record) adopt(now time.Time) {
	if r.CreatedAt == nil || r.CreatedAt.After(now) {
		r.CreatedAt = &now
	}
	if r.LastUsedAt != nil && r.LastUsedAt.After(now) {
		r.LastUsedAt = &now
	}
	if r.State == Stale && (r.StaleAt == nil || r.StaleAt.After(now)) {
		r.StaleAt = &now
	}
}

func (c *Curator) apply(moves []Move, now time.Time) error {
	return c.lib.transact("", func(next string) error {
		if err := c.lib.linkTree(next); err != nil {
			return err
		}
		r, err := openRooted(next, c.lib.hooks)
		if err != nil {
			return err
		}
		defer r.close()
		t, _ := loadTelemetry(r) // adopt has put a broken one aside, if there was anything to count
		for _, m := range moves {
			if err := c.step(r, t, m, now); err != nil {
				return err
			}
		}
		return t.save(r)
	})
}

func (c *Curator) step(r *rooted, t *telemetry, m Move, now time.Time) error {
	rec := t.of(m.Name)
	rec.State, rec.StaleAt = m.To, nil
	switch m.To {
	case Stale:
		rec.StaleAt = &now
	case Archived:
		rel, err := c.lib.rel(Info{Name: m.Name, Dir: m.dir})
		if err != nil {
			return err
		}
		return archive(r, rel)
	case Active:
	}
	return nil
}
