package track

import "fmt"

// Statuses are the states of a track.
func Statuses() []Status {
	return []Status{
		StatusIdle, StatusRunning, StatusUserStopped, StatusTargetReached, StatusPlateau,
		StatusMaxIterations, StatusCircuitBreaker, StatusBudget, StatusFailed,
	}
}

// Steps are the steps of a round, in order.
func Steps() []Step {
	return []Step{StepResearch, StepPlanning, StepCriticReview, StepExecution, StepTournament, StepRecording, StepStopCheck}
}

// Faults names every fault of the run-time state.
func (a *AgentSettings) Faults() []string {
	f := &faults{}
	f.atLeast("iterations", a.Iterations, 0)
	f.score("best_score", a.BestScore)
	f.atLeast("plateau_consecutive_count", a.PlateauConsecutiveCount, 0)
	f.atLeast("circuit_breaker_count", a.CircuitBreakerCount, 0)
	oneOf(f, "status", a.Status, Statuses()...)
	if a.GoalSlug != nil {
		f.name("goal_slug", *a.GoalSlug)
	}
	f.within("si", func() {
		f.atLeast("recorded_round", a.SI.RecordedRound, 0)
		f.number("sigma", a.SI.Sigma)
		optional(f, "noise_mode", a.SI.NoiseMode, "deterministic", "quasi-deterministic", "noisy")
		f.number("tolerance", a.SI.Tolerance)
		f.number("longest_run_s", a.SI.LongestRun)
	})
	return f.all()
}

// Faults names every fault of the state of a round. Parts that an old track has
// not reached are empty.
func (s *IterationState) Faults() []string {
	f := &faults{}
	f.atLeast("iteration", s.Iteration, 0)
	oneOf(f, "status", s.Status, marks()...)
	optional(f, "current_step", s.CurrentStep, Steps()...)
	optional(f, "research.status", s.Research.Status, marks()...)
	optional(f, "planning.status", s.Planning.Status, marks()...)
	f.atLeast("planning.approved_count", s.Planning.ApprovedCount, 0)
	for _, id := range sortedNames(s.Planning.Plans) {
		f.within("planning.plans", func() {
			f.name(clip(id, 60), id)
			optional(f, clip(id, 60)+".status", s.Planning.Plans[id].Status, marks()...)
		})
	}
	optional(f, "execution.status", s.Execution.Status, marks()...)
	for _, id := range sortedNames(s.Execution.Executors) {
		e := s.Execution.Executors[id]
		f.within("execution.executors", func() {
			f.name(clip(id, 60), id)
			optional(f, clip(id, 60)+".status", e.Status, marks()...)
			f.score(clip(id, 60)+".benchmark_score", e.BenchmarkScore)
		})
	}
	optional(f, "tournament.status", s.Tournament.Status, marks()...)
	f.score("tournament.winner_score", s.Tournament.WinnerScore)
	optional(f, "recording.status", s.Recording.Status, marks()...)
	for i := range s.SI.Merges {
		f.within(fmt.Sprintf("si.merges[%d]", i), func() { s.SI.Merges[i].check(f) })
	}
	return f.all()
}

func marks() []Mark {
	return []Mark{MarkPending, MarkInProgress, MarkCompleted, MarkFailed, MarkInterrupted}
}

// Faults names every fault of the baseline.
func (b *Baseline) Faults() []string {
	f := &faults{}
	f.score("baseline_score", &b.Score)
	return f.all()
}

// Faults names every fault of a candidate's record.
func (r *RawRecord) Faults() []string {
	f := &faults{}
	f.atLeast("iteration", r.Iteration, 0)
	f.text("plan_id", r.PlanID)
	f.score("benchmark_score", r.BenchmarkScore)
	f.subScores(r.SubScores)
	if r.SI != nil && r.SI.Effect != nil {
		f.within("si.effect", func() { r.SI.Effect.check(f) })
	}
	return f.all()
}

// Faults names every fault of a change.
func (e *ChangeEvent) Faults() []string {
	f := &faults{}
	if e.Timestamp.IsZero() {
		f.add("timestamp", "missing")
	}
	oneOf(f, "event_type", e.EventType, "config_change", "phase_transition")
	f.atLeast("iteration", e.Iteration, 0)
	return f.all()
}
