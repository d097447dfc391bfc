package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// turn is one expected run of a backend.
type turn struct {
	prompt []string // texts that the prompt must hold
	log    string
	answer string
	err    error
}

// script plays a list of turns, and reports those that did not come.
type script struct {
	t     *testing.T
	turns []turn
}

func newScript(t *testing.T, turns ...turn) *script {
	t.Helper()
	s := &script{t, turns}
	t.Cleanup(func() {
		if len(s.turns) > 0 {
			t.Errorf("%d turns of the backend did not come", len(s.turns))
		}
	})
	return s
}

func (s *script) Run(_ context.Context, task Task) (Answer, error) {
	if len(s.turns) == 0 {
		s.t.Errorf("one run too many of %s", task.ID)
		return Answer{}, errors.New("unexpected")
	}
	turn := s.turns[0]
	s.turns = s.turns[1:]
	for _, want := range turn.prompt {
		if !strings.Contains(task.Prompt, want) {
			s.t.Errorf("the prompt of %s lacks %q:\n%s", task.ID, want, task.Prompt)
		}
	}
	if task.Log != turn.log {
		s.t.Errorf("log %q, want %q", task.Log, turn.log)
	}
	return Answer{Text: turn.answer}, turn.err
}

func newTeam(t *testing.T, b Backend) *Team {
	t.Helper()
	team, err := NewTeam(map[Role]Backend{Researcher: b, Planner: b, Architect: b, Critic: b, Executor: b})
	if err != nil {
		t.Fatal(err)
	}
	return team
}

// planJSON is a valid plan as a model answers it, with changed fields; a field
// set to nil is left out.
func planJSON(t *testing.T, change map[string]any) string {
	t.Helper()
	doc := map[string]any{
		"hypothesis": "Reusing the buffer helps", "approach_family": "optimization", "target_files": []string{"a.go"},
		"steps":             []any{map[string]any{"step": 1, "file": "a.go", "change": "reuse it"}},
		"expected_outcome":  map[string]any{"metric": "m", "estimated_impact": "+1 %", "rationale": "less work", "sub_score_expectations": nil},
		"history_reference": map[string]any{"builds_on": []string{}, "avoids": nil},
	}
	for key, value := range change {
		doc[key] = value
		if value == nil {
			delete(doc, key)
		}
	}
	data, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return "I think:\n```json\n" + string(data) + "\n```\n"
}

func TestPlanIdentityAndApprovalAreNotThePlanners(t *testing.T) {
	b := newScript(t, turn{prompt: []string{"You are planner_a"}, answer: planJSON(t, map[string]any{
		"plan_id": "round_99_planner_z", "planner_id": 7, "round": "four", "critic_approved": true,
		"critic_review":    map[string]any{"verdict": "approved"},
		"architect_review": "approve",
		"hypothesis":       " Reusing\n\x1b[31mthe buffer\x1b[0m helps ",
		"si":               map[string]any{"uses_ideas": true},
		"target_files":     []string{" ./a.go"},
	})})
	task := sampleTask(Planner, "planner_a")
	task.Facts.UserIdeas = ""
	p, err := newTeam(t, b).Plan(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	if p.PlanID != "round_4_planner_a" || p.PlannerID != "planner_a" || p.Round != 4 {
		t.Errorf("identity %s, %s, %d", p.PlanID, p.PlannerID, p.Round)
	}
	if p.CriticApproved || p.CriticReview != nil || p.ArchitectReview != nil {
		t.Error("a planner approved its own plan")
	}
	if p.SI != nil {
		t.Error("a planner that was given no ideas used some")
	}
	if p.Hypothesis != "Reusing the buffer helps" || !slices.Equal(p.TargetFiles, []string{"a.go"}) {
		t.Errorf("hypothesis %q, target files %q", p.Hypothesis, p.TargetFiles)
	}
	if p.HistoryReference.Avoids == nil || p.ExpectedOutcome.SubScoreExpectations == nil {
		t.Error("a null list stays null")
	}
}

func TestPlanUsesIdeas(t *testing.T) {
	b := newScript(t, turn{prompt: []string{"Try a lookup table."}, answer: planJSON(t, map[string]any{"si": map[string]any{"uses_ideas": true}})})
	p, err := newTeam(t, b).Plan(t.Context(), sampleTask(Planner, "planner_a"))
	if err != nil || p.SI == nil || !p.SI.UsesIdeas {
		t.Errorf("si %+v, error %v", p.SI, err)
	}
}

func TestOneRepairQuotesEveryFault(t *testing.T) {
	bad := planJSON(t, map[string]any{"hypothesis": "", "approach_family": "magic", "steps": "none", "target_files": []int{1}})
	b := newScript(t,
		turn{log: "/x/a.log", answer: bad},
		turn{
			prompt: []string{"hypothesis: ", "approach_family: ", `"magic"`, "steps: want a list, found string", "target_files: want a text, found number", "begin answer"},
			log:    "/x/a.repair.log", answer: planJSON(t, nil),
		})
	task := sampleTask(Planner, "planner_a")
	task.Log = "/x/a.log"
	if _, err := newTeam(t, b).Plan(t.Context(), task); err != nil {
		t.Error(err)
	}
}

func TestRepairTellsTheTaskAgainWhenThereIsNothingToRepair(t *testing.T) {
	b := newScript(t,
		turn{answer: "Sorry, I looked around only."},
		turn{prompt: []string{"no JSON object", "Sorry, I looked", "# The task again", "You are planner_a"}, answer: planJSON(t, nil)})
	if _, err := newTeam(t, b).Plan(t.Context(), sampleTask(Planner, "planner_a")); err != nil {
		t.Error(err)
	}
}

func TestSecondBadAnswerFails(t *testing.T) {
	b := newScript(t, turn{answer: "{}"}, turn{answer: `{"hypothesis": "\u001b[2Jx", "steps": [1,]}`})
	_, err := newTeam(t, b).Plan(t.Context(), sampleTask(Planner, "planner_a"))
	var answer *AnswerError
	if !errors.As(err, &answer) {
		t.Fatalf("error %v", err)
	}
	if answer.Role != Planner || answer.ID != "planner_a" || len(answer.Faults) != 1 || !strings.Contains(answer.Faults[0], "trailing comma") || answer.Answer == "" {
		t.Errorf("%+v", answer)
	}
	if KindOf(err) != FailAnswer || !strings.Contains(err.Error(), "trailing comma") {
		t.Errorf("kind %q, error %v", KindOf(err), err)
	}
}

func TestBackendFailures(t *testing.T) {
	idle := &Failure{Kind: FailIdle, Role: Planner, ID: "planner_a", What: "ended after 15m0s without output", Said: "\x1b[31mwaiting", Log: "/x/a.log"}
	for _, tc := range []struct {
		name string
		err  error
		kind FailureKind
		text string
	}{
		{"typed", idle, FailIdle, "run planner_a: ended after 15m0s without output; it said last: waiting; its output is in /x/a.log"},
		{"wrapped", fmt.Errorf("outer: %w", idle), FailIdle, "outer: run planner_a"},
		{"untyped", errors.New("nothing left to try"), FailAnswer, "nothing left to try"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newScript(t, turn{err: tc.err}) // one run: trying again is the loop's
			_, err := newTeam(t, b).Plan(t.Context(), sampleTask(Planner, "planner_a"))
			if KindOf(err) != tc.kind || !strings.Contains(err.Error(), tc.text) {
				t.Errorf("kind %q, error %v", KindOf(err), err)
			}
		})
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	b := newScript(t, turn{answer: "{}"})
	team := newTeam(t, cancelling{b, cancel})
	_, err := team.Plan(ctx, sampleTask(Planner, "planner_a"))
	if !errors.Is(err, context.Canceled) || KindOf(err) != "" {
		t.Errorf("a repair after the cancellation gives %v", err)
	}
	if err := team.Execute(ctx, sampleTask(Executor, "executor_a")); !errors.Is(err, context.Canceled) {
		t.Errorf("a start after the cancellation gives %v", err)
	}
}

// A backend that is cut off may report whatever it saw of that.
func TestAFailureByCancellationIsNotTheAgents(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	b := newScript(t, turn{err: &Failure{Kind: FailExit, ID: "planner_a", What: "ended by the signal SIGTERM"}})
	_, err := newTeam(t, cancelling{b, cancel}).Plan(ctx, sampleTask(Planner, "planner_a"))
	if !errors.Is(err, context.Canceled) || KindOf(err) != "" {
		t.Errorf("error %v, want the context's", err)
	}
}

// cancelling ends the context in the middle of its run.
type cancelling struct {
	Backend
	cancel context.CancelFunc
}

func (c cancelling) Run(ctx context.Context, t Task) (Answer, error) {
	c.cancel()
	return c.Backend.Run(ctx, t)
}

func TestExecuteTakesNoAnswer(t *testing.T) {
	b := newScript(t, turn{prompt: []string{"You are executor_a", "Reuse the buffer of the last token."}, answer: "done"})
	if err := newTeam(t, b).Execute(t.Context(), sampleTask(Executor, "executor_a")); err != nil {
		t.Error(err)
	}
}

func TestAGivenPromptIsKept(t *testing.T) {
	task := sampleTask(Planner, "planner_a")
	task.Prompt = "my own words"
	b := newScript(t, turn{prompt: []string{"my own words"}, answer: "nothing"}, turn{prompt: []string{"my own words"}, answer: planJSON(t, nil)})
	if _, err := newTeam(t, b).Plan(t.Context(), task); err != nil {
		t.Error(err)
	}
}

func TestNewTeamNamesTheMissingRole(t *testing.T) {
	_, err := NewTeam(map[Role]Backend{Researcher: newScript(t)})
	if err == nil || !strings.Contains(err.Error(), "planner") {
		t.Errorf("error %v", err)
	}
}
