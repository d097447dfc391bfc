package agents

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"si/track"
)

// sampleTask is a task with every fact, for any role.
func sampleTask(role Role, id string) Task {
	best, before := 104.25, 100.0
	lesson := &track.FailureAnalysis{What: "score 97.1 against 100", Why: "cache misses", Category: track.CategoryRegression, Lesson: "keep the table small"}
	plan := samplePlan()
	return Task{
		Role: role, ID: id, Round: 4, Dir: "/workspace/round_4",
		Facts: Facts{
			Goal: Goal{
				Text: "# Objective\nMake parsing faster.\n", Objective: "Make parsing faster",
				InScope: []string{"parser/**"}, OutScope: []string{"parser/vendor/"},
			},
			Harness:   Harness{Text: "# Rules\n- H001: one hypothesis a plan\n"},
			Families:  []string{"architecture", "data", "optimization", "other"},
			Sealed:    []string{"bench/", "bench.sh"},
			Command:   "./bench.sh",
			Metric:    "rows_per_second",
			Direction: track.HigherIsBetter,
			BestScore: &best,
			History: []track.History{
				{Iteration: 1, BaselineScore: &before, Losers: []track.HistoryItem{
					{PlanID: "round_1_planner_b", ApproachFamily: "data", Hypothesis: "A larger table helps", Score: new(97.1), FailureAnalysis: lesson},
				}},
				wonRound(2, "optimization"), wonRound(3, "optimization"),
			},
			Brief: &track.Brief{Iteration: 4, ResearcherID: "researcher", RepoAnalysisSummary: "The lexer dominates.", Ideas: []track.Idea{
				{Title: "Avoid copies", Source: "parser/lex.go:12", Evidence: "profile", ApproachFamily: "architecture", Confidence: "high", EstimatedImpact: "+3 %"},
			}},
			Plan:       &plan,
			OtherPlans: []track.Plan{plan},
			Planners:   []string{"planner_a", "planner_b", "planner_c"},
			UserIdeas:  "Try a lookup table.\n",
		},
	}
}

func samplePlan() track.Plan {
	return track.Plan{
		PlanID: "round_4_planner_a", PlannerID: "planner_a", Round: 4,
		Hypothesis: "Reusing the token buffer raises rows_per_second because it saves an allocation a token", ApproachFamily: "architecture",
		TargetFiles: []string{"parser/lex.go"}, Steps: []track.PlanStep{{Step: 1, File: "parser/lex.go", Change: "Reuse the buffer of the last token."}},
		ExpectedOutcome:  track.ExpectedOutcome{Metric: "rows_per_second", EstimatedImpact: "+3 %", Rationale: "fewer allocations", SubScoreExpectations: map[string]string{}},
		HistoryReference: track.HistoryReference{BuildsOn: []string{}, Avoids: []string{}},
		ArchitectReview:  &track.ArchitectReview{Verdict: "approve", Feedback: "clear", StructuralConcerns: []string{}},
	}
}

func wonRound(n int, family string) track.History {
	score := 100 + float64(n)
	return track.History{Iteration: n, BaselineScore: new(score - 1), Winner: &track.HistoryItem{
		PlanID: "round_" + string(rune('0'+n)) + "_planner_a", ApproachFamily: family, Hypothesis: "Fewer branches help", Score: &score,
		SI: &track.ItemMore{Effect: &track.Effect{Value: 0.0125}},
	}}
}

func render(t *testing.T, task Task) string {
	t.Helper()
	prompts, err := NewPrompts()
	if err != nil {
		t.Fatal(err)
	}
	text, err := prompts.Render(task)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// UPDATE_GOLDEN=1 go test writes the goldens anew.
func TestPromptsGolden(t *testing.T) {
	for role, id := range map[Role]string{
		Researcher: "researcher", Planner: "planner_a", Architect: "architect_a", Critic: "critic_a", Executor: "executor_a",
	} {
		t.Run(string(role), func(t *testing.T) {
			compareGolden(t, "prompt_"+string(role)+".golden", render(t, sampleTask(role, id)))
		})
	}
	t.Run("first round, nothing known", func(t *testing.T) {
		task := Task{Role: Planner, ID: "planner_b", Round: 1, Dir: "/workspace/round_1", Facts: Facts{
			Families: track.Families(), Command: "make bench", Metric: "primary", Direction: track.LowerIsBetter,
		}}
		compareGolden(t, "prompt_planner_bare.golden", render(t, task))
	})
	t.Run("repair", func(t *testing.T) {
		prompts, err := NewPrompts()
		if err != nil {
			t.Fatal(err)
		}
		task := sampleTask(Planner, "planner_a")
		task.Facts.UserIdeas = ""
		text, err := prompts.repair(task, finding{object: "{}", near: `{"hypothesis": "", "steps": []}`, faults: []string{"hypothesis: missing", "steps: missing"}})
		if err != nil {
			t.Fatal(err)
		}
		compareGolden(t, "prompt_repair.golden", text)
	})
}

func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s differs; look at it and run with UPDATE_GOLDEN=1:\n%s", name, got)
	}
}

// A program that only echoes its prompt must not be taken for one that answers.
func TestExamplesAreNoAnswers(t *testing.T) {
	task := sampleTask(Planner, "planner_a")
	for _, ideas := range []string{"", "an idea"} {
		task.Facts.UserIdeas = ideas
		task.Role = Planner
		if _, f := planContract(task).parse(render(t, task)); len(f.faults) == 0 {
			t.Error("the planner's example is accepted as a plan")
		}
	}
	task.Role = Researcher
	if _, f := briefContract(task).parse(render(t, task)); len(f.faults) == 0 {
		t.Error("the researcher's example is accepted as a brief")
	}
	task.Role = Architect
	if _, f := architectContract().parse(render(t, task)); len(f.faults) == 0 {
		t.Error("the architect's example is accepted as a review")
	}
	task.Role = Critic
	if _, f := criticContract().parse(render(t, task)); len(f.faults) == 0 {
		t.Error("the critic's example is accepted as a review")
	}
}

// An echo of the planner's prompt also holds the plans of others.
func TestExamplesAreReadable(t *testing.T) {
	task := sampleTask(Architect, "architect_a")
	f := extract(render(t, task), []string{"verdict", "feedback"})
	if !json.Valid([]byte(f.object)) || !strings.Contains(f.object, "<approve or reject>") {
		t.Errorf("the example that is shown is not the shape that is read: %q", f.object)
	}
}

func TestExecutorsSeeNoHistory(t *testing.T) {
	text := render(t, sampleTask(Executor, "executor_a"))
	for _, secret := range []string{"97.1", "Fewer branches", "A larger table", "lookup table", "The lexer dominates"} {
		if strings.Contains(text, secret) {
			t.Errorf("the executor's prompt holds %q", secret)
		}
	}
}

func TestPromptsAreBounded(t *testing.T) {
	big := strings.Repeat("word \x1b[31m\u202e\n", 1<<15)
	many := make([]string, 1000)
	for i := range many {
		many[i] = big[:500]
	}
	for _, role := range []Role{Planner, Critic} { // between them they show every fact
		task := sampleTask(role, "x")
		f := &task.Facts
		f.Goal = Goal{Text: big, Objective: big, InScope: many, OutScope: many}
		f.Harness.Text, f.Command, f.UserIdeas, f.Sealed = big, big, big, many
		f.Plan.Hypothesis, f.Brief.RepoAnalysisSummary = big, big
		for range 8 {
			f.OtherPlans = append(f.OtherPlans, *f.Plan)
			f.History = append(f.History, wonRound(5, big[:1000]))
		}
		text := render(t, task)
		if len(text) > 400<<10 {
			t.Errorf("%s: %d bytes", role, len(text))
		}
		if strings.ContainsAny(text, "\x1b\u202e") {
			t.Errorf("%s: a control character passes", role)
		}
	}
}
