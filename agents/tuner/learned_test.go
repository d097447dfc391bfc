package tuner_test

import (
	"strings"
	"testing"

	"si/agents"
	"si/agents/tuner"
)

const (
	notTwice = "Estimate the cost first. It happened in 3 runs or commits: Setting batch in config.json from 8 to 16 does not work; Setting batch in config.json from 4 to 8 does not work."
	notHalf  = "Setting batch in config.json from 8 to 4 does not work."
)

// proposes plays one planner for a number in config.json, and returns the values that
// it would set in so many rounds in which nothing is tried.
func proposes(t *testing.T, refuted ...string) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for seed := range uint64(20) {
		p := newPlayer(t, map[string]string{"config.json": "{\n  \"batch\": 8\n}\n"}, seed, constant)
		p.facts.Planners, p.facts.Learned.Refuted = []string{"planner_a"}, refuted
		out[planFor(t, p).SI.Edit.New] = true
	}
	return out
}

// TestLearnedNotToWork: a value that the repository learned not to work is proposed in
// no track any more, though this one never tried it.
func TestLearnedNotToWork(t *testing.T) {
	if got := proposes(t); !got["16"] || !got["4"] {
		t.Fatalf("without knowledge it would try %v, want both sides", got)
	}
	if got := proposes(t, notTwice); got["16"] || !got["4"] || len(got) != 1 {
		t.Errorf("with 16 refuted it tries %v", got)
	}
	got := proposes(t, notTwice, notHalf)
	if got["16"] || got["4"] || len(got) == 0 {
		t.Errorf("with both refuted it tries %v, want values between", got)
	}
	if got := proposes(t, "Setting batch in other.json from 8 to 16 does not work", "Setting batch in config.json from 8 to many does not work"); !got["16"] {
		t.Errorf("another file's value counts: %v", got)
	}
}

// TestPlansReferToPlansOnly: what was learned is no plan that can be built on.
func TestPlansReferToPlansOnly(t *testing.T) {
	p := newPlayer(t, map[string]string{"config.json": "{\n  \"batch\": 8\n}\n"}, 1, constant)
	p.facts.Planners, p.facts.Learned.Refuted = []string{"planner_a"}, []string{notTwice}
	plan := planFor(t, p)
	if len(plan.HistoryReference.Avoids)+len(plan.HistoryReference.BuildsOn) != 0 {
		t.Errorf("%+v", plan.HistoryReference)
	}
}

// TestTheTunerReports: a verdict on each entry that it was given, before its document.
func TestTheTunerReports(t *testing.T) {
	p := newPlayer(t, map[string]string{"config.json": "{\n  \"batch\": 8\n}\n"}, 1, constant)
	p.facts.Planners = []string{"planner_a"}
	p.facts.Learned = agents.Learned{
		Brief:   "### Knowledge brief (.si/knowledge, 2 of 2 entries)\n- **[K-1]** (gotcha, 0.80) " + notTwice + "\n- **[K-2]** (fact, 0.80) Tea is warm.\n",
		Report:  "Say it in one line:\nKnowledge: K-1 <verdict>; K-2 <verdict>\nwhere K-1 is an entry.",
		Refuted: []string{notTwice},
	}
	for role, want := range map[agents.Role]string{
		agents.Planner:    "Knowledge: K-1 helped; K-2 unused\n{",
		agents.Researcher: "Knowledge: K-1 helped; K-2 unused\n{",
	} {
		answer, err := tuner.New().Run(t.Context(), p.task(role, "planner_a", p.dir))
		if err != nil || !strings.HasPrefix(answer.Text, want) {
			t.Errorf("%s: %.200q, %v", role, answer.Text, err)
		}
	}
	task := p.task(agents.Executor, "executor_a", p.dir)
	p.facts.Learned.Report = "" // its answer is nothing but the plan then
	plan := planFor(t, p)
	task.Facts.Plan = &plan
	if answer, err := tuner.New().Run(t.Context(), task); err != nil || !strings.HasPrefix(answer.Text, "Knowledge: K-1 unused; K-2 unused\nSet ") {
		t.Errorf("%q, %v", answer.Text, err)
	}
}
