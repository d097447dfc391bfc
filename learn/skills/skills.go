// Package skills keeps procedures that agents wrote down for the next time:
// folders with a SKILL.md in the format of agentskills.io. It reads what it finds
// forgivingly and writes strictly, and nothing that it reads ever becomes code. What
// lies on the disk is the truth; what is kept beside it is counters, and losing them
// loses no skill. A process that is killed at any instant leaves a whole library.
//
// The curator ages what the reviewer wrote: each pass and each rollback is one change,
// after a backup that was read back. It calls no model, starts no process and knows no
// git. Package reviewer adds skills, package mcpserver shows them to agents.
package skills

import (
	"errors"
	"fmt"
	"time"
)

// Origin says whose a skill is.
type Origin string

// The origins, in the order in which they win over one another.
const (
	Learned  Origin = "learned"  // L/skills in the repository: the retrospective's, undone by git revert
	Managed  Origin = "managed"  // <state base>/skills: the reviewer's and the user's
	External Origin = "external" // folders of others, never written
)

// The authors of a managed skill.
const (
	ByUser  = "user"
	ByAgent = "agent" // the reviewer: only these are aged
)

// State is where a skill stands in its life.
type State string

// The states. Archived skills lie in .archive and are in no list of skills in use.
const (
	Active   State = "active"
	Stale    State = "stale"
	Archived State = "archived"
)

// Info is what is known of a skill without its body.
type Info struct {
	Name        string     `json:"name"`
	Description string     `json:"description"`
	Version     string     `json:"version,omitempty"`
	Category    string     `json:"category,omitempty"`
	CreatedBy   string     `json:"created_by,omitempty"`
	Origin      Origin     `json:"origin"`
	Dir         string     `json:"dir"` // absolute
	ShadowedBy  string     `json:"shadowed_by,omitempty"`
	State       State      `json:"state"`
	Pinned      bool       `json:"pinned"`
	UseCount    int        `json:"use_count"`
	ViewCount   int        `json:"view_count"`
	LastUsedAt  *time.Time `json:"last_used_at,omitempty"`
	CreatedAt   *time.Time `json:"created_at,omitempty"`
	StaleAt     *time.Time `json:"stale_at,omitempty"`
	UsedIn      []string   `json:"used_in,omitempty"` // the last tasks that used it
	Warnings    []string   `json:"warnings,omitempty"`
}

// Curatable reports whether the curator may age it: written by the reviewer,
// managed, not pinned, not shadowed.
func (i Info) Curatable() bool {
	return i.CreatedBy == ByAgent && i.Origin == Managed && !i.Pinned && i.ShadowedBy == ""
}

// Errors that a caller tells apart.
var (
	// ErrNotFound says that no skill has the name.
	ErrNotFound = errors.New("no such skill")
	// ErrExists says that a name is taken, also by a skill in the archive.
	ErrExists = errors.New("the name is taken")
	// ErrReadOnly says that the skill belongs to others.
	ErrReadOnly = errors.New("read only")
)

// Fault is one rule of the standard that a skill breaks.
type Fault struct {
	Field string
	What  string
}

func (f Fault) String() string { return f.Field + ": " + f.What }

// FaultsError refuses to write what would not pass the standard.
type FaultsError struct {
	Name   string
	Faults []Fault
}

func (e *FaultsError) Error() string {
	text := fmt.Sprintf("the skill %q does not follow the standard", e.Name)
	for i, f := range e.Faults {
		if i == 0 {
			text += ": " + f.String()
		} else {
			text += "; " + f.String()
		}
	}
	return text
}

// lastSeen is the last use, or the creation; the zero time when neither is known.
func (i Info) lastSeen() time.Time {
	switch {
	case i.LastUsedAt != nil:
		return *i.LastUsedAt
	case i.CreatedAt != nil:
		return *i.CreatedAt
	}
	return time.Time{}
}
