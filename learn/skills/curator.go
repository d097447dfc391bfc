package skills

import (
	"fmt"
	"time"
)

// Aging says when skills age. A zero value means its default.
type Aging struct {
	StaleDays     float64 `json:"stale_days,omitempty"`     // default 30
	ArchiveDays   float64 `json:"archive_days,omitempty"`   // default 90
	IntervalHours float64 `json:"interval_hours,omitempty"` // between two scheduled passes, default 168
	IdleHours     float64 `json:"idle_hours,omitempty"`     // without activity before one, default 2
}

func orDefault(value, standard float64, unit time.Duration) time.Duration {
	if value <= 0 {
		value = standard
	}
	return time.Duration(min(value, 1e5) * float64(unit)) // 270 years of days still fit
}

func (a Aging) stale() time.Duration    { return orDefault(a.StaleDays, 30, 24*time.Hour) }
func (a Aging) archive() time.Duration  { return orDefault(a.ArchiveDays, 90, 24*time.Hour) }
func (a Aging) interval() time.Duration { return orDefault(a.IntervalHours, 168, time.Hour) }
func (a Aging) idle() time.Duration     { return orDefault(a.IdleHours, 2, time.Hour) }

// Curator ages the skills that the reviewer wrote. Each pass and each rollback is one
// change of the library, and has a backup before it.
type Curator struct {
	lib   *Library
	aging Aging
}

// NewCurator returns the curator of a library.
func NewCurator(l *Library, a Aging) *Curator { return &Curator{l, a} }

// Move is what a pass does to one skill.
type Move struct {
	Name     string  `json:"name"`
	From     State   `json:"from"`
	To       State   `json:"to"`
	IdleDays float64 `json:"idle_days"`
	dir      string
}

// Plan is what a pass would do now. It changes nothing.
func (c *Curator) Plan() ([]Move, error) {
	listing, err := c.lib.List()
	if err != nil {
		return nil, fmt.Errorf("plan a pass over the skills: %w", err)
	}
	now, moves := c.lib.now(), []Move{}
	for _, info := range listing.Skills {
		if m, ok := c.move(info, now); ok {
			moves = append(moves, m)
		}
	}
	return moves, nil
}

// move is the next step of a skill's life. A skill is archived only after it was
// stale for one interval: a clock that is wrong for an hour cannot empty a library.
func (c *Curator) move(info Info, now time.Time) (Move, bool) {
	since := info.LastUsedAt
	if since == nil {
		since = info.CreatedAt
	}
	if !info.Curatable() || since == nil {
		return Move{}, false
	}
	idle := now.Sub(*since)
	m := Move{Name: info.Name, From: info.State, IdleDays: float64(int(idle.Hours()/24*10)) / 10, dir: info.Dir}
	switch {
	case info.State == Active && idle >= c.aging.stale():
		m.To = Stale
	case info.State == Stale && idle < c.aging.stale():
		m.To = Active
	case info.State == Stale && idle >= c.aging.archive() && info.StaleAt != nil && now.Sub(*info.StaleAt) >= c.aging.interval():
		m.To = Archived
	default:
		return Move{}, false
	}
	return m, true
}
