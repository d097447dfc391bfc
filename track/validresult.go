package track

import "fmt"

// Categories are the categories of a failure.
func Categories() []Category {
	return []Category{
		CategoryOOM, CategoryTimeout, CategoryRegression, CategoryLogicError, CategoryScopeError,
		CategoryInfrastructure, CategoryParseError, CategorySealed,
	}
}

// Faults names every fault of a result.
func (r *Result) Faults() []string { return ValidateResult(*r) }

// ValidateResult names every fault of a benchmark result.
func ValidateResult(r Result) []string {
	f := &faults{}
	f.name("executor_id", r.ExecutorID)
	f.name("plan_id", r.PlanID)
	f.score("benchmark_score", r.BenchmarkScore)
	oneOf(f, "status", r.Status, ResultSuccess, ResultRegression, ResultError, ResultTimeout)
	if r.BenchmarkScore == nil && (r.Status == ResultSuccess || r.Status == ResultRegression) {
		f.add("benchmark_score", "missing: status %s means that the benchmark ran", r.Status)
	}
	f.subScores(r.SubScores)
	switch {
	case r.FailureAnalysis == nil && r.Status != ResultSuccess:
		f.add("failure_analysis", "missing: status is not success")
	case r.FailureAnalysis != nil && r.Status == ResultSuccess:
		f.add("failure_analysis", "want null: status is success")
	case r.FailureAnalysis != nil:
		f.within("failure_analysis", func() { r.FailureAnalysis.check(f) })
	}
	if r.Timestamp.IsZero() {
		f.add("timestamp", "missing")
	}
	if r.SI != nil && r.SI.Effect != nil {
		f.within("si.effect", func() { r.SI.Effect.check(f) })
	}
	return f.all()
}

// Faults names every fault of a failure analysis.
func (a *FailureAnalysis) Faults() []string {
	f := &faults{}
	a.check(f)
	return f.all()
}

func (a *FailureAnalysis) check(f *faults) {
	f.text("what", a.What)
	f.text("why", a.Why)
	oneOf(f, "category", a.Category, Categories()...)
	f.text("lesson", a.Lesson)
}

func (e *Effect) check(f *faults) {
	f.score("value", &e.Value)
	f.score("low", e.Low)
	f.score("high", e.High)
	f.score("p", e.P)
	f.atLeast("runs", e.Runs, 0)
}

// Faults names every fault of a history. A failure analysis is not asked of
// every loser: old tracks left it out.
func (h *History) Faults() []string {
	f := &faults{}
	f.atLeast("iteration", h.Iteration, 0)
	f.score("baseline_score", h.BaselineScore)
	if h.Winner != nil {
		f.within("winner", func() { h.Winner.check(f) })
	}
	for i := range h.Losers {
		f.within(fmt.Sprintf("losers[%d]", i), func() { h.Losers[i].check(f) })
	}
	f.within("si", func() {
		f.score("champion_score", h.SI.ChampionScore)
		f.score("delta", &h.SI.Delta)
		for i := range h.SI.Winners {
			f.within(fmt.Sprintf("winners[%d]", i), func() { h.SI.Winners[i].check(f) })
		}
	})
	return f.all()
}

func (h *HistoryItem) check(f *faults) {
	f.text("plan_id", h.PlanID)
	f.score("score", h.Score)
	f.subScores(h.SubScores)
	if h.FailureAnalysis != nil {
		f.within("failure_analysis", func() { optional(f, "category", h.FailureAnalysis.Category, Categories()...) })
	}
	if h.SI != nil && h.SI.Effect != nil {
		f.within("si.effect", func() { h.SI.Effect.check(f) })
	}
}

func (m *Merged) check(f *faults) {
	f.name("executor", m.Executor)
	f.text("plan_id", m.PlanID)
	f.score("score_before", &m.Before)
	f.score("score_after", &m.After)
	f.within("effect", func() { m.Effect.check(f) })
	f.subScores(m.SubScores)
}

// Faults names every fault of a merge report.
func (r *MergeReport) Faults() []string {
	f := &faults{}
	f.atLeast("iteration", r.Iteration, 0)
	f.text("goal_slug", r.GoalSlug)
	f.score("re_benchmark_score", r.ReBenchmarkScore)
	oneOf(f, "status", r.Status, MergeMerged, MergeNoImprovement, MergeNoWinner, MergeAllRejected)
	if r.Winner == nil && r.Status == MergeMerged {
		f.add("winner", "missing: status is merged")
	}
	if r.Winner != nil {
		f.within("winner", func() {
			f.text("executor_id", r.Winner.ExecutorID)
			f.score("score_before", &r.Winner.ScoreBefore)
			f.score("score_after", &r.Winner.ScoreAfter)
			f.subScores(r.Winner.SubScores)
		})
	}
	return f.all()
}
