package tuner_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"si/agents"
	"si/agents/tuner"
	"si/track"
)

// small is a repository with five knobs of five families.
func small() map[string]string {
	return map[string]string{
		"a.py":        "WORKERS = 4\nLEARNING_RATE = 0.1\nTREE_DEPTH = 6\nUSE_FILTER = True\n",
		"config.json": "{\"blockLength\": 64}\n",
	}
}

func constant(string) (float64, error) { return 100, nil }

func TestBriefKeepsTheContract(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"five knobs":         small(),
		"one knob":           {"a.py": "WORKERS = 4\n"},
		"one switch":         {"a.py": "QUUX_X = True\n"},
		"many of one family": {"a.py": "WORKERS = 4\nTHREADS = 4\nBUFFERS = 4\nCACHE = 4\nQUEUE = 4\nPOOL = 4\nPAGES = 4\nJOBS = 4\nSHARDS = 4\nARENA = 4\nCONNS = 4\nPROCS = 4\n"},
	} {
		p := newPlayer(t, files, 1, constant)
		brief, err := ask[track.Brief](t, p.task(agents.Researcher, "researcher", p.dir))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		faults := append(track.ValidateBrief(brief, track.Families()), track.ValidateBriefIdeas(brief)...)
		if len(faults) > 0 {
			t.Errorf("%s: %v", name, faults)
		}
	}
}

// The planners of a round differ in family and knob without seeing one another,
// and a repository with one knob leaves two of them without work.
func TestPlannersOfARoundDiffer(t *testing.T) {
	p := newPlayer(t, small(), 1, constant)
	families, knobs := map[string]bool{}, map[string]bool{}
	for _, id := range p.facts.Planners {
		plan, err := ask[track.Plan](t, p.task(agents.Planner, id, p.dir))
		if err != nil {
			t.Fatal(err)
		}
		if plan.PlannerID != id || families[plan.ApproachFamily] || knobs[plan.SI.Edit.Knob] {
			t.Errorf("%s: %s %s comes twice", id, plan.ApproachFamily, plan.SI.Edit.Knob)
		}
		families[plan.ApproachFamily], knobs[plan.SI.Edit.Knob] = true, true
	}
	p = newPlayer(t, map[string]string{"a.py": "WORKERS = 4\n"}, 1, constant)
	if _, err := ask[track.Plan](t, p.task(agents.Planner, "planner_a", p.dir)); err != nil {
		t.Error(err)
	}
	_, err := ask[track.Plan](t, p.task(agents.Planner, "planner_b", p.dir))
	if what := agents.Nothing(err); !errors.Is(err, tuner.ErrNothingLeft) || !strings.HasPrefix(what, "no other plan: ") {
		t.Errorf("planner_b has %q: %v", what, err)
	}
}

// When nothing helps, the search ends by itself and says so; no change comes twice.
func TestSearchEndsWhenNothingHelps(t *testing.T) {
	p := newPlayer(t, small(), 1, func(string) (float64, error) { return 100, nil })
	rounds := 0
	for rounds < 100 && p.round() {
		rounds++
	}
	if rounds == 100 || len(p.plans) < 15 {
		t.Errorf("%d rounds, %d plans", rounds, len(p.plans))
	}
	p.checkPlans()
}

func TestFamilyThatWonThreeTimesPauses(t *testing.T) {
	p := newPlayer(t, map[string]string{"a.py": "WORKERS = 4\nTREE_DEPTH = 6\n"}, 1, constant)
	p.facts.Planners = []string{"planner_a"}
	for i := range 3 {
		won := track.HistoryItem{PlanID: "w", ApproachFamily: "infrastructure", SI: &track.ItemMore{}}
		p.facts.History = append(p.facts.History, track.History{Iteration: i + 1, Winner: &won})
	}
	plan, err := ask[track.Plan](t, p.task(agents.Planner, "planner_a", p.dir))
	if err != nil || plan.ApproachFamily == "infrastructure" {
		t.Errorf("%s, %v", plan.ApproachFamily, err)
	}
	plan.ApproachFamily = "infrastructure"
	task := p.task(agents.Critic, "critic", p.dir)
	task.Facts.Plan = &plan
	review, err := ask[track.CriticReview](t, task)
	if err != nil || review.H002 != "fail" || review.Verdict != "rejected" || review.RejectionReason == nil {
		t.Errorf("%+v, %v", review, err)
	}
}

// history with one trial of WORKERS, from 4.
func tried(to, verdict string, score float64, effect *track.Effect, won bool) track.History {
	it := track.HistoryItem{PlanID: "round_1_planner_a", ApproachFamily: "infrastructure", Score: &score, SI: &track.ItemMore{
		Verdict: verdict, Effect: effect, Edit: &track.Edit{Path: "a.py", Knob: "a.py:WORKERS", Line: 1, Text: "WORKERS = 4", Column: 10, Old: "4", New: to},
	}}
	h := track.History{Iteration: 1, BaselineScore: new(100.0)}
	if won {
		h.Winner = &it
	} else {
		h.Losers = []track.HistoryItem{it}
	}
	return h
}

// elsewhere is a round that another kind of change won.
func elsewhere() track.History {
	return track.History{Iteration: 2, BaselineScore: new(100.0), Winner: &track.HistoryItem{PlanID: "round_2_planner_b", ApproachFamily: "data"}}
}

func TestSearchFollowsTheHistory(t *testing.T) {
	up, worse := &track.Effect{Value: 0.2}, &track.Effect{Value: -0.2}
	for name, c := range map[string]struct {
		now     string
		history []track.History
		want    string
	}{
		"a win goes on with a longer step":        {"8", []track.History{tried("8", "accepted", 120, up, true)}, "32"},
		"a loss turns round":                      {"4", []track.History{tried("8", "refused: worse", 80, worse, false)}, "2"},
		"a failure turns round":                   {"4", []track.History{{Losers: []track.HistoryItem{{PlanID: "x", SI: tried("2", "", 0, nil, false).Losers[0].SI}}}}, "8"},
		"faster but refused by a guard is a wall": {"4", []track.History{tried("8", "refused: guard \"tests\": failed", 150, nil, false), elsewhere()}, "2"},
		"better but not judged is taken up":       {"4", []track.History{tried("16", "refused: not judged: two winners", 150, nil, false), elsewhere()}, "17"},
		"two losses shorten the step":             {"4", []track.History{tried("8", "", 80, worse, false), tried("2", "", 80, worse, false)}, "3"},
		"the effect says more than the scores":    {"4", []track.History{tried("8", "refused: worse", 120, worse, false)}, "2"},
	} {
		p := newPlayer(t, map[string]string{"a.py": "WORKERS = " + c.now + "\n"}, 1, constant)
		p.facts.History = c.history
		plan, err := ask[track.Plan](t, p.task(agents.Planner, "planner_a", p.dir))
		if err != nil || plan.SI.Edit.New != c.want {
			t.Errorf("%s: %+v, %v; want %s", name, plan.SI, err, c.want)
		}
		if err == nil && len(plan.HistoryReference.BuildsOn)+len(plan.HistoryReference.Avoids) == 0 {
			t.Errorf("%s: the plan refers to nothing", name)
		}
	}
}

// The same scores mean a wall of the other side when lower is better: 8 did better
// than 4 and was not judged, so it is taken up, where else it lost.
func TestDirectionOfTheMetric(t *testing.T) {
	for direction, want := range map[track.Direction]string{track.LowerIsBetter: "9", track.HigherIsBetter: "2"} {
		p := newPlayer(t, map[string]string{"a.py": "WORKERS = 4\n"}, 1, constant)
		p.facts.Direction = direction
		p.facts.History = []track.History{tried("8", "refused: not judged: two winners", 50, nil, false), elsewhere()}
		if got := planFor(t, p).SI.Edit.New; got != want {
			t.Errorf("%s: %s, want %s", direction, got, want)
		}
	}
}

func TestUserIdeaNamesTheKnob(t *testing.T) {
	p := newPlayer(t, small(), 1, constant)
	others := map[string]bool{}
	for _, id := range p.facts.Planners[1:] {
		plan, err := ask[track.Plan](t, p.task(agents.Planner, id, p.dir))
		if err != nil {
			t.Fatal(err)
		}
		others[plan.ApproachFamily], others[plan.SI.Edit.Knob] = true, true
	}
	used := 0
	for idea, knob := range map[string]string{
		"try workers with 12 of them": "a.py:WORKERS", "set TREE_DEPTH to 12": "a.py:TREE_DEPTH", "blockLength: 12, please": "config.json:blockLength",
		"something with workersets": "", "rewrite it in another language": "",
	} {
		task := p.task(agents.Planner, "planner_a", p.dir)
		task.Facts.UserIdeas = idea
		plan, err := ask[track.Plan](t, task)
		if err != nil {
			t.Fatal(err)
		}
		e := plan.SI.Edit
		switch {
		case knob == "" || others[knob]:
			if plan.SI.UsesIdeas {
				t.Errorf("%q: claims to have used it for %s", idea, e.Knob)
			}
		case e.Knob != knob || e.New != "12" || !plan.SI.UsesIdeas:
			t.Errorf("%q: %s to %s, uses ideas %v", idea, e.Knob, e.New, plan.SI.UsesIdeas)
		default:
			used++
		}
		if others[plan.ApproachFamily] {
			t.Errorf("%q: the family %s is another planner's", idea, plan.ApproachFamily)
		}
	}
	if used == 0 {
		t.Error("no idea was used")
	}
}

func planFor(t *testing.T, p *player) track.Plan {
	t.Helper()
	plan, err := ask[track.Plan](t, p.task(agents.Planner, "planner_a", p.dir))
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func TestExecutorChangesExactlyThePlace(t *testing.T) {
	text := "WORKERS = 4\r\nOTHER = \"4\"\r\n"
	p := newPlayer(t, map[string]string{"a.py": text}, 1, constant)
	path := filepath.Join(p.dir, "a.py")
	if err := os.Chmod(path, 0o755); err != nil { //nolint:gosec // the mode is what is tested
		t.Fatal(err)
	}
	plan := planFor(t, p)
	task := p.task(agents.Executor, "executor_a", p.dir)
	task.Facts.Plan, task.Log = &plan, filepath.Join(t.TempDir(), "logs", "executor.log")
	for range 2 { // once more, as after a crash
		if _, err := tuner.New().Run(context.Background(), task); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if want := strings.Replace(text, "4", plan.SI.Edit.New, 1); string(got) != want {
			t.Fatalf("the file is %q, want %q", got, want)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if log, err := os.ReadFile(task.Log); err != nil || !strings.Contains(string(log), "WORKERS") {
		t.Errorf("log %q, %v", log, err)
	}
}

// The executor refuses, and the architect rejects for the same reason; the file
// stays as it is.
func TestExecutorRefuses(t *testing.T) {
	rewrite := func(text string) func(string, *track.Plan, *agents.Facts) error {
		return func(dir string, _ *track.Plan, _ *agents.Facts) error {
			return os.WriteFile(filepath.Join(dir, "a.py"), []byte(text), 0o644)
		}
	}
	edit := func(change func(*track.Edit)) func(string, *track.Plan, *agents.Facts) error {
		return func(_ string, p *track.Plan, _ *agents.Facts) error { change(p.SI.Edit); return nil }
	}
	for name, c := range map[string]struct {
		spoil func(dir string, plan *track.Plan, f *agents.Facts) error
		want  string
	}{
		"changed text":   {rewrite("WORKERS = 5\n"), "has changed"},
		"a shorter file": {rewrite("X"), "has changed"},
		"a file that is gone": {func(dir string, _ *track.Plan, _ *agents.Facts) error {
			return os.Remove(filepath.Join(dir, "a.py"))
		}, "look at the file"},
		"a link": {func(dir string, _ *track.Plan, _ *agents.Facts) error {
			a, b := filepath.Join(dir, "a.py"), filepath.Join(dir, "b.py")
			return errors.Join(os.Rename(a, b), os.Symlink("b.py", a))
		}, "is a link"},
		"sealed":         {func(_ string, _ *track.Plan, f *agents.Facts) error { f.Sealed = []string{"*.py"}; return nil }, "sealed or out of scope"},
		"out of scope":   {func(_ string, _ *track.Plan, f *agents.Facts) error { f.Goal.InScope = []string{"src/"}; return nil }, "sealed or out of scope"},
		"another file":   {func(_ string, p *track.Plan, _ *agents.Facts) error { p.TargetFiles = []string{"b.py"}; return nil }, "target files"},
		"outside":        {edit(func(e *track.Edit) { e.Path = "../a.py" }), "not a path inside"},
		"absolute":       {edit(func(e *track.Edit) { e.Path = "/etc/passwd" }), "not a path inside"},
		"not a value":    {edit(func(e *track.Edit) { e.New = "4\nimport os" }), "not one value"},
		"a column off":   {edit(func(e *track.Edit) { e.Column = 99 }), "does not fit"},
		"line nought":    {edit(func(e *track.Edit) { e.Line = 0 }), "does not fit"},
		"a line too far": {edit(func(e *track.Edit) { e.Line = 50 }), "no line 50"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlayer(t, map[string]string{"a.py": "WORKERS = 4\n"}, 1, constant)
			plan := planFor(t, p)
			if err := c.spoil(p.dir, &plan, &p.facts); err != nil {
				t.Fatal(err)
			}
			before, _ := os.ReadFile(filepath.Join(p.dir, "a.py"))
			task := p.task(agents.Executor, "executor_a", p.dir)
			task.Facts.Plan = &plan
			if _, err := tuner.New().Run(context.Background(), task); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("err = %v, want %q", err, c.want)
			}
			if after, _ := os.ReadFile(filepath.Join(p.dir, "a.py")); string(after) != string(before) {
				t.Errorf("the file was changed to %q", after)
			}
			task.Role = agents.Architect
			review, err := ask[track.ArchitectReview](t, task)
			if err != nil || review.Verdict != "reject" || !strings.Contains(review.Feedback, c.want) {
				t.Errorf("architect: %+v, %v", review, err)
			}
		})
	}
}

func TestExecutorWithoutAnEditSaysWhatToDo(t *testing.T) {
	p := newPlayer(t, small(), 1, constant)
	task := p.task(agents.Executor, "executor_a", p.dir)
	task.Facts.Plan = &track.Plan{PlanID: "round_1_planner_a", Hypothesis: "rewrite it"}
	if _, err := tuner.New().Run(context.Background(), task); err == nil || !strings.Contains(err.Error(), "another backend") {
		t.Errorf("err = %v", err)
	}
	task.Role = "poet"
	if _, err := tuner.New().Run(context.Background(), task); err == nil || !strings.Contains(err.Error(), "poet") {
		t.Errorf("err = %v", err)
	}
}

func TestReviewersJudgeByRule(t *testing.T) {
	p := newPlayer(t, small(), 1, constant)
	good := planFor(t, p)
	same := good
	same.PlanID = "round_1_planner_x"
	for name, c := range map[string]struct {
		spoil func(*track.Plan, *agents.Facts)
		field func(track.CriticReview) string
	}{
		"good":                {func(*track.Plan, *agents.Facts) {}, nil},
		"no hypothesis":       {func(p *track.Plan, _ *agents.Facts) { p.Hypothesis = "" }, func(r track.CriticReview) string { return r.H001 }},
		"family of a sibling": {func(_ *track.Plan, f *agents.Facts) { f.OtherPlans = []track.Plan{same} }, func(r track.CriticReview) string { return r.H003 }},
		"unknown family":      {func(p *track.Plan, _ *agents.Facts) { p.ApproachFamily = "magic" }, func(r track.CriticReview) string { return r.SchemaValid }},
		"no steps":            {func(p *track.Plan, _ *agents.Facts) { p.Steps = nil }, func(r track.CriticReview) string { return r.SchemaValid }},
		"tried before": {func(p *track.Plan, f *agents.Facts) {
			f.History = []track.History{{Losers: []track.HistoryItem{{PlanID: "x", SI: &track.ItemMore{Edit: p.SI.Edit}}}}}
		}, func(r track.CriticReview) string { return r.HistoryAware }},
		"tried in words": {func(p *track.Plan, f *agents.Facts) {
			p.SI = nil
			f.History = []track.History{{Losers: []track.HistoryItem{{PlanID: "x", Hypothesis: strings.ToUpper(p.Hypothesis)}}}}
		}, func(r track.CriticReview) string { return r.HistoryAware }},
	} {
		plan := good
		task := p.task(agents.Critic, "critic", p.dir)
		c.spoil(&plan, &task.Facts)
		task.Facts.Plan = &plan
		r, err := ask[track.CriticReview](t, task)
		if err != nil || len(r.Faults()) > 0 {
			t.Fatalf("%s: %v, %v", name, err, r.Faults())
		}
		if bad := c.field != nil; (r.Verdict == "rejected") != bad || bad && (c.field(r) != "fail" || r.RejectionReason == nil) {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// A critic that rejects a plan leaves no trial behind; the next round must not
// bring the same plan again.
func TestRejectedPlanDoesNotComeForEver(t *testing.T) {
	p := newPlayer(t, small(), 1, constant)
	p.facts.Planners = []string{"planner_a"}
	seen := map[string]bool{}
	for i := range 4 {
		plan := planFor(t, p)
		seen[plan.SI.Edit.Knob] = true
		p.facts.History = append(p.facts.History, track.History{Iteration: i + 1, SI: track.HistoryMore{
			RejectedPlans: []track.Skip{{ID: plan.PlanID, Reason: "the critic does not like it"}},
		}})
	}
	if len(seen) < 3 {
		t.Errorf("in 4 rounds only %v were proposed", seen)
	}
}

// A switch that was better behind two winners is asked for once more, and not
// again when that is rejected as a repetition.
func TestUnjudgedSwitchComesOnceMore(t *testing.T) {
	p := newPlayer(t, map[string]string{"a.py": "USE_FILTER = True\n"}, 1, constant)
	first := planFor(t, p)
	item := track.HistoryItem{PlanID: first.PlanID, Score: new(150.0), SI: &track.ItemMore{Edit: first.SI.Edit, Verdict: "refused: not judged: two winners"}}
	p.facts.History = []track.History{{Iteration: 1, BaselineScore: new(100.0), Losers: []track.HistoryItem{item}}, elsewhere()}
	if second := planFor(t, p); second.SI.Edit.New != first.SI.Edit.New {
		t.Errorf("second plan: %+v", second.SI.Edit)
	}
	p.facts.History = append(p.facts.History, track.History{Iteration: 3, SI: track.HistoryMore{
		RejectedPlans: []track.Skip{{ID: "x", Reason: "the plan is equal to " + first.PlanID + ", which was tried"}},
	}})
	if _, err := ask[track.Plan](t, p.task(agents.Planner, "planner_a", p.dir)); !errors.Is(err, tuner.ErrNothingLeft) {
		t.Errorf("after the rejection: %v", err)
	}
}
