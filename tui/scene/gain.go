package scene

import (
	"fmt"
	"math"

	"si/plot"
	"si/track"
)

// makeChart is what the chart shows: the records of the journal, and of rounds
// that were played before it began.
func (s *Scene) makeChart() plot.Data {
	all := s.records
	for _, r := range s.Facts.Records {
		if s.first == 0 || r.Iteration < s.first {
			all = append(all, r)
		}
	}
	settings := track.Settings{PrimaryMetric: s.metric(), BenchmarkDirection: s.direction(), TargetValue: s.target()}
	return plot.FromRecords(s.Facts.Objective, settings, s.Round.Baseline, all)
}

func (s *Scene) metric() string {
	if s.Facts.Metric == "" && s.Run.Summary != nil {
		return word(s.Run.Summary.Metric)
	}
	return s.Facts.Metric
}

func (s *Scene) direction() track.Direction {
	if s.Facts.Direction == "" && s.Run.Summary != nil {
		return s.Run.Summary.Direction
	}
	return s.Facts.Direction
}

func (s *Scene) target() *float64 {
	if s.Facts.Target == nil && s.Run.Summary != nil {
		return s.Run.Summary.Target
	}
	return s.Facts.Target
}

// Gain is how far the champion is from the start. Whole is measured afresh at the
// end of a run and has an interval; before that it is the quotient of scores that
// were taken in different minutes, which says no more than it is.
func (s *Scene) Gain() (whole *track.Effect, rough float64, ok bool) {
	if sum := s.Run.Summary; sum != nil && sum.Improvement != nil {
		return sum.Improvement, sum.Improvement.Value, true
	}
	a, b := s.Round.Baseline, s.Round.Best
	if a == nil || b == nil || *a == 0 {
		return nil, 0, false
	}
	rough = (*b - *a) / math.Abs(*a)
	if s.direction() == track.LowerIsBetter {
		rough = -rough
	}
	return nil, rough, true
}

// Doing says in a few words what the loop does now.
func (s *Scene) Doing() string {
	r := s.Round
	switch n := s.Working(); {
	case s.Run.Started.IsZero():
		return "waiting for the loop"
	case !s.Live():
		return ended(s)
	case s.Run.Parked != nil:
		return "waits for a usage limit to be lifted: " + line(s.Run.Parked.Reason)
	case s.Run.Paused:
		return "paused before the next step"
	case r.Step == track.StepTournament || r.Step == track.StepExecution && n == 0:
		return s.measuring()
	case n > 0:
		return atWork(r.Step, n)
	case r.Step != "":
		return StepName(r.Step)
	}
	return s.between()
}

func ended(s *Scene) string {
	switch {
	case s.Run.Summary == nil && s.Run.Stop != "":
		return "stopped by you in the middle of a step"
	case s.Run.Summary == nil:
		return "the loop is gone: killed, or crashed"
	case s.Run.Summary.Reason != "":
		return line(s.Run.Summary.Reason)
	}
	switch s.Run.Summary.Status {
	case track.StatusMaxIterations:
		return "finished: all rounds are played"
	case track.StatusTargetReached:
		return "finished: the target is reached"
	case track.StatusPlateau:
		return "finished: the last rounds brought almost nothing"
	case track.StatusCircuitBreaker:
		return "finished: several rounds in a row without a winner"
	case track.StatusUserStopped:
		return "stopped by you"
	case track.StatusBudget:
		return "finished: the budget is spent"
	case track.StatusIdle, track.StatusRunning, track.StatusFailed:
	}
	return "ended: " + word(string(s.Run.Summary.Status))
}

func (s *Scene) measuring() string {
	for _, e := range s.Entries {
		if e.Phase == Duelling {
			return fmt.Sprintf("%s duels the champion, %d runs so far", e.Executor, len(e.Runs))
		}
	}
	if s.Round.Step == track.StepExecution {
		return "checks the candidates, one run each"
	}
	return "ranks the candidates, then the best one duels the champion"
}

func (s *Scene) between() string {
	if l := s.Round.Last; l != nil && s.Round.Step == "" {
		switch l.Purpose {
		case "end":
			return "measures the whole gain afresh, start against champion"
		case "canary":
			return "tries the benchmark with changes whose worth is known"
		}
	}
	return "between two steps"
}

func atWork(step track.Step, n int) string {
	what := map[track.Step]string{
		track.StepResearch: "researcher", track.StepPlanning: "planner", track.StepCriticReview: "reviewer", track.StepExecution: "executor",
	}[step]
	if what == "" {
		what = "agent"
	}
	if n == 1 {
		return "1 " + what + " at work"
	}
	return fmt.Sprintf("%d %ss at work", n, what)
}

// StepName is the name of a step for people.
func StepName(step track.Step) string {
	switch step {
	case track.StepResearch:
		return "research"
	case track.StepPlanning:
		return "plan"
	case track.StepCriticReview:
		return "review"
	case track.StepExecution:
		return "execute"
	case track.StepTournament:
		return "tournament"
	case track.StepRecording:
		return "record"
	case track.StepStopCheck:
		return "stop?"
	}
	return word(string(step))
}
