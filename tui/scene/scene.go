// Package scene is what a screen knows of a loop: the events of its journal and
// the activity of its agents, folded into one value. It reads nothing, asks nobody
// and keeps no clock: the same events give the same scene, so that a loop in
// another process, one of last night and one in a test look alike.
package scene

import (
	"time"

	"si/plot"
	"si/track"
)

// Scene is one loop as far as its events were applied. It is not safe for
// concurrent use. Texts in it are clean: without a control character.
type Scene struct {
	Facts   Facts
	Run     Run
	Round   Round
	Agents  []*Agent   // of the step now running, in the order of their start
	Entries []*Entry   // plans and candidates of the round, in the order of their letter
	Kept    []Gain     // in all rounds, oldest first
	Log     *Ring[Log] // what happened, oldest first
	Version int        // grows with each change

	records []track.RawRecord
	first   int // the first round of the journal
	chart   plot.Data
	stale   bool // chart has to be made anew
	charts  int  // how often it was
}

// Facts are what the documents of the track say and no event does.
type Facts struct {
	Objective string
	Metric    string
	Direction track.Direction
	Target    *float64
	Max       int // rounds at most
	Place     string
	Records   []track.RawRecord // candidates of rounds older than the journal
	Baseline  *float64
}

// mostLog is how many lines of the log a scene keeps; the journal has them all.
const mostLog = 2000

// New returns the scene before anything has happened.
func New(f Facts) *Scene {
	return &Scene{Facts: f, Log: NewRing[Log](mostLog), Round: Round{Baseline: f.Baseline}, stale: true}
}

// SetFacts takes what the documents say now.
func (s *Scene) SetFacts(f Facts) {
	s.Facts = f
	if s.Round.Baseline == nil {
		s.Round.Baseline = f.Baseline
	}
	s.stale = true
	s.Version++
}

// Apply folds one event into the scene. Kinds that it does not know, and data
// that cannot be read, change nothing but the log.
func (s *Scene) Apply(e track.Event) {
	s.Version++
	s.Run.Last = e.TS
	s.aboutRun(e)
	s.aboutRound(e)
	s.aboutAgents(e)
	s.aboutEntries(e)
	s.note(e)
}

// Chart is what the chart shows, and a number that changes with it.
func (s *Scene) Chart() (plot.Data, int) {
	if s.stale {
		s.stale = false
		s.charts++
		s.chart = s.makeChart()
	}
	return s.chart, s.charts
}

// Agent finds an agent by its id, nil when it is not in the scene.
func (s *Scene) Agent(id string) *Agent {
	for _, a := range s.Agents {
		if a.ID == id {
			return a
		}
	}
	return nil
}

// Entry finds a candidate by its executor, nil when there is none.
func (s *Scene) Entry(executor string) *Entry {
	for _, e := range s.Entries {
		if e.Executor == executor {
			return e
		}
	}
	return nil
}

// Working counts the agents that have not ended.
func (s *Scene) Working() (n int) {
	for _, a := range s.Agents {
		if a.Working() {
			n++
		}
	}
	return n
}

// Live reports whether the last run of the journal has not ended.
func (s *Scene) Live() bool { return !s.Run.Started.IsZero() && s.Run.Ended.IsZero() }

// span is the time from one instant to another, never negative: clocks of two
// machines may differ.
func span(from, to time.Time) time.Duration {
	if from.IsZero() || to.Before(from) {
		return 0
	}
	return to.Sub(from)
}
