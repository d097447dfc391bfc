package tuner_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"si/agents"
	"si/agents/tuner"
	"si/track"
)

// player plays rounds in a folder as the loop does in a repository: plans, rules,
// executors, a tournament with two winners at most, and a history with
// the gaps that the loop's has.
type player struct {
	t        *testing.T
	dir      string
	facts    agents.Facts
	score    func(dir string) (float64, error)
	guard    func(dir string) error // nil for none
	best     float64
	rejected []string
	plans    []track.Plan
}

func newPlayer(t *testing.T, files map[string]string, seed uint64, score func(string) (float64, error)) *player {
	t.Helper()
	p := &player{t: t, dir: t.TempDir(), score: score}
	writeFiles(t, p.dir, files)
	p.facts = agents.Facts{
		Seed: seed, Families: track.Families(), Metric: "primary", Direction: track.HigherIsBetter,
		Planners: []string{"planner_a", "planner_b", "planner_c"},
	}
	p.best = p.mustScore()
	return p
}

func (p *player) mustScore() float64 {
	p.t.Helper()
	s, err := p.score(p.dir)
	if err != nil {
		p.t.Fatalf("the start does not run: %v", err)
	}
	return s
}

func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// entrant is a candidate of one round.
type entrant struct {
	plan  track.Plan
	item  track.HistoryItem
	score float64
}

func (p *player) task(role agents.Role, id, dir string) agents.Task {
	return agents.Task{Role: role, ID: id, Round: len(p.facts.History) + 1, Dir: dir, Facts: p.facts}
}

// ask plays a role and decodes the answer.
func ask[T any](t *testing.T, task agents.Task) (T, error) {
	t.Helper()
	var v T
	a, err := tuner.New().Run(context.Background(), task)
	if err != nil {
		return v, err
	}
	if err := json.Unmarshal([]byte(a.Text), &v); err != nil {
		t.Fatalf("%s answered what is not JSON: %v\n%s", task.ID, err, a.Text)
	}
	return v, nil
}

// round plays one round; false when no planner has anything left.
func (p *player) round() bool {
	p.t.Helper()
	h := track.History{Iteration: len(p.facts.History) + 1, BaselineScore: new(p.best)}
	var field []entrant
	for _, plan := range p.planRound(&h) {
		field = append(field, p.execute(plan))
	}
	if len(field) == 0 {
		return false
	}
	p.judge(field, &h)
	p.facts.History = append(p.facts.History, h)
	return true
}

// planRound asks every planner and keeps the plans that the rules of the program
// approve.
func (p *player) planRound(h *track.History) []track.Plan {
	p.t.Helper()
	var approved []track.Plan
	for _, id := range p.facts.Planners {
		plan, err := ask[track.Plan](p.t, p.task(agents.Planner, id, p.dir))
		if errors.Is(err, tuner.ErrNothingLeft) {
			continue
		}
		if err != nil {
			p.t.Fatal(err)
		}
		p.plans = append(p.plans, plan)
		verdict := agents.RuleFaults(plan, agents.RuleInput{Families: p.facts.Families, History: p.facts.History, Earlier: approved})
		if !verdict.Approved() {
			why := strings.Join(verdict.Reasons(), "; ")
			if len(verdict.Reasons()) > 1 || verdict.Novel.Pass() || plan.SI.Edit.New != "true" && plan.SI.Edit.New != "false" {
				p.rejected = append(p.rejected, plan.PlanID+": "+why) // a switch may ask once more
			}
			h.SI.RejectedPlans = append(h.SI.RejectedPlans, track.Skip{ID: plan.PlanID, Reason: why})
			continue
		}
		approved = append(approved, plan)
	}
	return approved
}

// execute carries a plan out, measures it, and puts the tree back.
func (p *player) execute(plan track.Plan) entrant {
	p.t.Helper()
	path := filepath.Join(p.dir, plan.SI.Edit.Path)
	before, err := os.ReadFile(path)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() {
		if err := os.WriteFile(path, before, 0o644); err != nil {
			p.t.Error(err)
		}
	}()
	task := p.task(agents.Executor, strings.Replace(plan.PlannerID, "planner", "executor", 1), p.dir)
	task.Facts.Plan = &plan
	if _, err := tuner.New().Run(context.Background(), task); err != nil {
		p.t.Fatal(err)
	}
	e := entrant{plan: plan, item: track.HistoryItem{
		PlanID: plan.PlanID, ApproachFamily: plan.ApproachFamily, Hypothesis: plan.Hypothesis,
		SI: &track.ItemMore{Edit: plan.SI.Edit},
	}}
	score, err := p.score(p.dir)
	if err != nil {
		e.item.FailureAnalysis = &track.FailureAnalysis{What: err.Error(), Category: track.CategoryLogicError}
		return e
	}
	e.score, e.item.Score = score, &score
	return e
}

// judge is the tournament of a deterministic benchmark.
func (p *player) judge(field []entrant, h *track.History) {
	p.t.Helper()
	start := p.best
	sort.SliceStable(field, func(i, j int) bool { return field[i].score > field[j].score })
	var winners []entrant
	for i := range field {
		e := &field[i]
		switch {
		case e.item.Score == nil:
		case e.score <= start:
			e.item.FailureAnalysis = &track.FailureAnalysis{What: "not ahead", Category: track.CategoryRegression}
			e.item.SI.Verdict = "refused: not ahead of the champion"
		case len(winners) == 2:
			e.item.SI.Verdict = "refused: not judged: the round has its two winners"
		case p.accept(e, len(winners) == 0):
			winners = append(winners, *e)
			h.SI.Winners = append(h.SI.Winners, track.Merged{PlanID: e.plan.PlanID})
			continue
		}
		h.Losers = append(h.Losers, e.item)
	}
	if len(winners) > 0 {
		h.Winner = &winners[len(winners)-1].item
	}
}

// accept merges a candidate when it passes the guard and is better than the
// champion of the moment. The first one's tree was measured already.
func (p *player) accept(e *entrant, first bool) bool {
	p.t.Helper()
	edit := *e.plan.SI.Edit
	path := filepath.Join(p.dir, edit.Path)
	before, err := os.ReadFile(path)
	if err != nil {
		p.t.Fatal(err)
	}
	lines := strings.Split(string(before), "\n")
	if lines[edit.Line-1] != edit.Text {
		e.item.SI.Verdict = "refused: it conflicts with the champion"
		return false
	}
	lines[edit.Line-1] = edit.Text[:edit.Column] + edit.New + edit.Text[edit.Column+len(edit.Old):]
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		p.t.Fatal(err)
	}
	if p.guard != nil {
		if err := p.guard(p.dir); err != nil {
			e.item.SI.Verdict = "refused: guard: " + err.Error()
		}
	}
	score := e.score
	if !first {
		if score, err = p.score(p.dir); err != nil {
			score = 0
		}
	}
	effect := score/p.best - 1
	if e.item.SI.Verdict == "" {
		e.item.SI.Effect = &track.Effect{Value: effect}
	}
	if effect <= 0 || e.item.SI.Verdict != "" {
		if err := os.WriteFile(path, before, 0o644); err != nil {
			p.t.Fatal(err)
		}
		return false
	}
	p.best = score
	return true
}

// checkPlans fails the test when a change came twice, or planners of a round chose
// one family.
func (p *player) checkPlans() {
	p.t.Helper()
	changes, families := map[string]string{}, map[string]bool{}
	for _, plan := range p.plans {
		e := plan.SI.Edit
		change := e.Knob + " " + e.Old + " " + e.New
		if old, ok := changes[change]; ok && !p.unjudged(old) {
			p.t.Errorf("%s repeats %s: %s", plan.PlanID, old, change)
		}
		changes[change] = plan.PlanID
		family := fmt.Sprint(plan.Round, plan.ApproachFamily)
		if families[family] {
			p.t.Errorf("%s: a second plan of the family %s", plan.PlanID, plan.ApproachFamily)
		}
		families[family] = true
		if faults := track.ValidatePlan(plan, p.facts.Families); len(faults) > 0 {
			p.t.Errorf("%s: %v", plan.PlanID, faults)
		}
	}
	if len(p.rejected) > 0 {
		p.t.Errorf("plans rejected by rule: %s", strings.Join(p.rejected, "; "))
	}
}

// unjudged reports whether a candidate was better and stood behind two winners:
// the one change that may come again as it is.
func (p *player) unjudged(planID string) bool {
	for _, h := range p.facts.History {
		for _, it := range h.Losers {
			if it.PlanID == planID {
				return strings.Contains(it.SI.Verdict, "not judged")
			}
		}
	}
	return false
}
