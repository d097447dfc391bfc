package scene

import (
	"fmt"
	"slices"
	"strings"

	"si/track"
)

// Phase is how far a plan has come on its way to the improve branch.
type Phase int

// The phases of a plan.
const (
	Planned   Phase = iota // a planner has written it
	Approved               // the review let it pass
	Rejected               // the review did not
	Changing               // an executor works on it
	NoChange               // no candidate came of it
	Committed              // there is a change
	Checked                // the benchmark ran on it once
	Duelling               // it is measured against the champion
	Refused
	Kept
)

// Entry is one plan of the round and the candidate that came of it.
type Entry struct {
	Executor   string
	PlanID     string
	Family     string
	Hypothesis string
	Phase      Phase
	Commit     string
	Files      []string
	Check      *float64 // one run, taken beside agents at work: decides nothing
	Screen     *float64 // one run, in the tournament: ranks
	Runs       []Sample // of the duel, in their order
	Effect     *track.Effect
	Reason     string
	Guards     int // passed
	Champion   *float64
	After      *float64 // the champion's score after it was merged
}

// Sample is one run of a duel.
type Sample struct {
	Champion bool
	Score    float64
}

// Score is what is best known of the candidate by itself.
func (e *Entry) Score() *float64 {
	switch {
	case e.After != nil:
		return e.After
	case len(e.scores(false)) > 0:
		v := median(e.scores(false))
		return &v
	case e.Screen != nil:
		return e.Screen
	}
	return e.Check
}

// SoFar is the gain that the runs of the duel show up to now, as a fraction and
// positive when better. It is the ratio of the medians and no test: only the
// verdict has an interval.
func (e *Entry) SoFar(d track.Direction) (gain float64, ok bool) {
	mine, champion := e.scores(false), e.scores(true)
	if len(mine) == 0 || len(champion) == 0 {
		return 0, false
	}
	a, b := median(champion), median(mine)
	if a <= 0 || b <= 0 {
		return 0, false
	}
	if d == track.LowerIsBetter {
		return 1 - b/a, true
	}
	return b/a - 1, true
}

func (e *Entry) scores(champion bool) (out []float64) {
	for _, r := range e.Runs {
		if r.Champion == champion {
			out = append(out, r.Score)
		}
	}
	return out
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	n := len(v)
	if n%2 == 1 {
		return v[n/2]
	}
	return v[n/2-1]/2 + v[n/2]/2
}

func (s *Scene) aboutEntries(e track.Event) {
	switch e.Ev { //nolint:exhaustive // the kinds of this group
	case track.EvPlanReady:
		s.planned(decoded[track.PlanEvent](e))
	case track.EvPlanReviewed:
		s.reviewed(decoded[track.PlanEvent](e))
	case track.EvAgentStarted:
		if d := decoded[track.AgentEvent](e); d.Role == "executor" {
			s.entryOf(d.ID, "").Phase = Changing
		}
	case track.EvCandidate:
		s.candidate(e.Round, decoded[track.CandidateEvent](e))
	case track.EvMeasured:
		s.measured(e.Round, decoded[track.Sample](e))
	case track.EvGuard:
		s.guarded(decoded[track.GuardEvent](e))
	case track.EvVerdict:
		s.verdict(e.Round, decoded[track.VerdictEvent](e))
	case track.EvMerged:
		s.merged(e.Round, decoded[track.Merged](e))
	}
}

// entryOf finds the entry of an executor and makes it when it is new.
func (s *Scene) entryOf(executor, planID string) *Entry {
	executor = word(executor)
	if e := s.Entry(executor); e != nil {
		return e
	}
	if planID == "" {
		planID = fmt.Sprintf("round_%d_%s", s.Round.N, strings.Replace(executor, "executor_", "planner_", 1))
	}
	e := &Entry{Executor: executor, PlanID: word(planID)}
	s.Entries = append(s.Entries, e)
	slices.SortStableFunc(s.Entries, func(a, b *Entry) int {
		if len(a.Executor) != len(b.Executor) { // executor_z comes before executor_aa
			return len(a.Executor) - len(b.Executor)
		}
		return strings.Compare(a.Executor, b.Executor)
	})
	return e
}

func (s *Scene) planned(d track.PlanEvent) *Entry {
	e := s.entryOf(strings.Replace(d.Planner, "planner_", "executor_", 1), d.PlanID)
	if d.Hypothesis != "" {
		e.Family, e.Hypothesis = word(d.Family), text(d.Hypothesis)
	}
	return e
}

func (s *Scene) reviewed(d track.PlanEvent) {
	e := s.planned(d)
	e.Phase = Approved
	if d.Approved == nil || !*d.Approved {
		e.Phase, e.Reason = Rejected, text(d.Reason)
	}
}

func (s *Scene) candidate(round int, d track.CandidateEvent) {
	e := s.entryOf(d.Executor, d.PlanID)
	e.Commit = word(d.Commit)
	e.Files = nil
	for _, f := range d.Files {
		e.Files = append(e.Files, line(f))
	}
	e.Phase = Committed
	if d.Reason != "" {
		e.Phase, e.Reason = NoChange, text(d.Reason)
		s.record(round, e, nil, false)
	}
}

func (s *Scene) measured(round int, d track.Sample) {
	key := strings.Split(d.Key, "/")
	switch {
	case d.Purpose == "check" && s.Entry(d.Subject) != nil:
		e := s.Entry(d.Subject)
		e.Phase, e.Check = Checked, d.Score
		if d.Score == nil {
			e.Phase, e.Reason = NoChange, text("the benchmark gave no score: "+d.Fault)
			s.record(round, e, nil, false)
		}
	case d.Purpose == "screen" && d.Score != nil && s.Entry(d.Subject) != nil:
		s.Entry(d.Subject).Screen = d.Score
	case d.Purpose == "duel" && len(key) > 1 && s.Entry(key[1]) != nil:
		e := s.Entry(key[1])
		e.Phase = Duelling
		if d.Score != nil {
			e.Runs = append(e.Runs, Sample{Champion: d.Subject != e.Executor, Score: *d.Score})
		}
	}
}

func (s *Scene) guarded(d track.GuardEvent) {
	e := s.Entry(d.Subject)
	if e == nil {
		return
	}
	if d.Passed {
		e.Guards++
		return
	}
	e.Reason = text(fmt.Sprintf("guard %q: %s", d.Guard, d.Reason))
}

func (s *Scene) verdict(round int, d track.VerdictEvent) {
	e := s.entryOf(d.Executor, d.PlanID)
	e.Phase, e.Reason, e.Effect = Refused, text(d.Reason), d.Effect
	if d.Accepted {
		e.Phase = Kept
	}
	s.record(round, e, e.Check, d.Accepted)
}

func (s *Scene) merged(round int, d track.Merged) {
	e := s.entryOf(d.Executor, d.PlanID)
	e.Phase, e.Effect, e.After, e.Champion = Kept, &d.Effect, &d.After, &d.Before
	s.record(round, e, &d.After, true)
	s.keep(Gain{Round: round, Executor: e.Executor, Hypothesis: e.Hypothesis, Effect: d.Effect, Before: d.Before, After: d.After})
}

// Gain is one candidate that was kept.
type Gain struct {
	Round         int
	Executor      string
	Hypothesis    string
	Effect        track.Effect
	Before, After float64
}

// keep remembers a gain; a step that was repeated after a crash tells it twice.
func (s *Scene) keep(g Gain) {
	for i, old := range s.Kept {
		if old.Round == g.Round && old.Executor == g.Executor {
			s.Kept[i] = g
			return
		}
	}
	s.Kept = append(s.Kept, g)
}

// record keeps a candidate for the chart, in the form of the track's own records.
func (s *Scene) record(round int, e *Entry, score *float64, winner bool) {
	r := track.RawRecord{Iteration: round, PlanID: e.PlanID, BenchmarkScore: score, IsWinner: winner, ApproachFamily: e.Family}
	if e.Effect != nil {
		r.SI = &track.RawMore{Effect: e.Effect}
	}
	s.stale = true
	for i, old := range s.records {
		if old.Key() == r.Key() {
			s.records[i] = r
			return
		}
	}
	s.records = append(s.records, r)
}
