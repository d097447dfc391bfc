package skills

import (
	"path/filepath"
	"strings"
	"time"
)

// Status is how the curator stands.
type Status struct {
	Skills     map[State]int `json:"skills"`    // managed ones, by state
	Curatable  int           `json:"curatable"` // of those, what may be aged
	LastPass   *time.Time    `json:"last_pass_at"`
	DueAt      *time.Time    `json:"due_at"` // nil before the store was first used
	Due        bool          `json:"due"`
	LastActive *time.Time    `json:"last_activity_at"`
	Result     *Result       `json:"last_result,omitempty"`
	Backups    []Backup      `json:"backups"`
	Replaced   []string      `json:"replaced,omitempty"` // libraries that a rollback replaced
	Warnings   []string      `json:"warnings,omitempty"`
}

// Status looks and changes nothing.
func (c *Curator) Status() (Status, error) {
	s := Status{Skills: map[State]int{}}
	listing, err := c.lib.List()
	if err != nil {
		return s, err
	}
	archived, err := c.lib.Archived()
	if err != nil {
		return s, err
	}
	s.Skills[Archived], s.Warnings = len(archived), listing.Warnings
	for _, info := range listing.Skills {
		if info.Origin == Managed {
			s.Skills[info.State]++
		}
		if info.Curatable() {
			s.Curatable++
		}
	}
	k, fault := c.lib.loadClocks()
	if fault != nil {
		s.Warnings = append(s.Warnings, fault.Error())
	}
	s.LastPass, s.DueAt, s.LastActive, s.Result = moment(k.LastPass), moment(k.dueAt(c.aging.interval())), moment(k.LastActive), k.Result
	s.Due = k.due(c.lib.now(), c.aging)
	if s.Backups, err = c.lib.Backups(); err != nil {
		return s, err
	}
	kept, err := filepath.Glob(filepath.Join(globSafe(c.lib.base), "skills-replaced-*"))
	s.Replaced = kept
	return s, err
}

func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// globSafe escapes what a pattern would take for its own.
func globSafe(dir string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(dir)
}
