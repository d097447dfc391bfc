package track

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// faultCase sets one thing wrong and wants one fault.
type faultCase[T any] struct {
	name  string
	spoil func(*T)
	want  string
}

func checkFaults[T any](t *testing.T, good func() T, faultsOf func(T) []string, cases []faultCase[T]) {
	t.Helper()
	if faults := faultsOf(good()); len(faults) > 0 {
		t.Fatalf("the good document has faults: %v", faults)
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			doc := good()
			c.spoil(&doc)
			faults := faultsOf(doc)
			if len(faults) != 1 || !strings.HasPrefix(faults[0], c.want) {
				t.Errorf("got %q, want one fault %q", faults, c.want)
			}
		})
	}
}

func mustDecode[T any](text string) T {
	var v T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		panic(err)
	}
	return v
}

func TestValidatePlan(t *testing.T) {
	good := func() Plan { return mustDecode[Plan](goodPlan()) }
	of := func(p Plan) []string { return ValidatePlan(p, []string{"data", "simd"}) }
	checkFaults(t, good, of, []faultCase[Plan]{
		{"no id", func(p *Plan) { p.PlanID = "" }, "plan_id: missing"},
		{"id of another round", func(p *Plan) { p.Round = 2 }, `plan_id: "round_1_planner_a" does not name its round`},
		{"no hypothesis", func(p *Plan) { p.Hypothesis = " \n" }, "hypothesis: missing"},
		{"endless hypothesis", func(p *Plan) { p.Hypothesis = strings.Repeat("x", maxProse+1) }, "hypothesis: 65537 bytes"},
		{"zero byte in the hypothesis", func(p *Plan) { p.Hypothesis = "a\x00b" }, "hypothesis: it holds a zero byte"},
		{"no family", func(p *Plan) { p.ApproachFamily = "" }, "approach_family: missing"},
		{"unknown family", func(p *Plan) { p.ApproachFamily = "magic" }, `approach_family: "magic" is none of data, simd`},
		{"no files", func(p *Plan) { p.TargetFiles = nil }, "target_files: missing"},
		{"file that leads out", func(p *Plan) { p.TargetFiles = []string{"a", "b/../../c"} }, `target_files[1]: the path "b/../../c"`},
		{"file with an escape code", func(p *Plan) { p.TargetFiles = []string{"a\x1b[0m"} }, "target_files[0]: the path"},
		{"no steps", func(p *Plan) { p.Steps = nil }, "steps: missing"},
		{"step without a number", func(p *Plan) { p.Steps[0].Step = 0 }, "steps[0].step: missing"},
		{"step without a file", func(p *Plan) { p.Steps[0].File = "" }, "steps[0].file: missing"},
		{"step without a change", func(p *Plan) { p.Steps[0].Change = "" }, "steps[0].change: missing"},
		{"no metric", func(p *Plan) { p.ExpectedOutcome.Metric = "" }, "expected_outcome.metric: missing"},
		{"no impact", func(p *Plan) { p.ExpectedOutcome.EstimatedImpact = "" }, "expected_outcome.estimated_impact: missing"},
		{"no rationale", func(p *Plan) { p.ExpectedOutcome.Rationale = "" }, "expected_outcome.rationale: missing"},
		{"verdict of the critic", func(p *Plan) {
			p.CriticReview = &CriticReview{"pass", "pass", "fail", "pass", "pass", "maybe", nil}
		}, `critic_review.verdict: "maybe" is none of approved, rejected`},
		{"check of the critic", func(p *Plan) {
			p.CriticReview = &CriticReview{"pass", "", "fail", "pass", "pass", "rejected", nil}
		}, "critic_review.h002_family_streak: missing"},
		{"verdict of the architect", func(p *Plan) { p.ArchitectReview = &ArchitectReview{Verdict: "approved"} }, "architect_review.verdict"},
		{"edit beside its line", func(p *Plan) {
			p.SI = &PlanMore{Edit: &Edit{Path: "a", Line: 1, Text: "x = 1", Column: 3, Old: "1"}}
		}, "si.edit.column: the line does not hold"},
		{"edit behind its line", func(p *Plan) {
			p.SI = &PlanMore{Edit: &Edit{Path: "a", Line: 1, Text: "x", Column: 30, Old: "1"}}
		}, "si.edit.column: the line does not hold"},
	})
}

func TestValidatePlanHostileIDs(t *testing.T) {
	p := mustDecode[Plan](goodPlan())
	p.PlannerID, p.PlanID = "../x", "round_1_../x"
	faults := ValidatePlan(p, nil)
	if len(faults) != 2 || !strings.HasPrefix(faults[0], `plan_id: "round_1_../x" is no id`) || !strings.HasPrefix(faults[1], `planner_id: "../x" is no id`) {
		t.Errorf("got %q", faults)
	}
}

func TestValidatePlanBounds(t *testing.T) {
	p := Plan{Steps: make([]PlanStep, 100_000), TargetFiles: make([]string, 100_000)}
	if n := len(ValidatePlan(p, nil)); n != maxFaults+1 {
		t.Errorf("%d faults are reported, want %d and a count", n, maxFaults)
	}
}

func TestValidateBrief(t *testing.T) {
	good := func() Brief {
		return Brief{Iteration: 1, ResearcherID: "r", RepoAnalysisSummary: "s", Ideas: []Idea{{"t", "s", "e", "data", "high", "unknown"}}}
	}
	of := func(b Brief) []string { return ValidateBrief(b, []string{"data"}) }
	checkFaults(t, good, of, []faultCase[Brief]{
		{"iteration", func(b *Brief) { b.Iteration = -1 }, "iteration: -1 is less than 0"},
		{"researcher", func(b *Brief) { b.ResearcherID = "" }, "researcher_id: missing"},
		{"summary", func(b *Brief) { b.RepoAnalysisSummary = "" }, "repo_analysis_summary: missing"},
		{"title", func(b *Brief) { b.Ideas[0].Title = "" }, "ideas[0].title: missing"},
		{"source", func(b *Brief) { b.Ideas[0].Source = "" }, "ideas[0].source: missing"},
		{"evidence", func(b *Brief) { b.Ideas[0].Evidence = "" }, "ideas[0].evidence: missing"},
		{"family", func(b *Brief) { b.Ideas[0].ApproachFamily = "x" }, "ideas[0].approach_family: \"x\""},
		{"confidence", func(b *Brief) { b.Ideas[0].Confidence = "sure" }, "ideas[0].confidence: \"sure\" is none of high, medium, low"},
	})
	ideas := func(c ...string) (b Brief) {
		for i, confidence := range c {
			b.Ideas = append(b.Ideas, Idea{ApproachFamily: fmt.Sprint("f", i%2), Confidence: confidence})
		}
		return b
	}
	checkFaults(t, func() Brief { return ideas("high", "high", "low") }, ValidateBriefIdeas, []faultCase[Brief]{
		{"too few", func(b *Brief) { *b = ideas("high", "low") }, "ideas: want 3 to 10, found 2"},
		{"too many", func(b *Brief) { *b = ideas(strings.Fields(strings.Repeat("high ", 11))...) }, "ideas: want 3 to 10, found 11"},
		{"order", func(b *Brief) { *b = ideas("low", "high", "low") }, "ideas[1].confidence: high stands below"},
		{"one family", func(b *Brief) { b.Ideas[1].ApproachFamily = "f0" }, "ideas: all are of one approach family"},
	})
}

func TestValidateResult(t *testing.T) {
	good := func() Result { return mustDecode[Result](goodResult()) }
	failed := &FailureAnalysis{"w", "y", CategoryOOM, "l"}
	checkFaults(t, good, ValidateResult, []faultCase[Result]{
		{"no executor", func(r *Result) { r.ExecutorID = "" }, "executor_id: missing"},
		{"hostile executor", func(r *Result) { r.ExecutorID = "a/../b" }, `executor_id: "a/../b" is no id`},
		{"no plan", func(r *Result) { r.PlanID = "" }, "plan_id: missing"},
		{"NaN", func(r *Result) { *r.BenchmarkScore = nan() }, "benchmark_score: NaN is not a finite number"},
		{"success without a score", func(r *Result) { r.BenchmarkScore = nil }, "benchmark_score: missing"},
		{"no status", func(r *Result) { r.Status, r.FailureAnalysis = "", failed }, "status: missing"},
		{"unknown status", func(r *Result) { r.Status, r.FailureAnalysis = "great", failed }, `status: "great" is none of success`},
		{"NaN among the sub-scores", func(r *Result) { r.SubScores = SubScore{"a": nan()} }, "sub_scores: a: NaN"},
		{"error without an analysis", func(r *Result) { r.Status = ResultError }, "failure_analysis: missing"},
		{"success with one", func(r *Result) { r.FailureAnalysis = failed }, "failure_analysis: want null"},
		{"half an analysis", func(r *Result) {
			r.Status, r.FailureAnalysis = ResultTimeout, &FailureAnalysis{"w", "", CategoryTimeout, "l"}
		}, "failure_analysis.why: missing"},
		{"unknown category", func(r *Result) {
			r.Status, r.FailureAnalysis = ResultError, &FailureAnalysis{"w", "y", "bad luck", "l"}
		}, `failure_analysis.category: "bad luck" is none of oom`},
		{"no time", func(r *Result) { r.Timestamp = Result{}.Timestamp }, "timestamp: missing"},
	})
}

func TestSettingsFaults(t *testing.T) {
	of := func(s Settings) []string { return s.Faults() }
	checkFaults(t, DefaultSettings, of, []faultCase[Settings]{
		{"no agents", func(s *Settings) { s.NumberOfAgents = 0 }, "number_of_agents: 0 is less than 1"},
		{"too many agents", func(s *Settings) { s.NumberOfAgents = 1 << 30 }, "number_of_agents: "},
		{"no critics", func(s *Settings) { s.NumberOfMaxCritics = -1 }, "number_of_max_critics: -1"},
		{"hostile slug", func(s *Settings) { s.TopicSlug = "../x" }, "topic_slug: "},
		{"no branch", func(s *Settings) { s.TargetBranch = "" }, "target_branch: missing"},
		{"branch like an option", func(s *Settings) { s.TargetBranch = "--upload-pack=x" }, "target_branch: "},
		{"branch with a blank", func(s *Settings) { s.TargetBranch = "a b" }, "target_branch: "},
		{"zero byte in the command", func(s *Settings) { s.BenchmarkCommand = "a\x00" }, "benchmark_command: "},
		{"format", func(s *Settings) { s.BenchmarkFormat = "xml" }, `benchmark_format: "xml" is none of json`},
		{"direction", func(s *Settings) { s.BenchmarkDirection = "up" }, `benchmark_direction: "up"`},
		{"metric", func(s *Settings) { s.PrimaryMetric = "" }, "primary_metric: missing"},
		{"iterations", func(s *Settings) { s.MaxIterations = -5 }, "max_iterations: -5"},
		{"threshold", func(s *Settings) { s.PlateauThreshold.Value = -1 }, "plateau_threshold: -1"},
		{"window", func(s *Settings) { s.PlateauWindow = 0 }, "plateau_window: 0"},
		{"target", func(s *Settings) { s.TargetValue = ptr(nan()) }, "target_value: NaN"},
		{"sealed path", func(s *Settings) { s.SealedFiles = []string{"a", ""} }, "sealed_files[1]: missing"},
		{"sealed path outside", func(s *Settings) { s.SealedFiles = []string{"../a"} }, "sealed_files[0]: the path"},
		{"regression", func(s *Settings) { s.RegressionThreshold = -0.1 }, "regression_threshold: -0.1"},
		{"breaker", func(s *Settings) { s.CircuitBreakerThreshold = 0 }, "circuit_breaker_threshold: 0"},
		{"wall", func(s *Settings) { s.SI.Agents.WallSeconds = -1 }, "si.agents.wall_seconds: -1"},
		{"variable", func(s *Settings) { s.SI.Agents.Env = []string{"A=b"} }, "si.agents.env[0]: "},
		{"selection", func(s *Settings) { s.SI.Measure.Selection = "best" }, "si.measure.selection: "},
		{"alpha", func(s *Settings) { s.SI.Measure.Alpha = 0.9 }, "si.measure.alpha: 0.9 is not below"},
		{"result file", func(s *Settings) { s.SI.Benchmark.ResultFiles = []string{"/tmp/x"} }, "si.benchmark.result_files[0]: "},
		{"empty guard", func(s *Settings) { s.SI.Guards = []GuardOption{{}} }, "si.guards[0].command: missing"},
		{"guard of both", func(s *Settings) { s.SI.Guards = []GuardOption{{Command: "a", Metric: "b", Bound: "<= 1"}} }, "si.guards[0].metric: "},
		{"guard without a bound", func(s *Settings) { s.SI.Guards = []GuardOption{{Metric: "b"}} }, "si.guards[0].bound: missing"},
		{"link", func(s *Settings) { s.SI.Links = []LinkOption{{Path: "..", Mode: "copy"}} }, "si.linked_paths[0].path: "},
		{"link mode", func(s *Settings) { s.SI.Links = []LinkOption{{Path: "a", Mode: "move"}} }, "si.linked_paths[0].mode: "},
		{"isolation", func(s *Settings) { s.SI.Isolation = "none" }, "si.isolation: "},
		{"file size", func(s *Settings) { s.SI.MaxFileMB = -1 }, "si.max_file_mb: -1"},
		{"budget", func(s *Settings) { s.SI.Budget.WallHours = -1 }, "si.budget.wall_hours: -1"},
	})
}

func TestStateFaults(t *testing.T) {
	slug := "a/b"
	checkFaults(t, func() AgentSettings { return AgentSettings{Status: StatusIdle} }, func(a AgentSettings) []string { return a.Faults() }, []faultCase[AgentSettings]{
		{"iterations", func(a *AgentSettings) { a.Iterations = -1 }, "iterations: -1"},
		{"best", func(a *AgentSettings) { a.BestScore = ptr(nan()) }, "best_score: NaN"},
		{"plateau", func(a *AgentSettings) { a.PlateauConsecutiveCount = -1 }, "plateau_consecutive_count: -1"},
		{"breaker", func(a *AgentSettings) { a.CircuitBreakerCount = -1 }, "circuit_breaker_count: -1"},
		{"status", func(a *AgentSettings) { a.Status = "asleep" }, `status: "asleep"`},
		{"goal slug", func(a *AgentSettings) { a.GoalSlug = &slug }, `goal_slug: "a/b" is no id`},
		{"sigma", func(a *AgentSettings) { a.SI.Sigma = -1 }, "si.sigma: -1"},
	})
	state := func() IterationState {
		return IterationState{Status: MarkInProgress, Planning: PlanningState{Plans: map[string]PlanState{}}, Execution: ExecutionState{Executors: map[string]ExecutorState{}}}
	}
	checkFaults(t, state, func(s IterationState) []string { return s.Faults() }, []faultCase[IterationState]{
		{"status", func(s *IterationState) { s.Status = "" }, "status: missing"},
		{"step", func(s *IterationState) { s.CurrentStep = "lunch" }, `current_step: "lunch"`},
		{"part", func(s *IterationState) { s.Research.Status = "x" }, `research.status: "x"`},
		{"hostile planner", func(s *IterationState) { s.Planning.Plans["../x"] = PlanState{} }, "planning.plans.../x: "},
		{"plan", func(s *IterationState) { s.Planning.Plans["planner_a"] = PlanState{Status: "x"} }, "planning.plans.planner_a.status: "},
		{"executor", func(s *IterationState) {
			s.Execution.Executors["executor_a"] = ExecutorState{BenchmarkScore: ptr(nan())}
		}, "execution.executors.executor_a.benchmark_score: NaN"},
		{"winner", func(s *IterationState) { s.Tournament.WinnerScore = ptr(nan()) }, "tournament.winner_score: NaN"},
		{"merge", func(s *IterationState) { s.SI.Merges = []Merged{{Executor: "e", PlanID: "p", Before: nan()}} }, "si.merges[0].score_before: NaN"},
	})
}

func TestRecordFaults(t *testing.T) {
	history := func() History { return History{Losers: []HistoryItem{{PlanID: "p"}}} }
	checkFaults(t, history, func(h History) []string { return h.Faults() }, []faultCase[History]{
		{"loser", func(h *History) { h.Losers[0].PlanID = "" }, "losers[0].plan_id: missing"},
		{"winner", func(h *History) { h.Winner = &HistoryItem{PlanID: "p", Score: ptr(nan())} }, "winner.score: NaN"},
		{"category", func(h *History) { h.Losers[0].FailureAnalysis = &FailureAnalysis{Category: "x"} }, "losers[0].failure_analysis.category: "},
		{"delta", func(h *History) { h.SI.Delta = nan() }, "si.delta: NaN"},
	})
	report := func() MergeReport { return MergeReport{GoalSlug: "g", Status: MergeNoWinner} }
	checkFaults(t, report, func(r MergeReport) []string { return r.Faults() }, []faultCase[MergeReport]{
		{"goal", func(r *MergeReport) { r.GoalSlug = "" }, "goal_slug: missing"},
		{"status", func(r *MergeReport) { r.Status = "won" }, `status: "won"`},
		{"merged without a winner", func(r *MergeReport) { r.Status = MergeMerged }, "winner: missing"},
		{"score", func(r *MergeReport) { r.Winner = &MergeWinner{ExecutorID: "e", ScoreAfter: nan()} }, "winner.score_after: NaN"},
	})
	change := func() ChangeEvent { return ChangeEvent{Timestamp: testTime(), EventType: "config_change"} }
	checkFaults(t, change, func(e ChangeEvent) []string { return e.Faults() }, []faultCase[ChangeEvent]{
		{"time", func(e *ChangeEvent) { e.Timestamp = ChangeEvent{}.Timestamp }, "timestamp: missing"},
		{"type", func(e *ChangeEvent) { e.EventType = "x" }, `event_type: "x"`},
	})
	raw := func() RawRecord { return RawRecord{PlanID: "p"} }
	checkFaults(t, raw, func(r RawRecord) []string { return r.Faults() }, []faultCase[RawRecord]{
		{"plan", func(r *RawRecord) { r.PlanID = "" }, "plan_id: missing"},
		{"effect", func(r *RawRecord) { r.SI = &RawMore{Effect: &Effect{Value: nan()}} }, "si.effect.value: NaN"},
	})
}

func TestValidateFiles(t *testing.T) {
	dir := t.TempDir()
	plan, result := filepath.Join(dir, "plan.json"), filepath.Join(dir, "result.json")
	write(t, plan, goodPlan())
	write(t, result, goodResult())
	in := ValidateInput{Plan: plan, Result: result, Families: []string{"data"}}
	if faults, err := Validate(in); err != nil || len(faults) > 0 {
		t.Errorf("good files: %v, %v", faults, err)
	}
	write(t, plan, strings.NewReplacer(`"critic_approved": false, `, "", `"change": "c"`, `"change": ""`, `"data"`, `"magic"`).Replace(goodPlan()))
	write(t, result, strings.Replace(goodResult(), `"success"`, `"error"`, 1))
	want := []string{
		plan + `:2: approach_family: "magic" is none of data`,
		plan + ":2: steps[0].change: missing",
		plan + ": critic_approved: missing",
		result + ":2: failure_analysis: missing: status is not success",
	}
	if faults, err := Validate(in); err != nil || !reflect.DeepEqual(faults, want) {
		t.Errorf("got  %q\nwant %q\n%v", faults, want, err)
	}
	write(t, plan, "{")
	if faults, err := Validate(ValidateInput{Plan: plan}); err != nil || len(faults) != 1 || !strings.Contains(faults[0], plan+":1: not valid JSON") {
		t.Errorf("broken plan: %v, %v", faults, err)
	}
	if _, err := Validate(ValidateInput{Plan: filepath.Join(dir, "none")}); err == nil {
		t.Error("an absent file is no error")
	}
}
