package scene

import (
	"time"

	"si/track"
)

// Run is the last run of the loop that the journal tells of.
type Run struct {
	ID      string
	Branch  string
	Started time.Time
	Ended   time.Time // zero while it runs, as far as the journal knows
	Last    time.Time // of the last event
	Summary *track.Summary
	Paused  bool
	Stop    string // "", step or now: what was asked for
	Runs    int    // of the benchmark
	Tasks   int    // of agents
	Spent   track.Spent
	Parked  *track.Parked // waits for a usage limit to be lifted
}

// Elapsed is how long the run has gone on at now.
func (r Run) Elapsed(now time.Time) time.Duration {
	if !r.Ended.IsZero() {
		now = r.Ended
	}
	return span(r.Started, now)
}

func (s *Scene) aboutRun(e track.Event) {
	r := &s.Run
	switch e.Ev { //nolint:exhaustive // the kinds of this group
	case track.EvRunStarted:
		d := decoded[track.RunStarted](e)
		s.Run = Run{ID: e.Run, Branch: d.Branch, Started: e.TS, Last: e.TS}
		s.Agents = nil
		s.Round.Step = ""
	case track.EvRunEnded:
		d := decoded[track.Summary](e)
		r.Summary, r.Ended, r.Paused = &d, e.TS, false
		s.endAgents(e.TS)
		s.stale = true
	case track.EvMeasured:
		r.Runs++
	case track.EvAgentEnded, track.EvAgentFailed:
		r.Tasks++
		if d := decoded[track.AgentEvent](e); d.Spent != nil {
			r.Spent = r.Spent.Add(*d.Spent)
		}
	case track.EvParked:
		d := decoded[track.Parked](e)
		r.Parked = &d
	case track.EvUnparked:
		r.Parked = nil
	case track.EvControl:
		s.control(decoded[track.Control](e))
	}
}

// control notes what the loop has heard of a request.
func (s *Scene) control(c track.Control) {
	switch c.Act {
	case "stop":
		s.Run.Stop = "step"
		if c.When == "now" {
			s.Run.Stop = "now"
		}
	case "pause":
		s.Run.Paused = true
	case "resume":
		s.Run.Paused = false
	}
}

// Gone tells the scene that the process of the loop is gone without having said
// so: a crash, or a kill. It was seen at now.
func (s *Scene) Gone(now time.Time) {
	if !s.Live() {
		return
	}
	s.Run.Ended = now
	s.endAgents(now)
	s.Version++
}

// decoded reads an event's data; damage leaves zero values, since a screen is no
// place to fail.
func decoded[T any](e track.Event) T {
	var v T
	_ = e.Decode(&v)
	return v
}
