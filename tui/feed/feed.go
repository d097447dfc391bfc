// Package feed is where a screen gets its news: the journal of a loop and the
// activity files of its agents, read while another process writes them, or a
// journal that was finished long ago, played again. A feed reads a bounded amount
// at a time and never makes a writer wait; what it cannot keep up with it passes
// over and counts.
package feed

import (
	"time"

	"si/track"
	"si/tui/scene"
)

// Feed brings a scene up to date. Its methods are called from one goroutine at a
// time.
type Feed interface {
	// Read reads what is new since the last call. It takes a bounded time and
	// touches no scene, so that it may run beside a screen that draws one.
	Read() Batch
	// Now is the time that the scene shows.
	Now() time.Time
	Close() error
}

// Batch is what one Read found.
type Batch struct {
	Events []track.Event
	Facts  *scene.Facts // when the documents were read anew
	Doing  []Doing
	More   bool // there is more to read right now
	Alive  bool // some process holds the track
	Err    error
}

// Doing is what one agent did.
type Doing struct {
	Agent   Key
	Did     []track.Activity
	Printed []string // lines of its log, when it has no activity file
	Dropped int
}

// Key tells the tasks of agents apart.
type Key struct {
	Round   int
	ID      string
	Attempt int
}

// Apply folds a batch into a scene.
func (b Batch) Apply(s *scene.Scene) {
	if b.Facts != nil {
		s.SetFacts(*b.Facts)
	}
	for _, e := range b.Events {
		s.Apply(e)
	}
	for _, d := range b.Doing {
		a := s.Agent(d.Agent.ID)
		if a == nil || a.Round != d.Agent.Round || a.Attempt != d.Agent.Attempt {
			continue
		}
		s.Drop(a, d.Dropped)
		s.Act(a, d.Did)
		s.Print(a, d.Printed)
	}
}
