package scene

import (
	"slices"
	"time"

	"si/track"
)

// Round is the round now played, or the last one.
type Round struct {
	N        int
	Max      int
	Base     string
	Started  time.Time
	Ended    time.Time
	Step     track.Step // now running, "" between two
	StepFrom time.Time
	Done     map[track.Step]time.Duration
	Best     *float64
	Baseline *float64
	Gain     *track.Effect // of the last candidate that was kept, in any round
	Runs     int
	Last     *track.Sample // the last run of the benchmark
	Result   *track.RoundEnded
	Plateau  int
	Breaker  int
}

// Steps are the steps of a round as the rail shows them.
func Steps() []track.Step {
	return []track.Step{
		track.StepResearch, track.StepPlanning, track.StepCriticReview, track.StepExecution, track.StepTournament, track.StepRecording,
	}
}

func (s *Scene) aboutRound(e track.Event) {
	r := &s.Round
	switch e.Ev { //nolint:exhaustive // the kinds of this group
	case track.EvRoundStarted:
		s.openRound(e)
	case track.EvRoundEnded:
		d := decoded[track.RoundEnded](e)
		r.Ended, r.Step, r.Result, r.Plateau, r.Breaker = e.TS, "", &d, d.Plateau, d.Breaker
		if d.Best != nil {
			r.Best = d.Best
		}
	case track.EvStepStarted:
		s.openStep(decoded[track.StepEvent](e).Step, e.TS)
	case track.EvStepEnded:
		d := decoded[track.StepEvent](e)
		if r.Done != nil && slices.Contains(Steps(), d.Step) {
			r.Done[d.Step] = seconds(d.Seconds)
		}
		if r.Step == d.Step {
			r.Step = ""
		}
	case track.EvMeasured:
		d := decoded[track.Sample](e)
		d.Raw = ""
		r.Last = &d
		r.Runs++
	case track.EvMerged:
		d := decoded[track.Merged](e)
		r.Gain, r.Best = &d.Effect, &d.After
	}
}

func (s *Scene) openRound(e track.Event) {
	d := decoded[track.RoundStarted](e)
	same := d.Resumed && e.Round == s.Round.N
	gain := s.Round.Gain
	if !same {
		s.Entries = nil
	}
	s.Round = Round{N: e.Round, Max: d.Max, Base: d.Base, Started: e.TS, Best: d.Best, Baseline: d.Baseline, Gain: gain, Done: map[track.Step]time.Duration{}}
	if s.Round.Baseline == nil {
		s.Round.Baseline = s.Facts.Baseline
	}
	s.Agents = nil
	if s.first == 0 {
		s.first = e.Round
	}
	s.stale = true
}

// openStep begins a step: the agents of the one before leave the scene.
func (s *Scene) openStep(step track.Step, at time.Time) {
	s.Round.Step, s.Round.StepFrom = step, at
	s.Agents = slices.DeleteFunc(s.Agents, func(a *Agent) bool { return !a.Working() })
}

func seconds(v float64) time.Duration { return time.Duration(v * float64(time.Second)) }
