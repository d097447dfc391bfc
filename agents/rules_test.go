package agents

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"si/track"
)

func history(families ...string) []track.History {
	var all []track.History
	for i, family := range families {
		h := wonRound(i+1, family)
		if family == "" {
			h.Winner = nil
		}
		all = append(all, h)
	}
	return all
}

func TestBarred(t *testing.T) {
	second := wonRound(3, "data") // its first winner stands among the losers
	second.Losers = []track.HistoryItem{{PlanID: "p1", ApproachFamily: "optimization"}, {PlanID: "p2", ApproachFamily: "other"}}
	second.SI.Winners = []track.Merged{{PlanID: "p1"}, {PlanID: second.Winner.PlanID}}
	for _, tc := range []struct {
		name    string
		history []track.History
		want    []string
	}{
		{"no history", nil, nil},
		{"two in a row", history("data", "data"), nil},
		{"three in a row", history("other", "data", "data", "data"), []string{"data"}},
		{"interrupted by another", history("data", "data", "other"), nil},
		{"interrupted by a round without a winner", history("data", "data", "", "data"), nil},
		{"only the last three count", history("data", "data", "data", "other"), nil},
		{"as one of two winners", append(history("optimization", "optimization"), second), []string{"optimization"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := Barred(tc.history); !slices.Equal(got, tc.want) {
				t.Errorf("barred %q, want %q", got, tc.want)
			}
		})
	}
}

func TestRuleFaults(t *testing.T) {
	inf := track.HistoryItem{FailureAnalysis: &track.FailureAnalysis{Category: track.CategoryInfrastructure}}
	edit := track.Edit{Path: "parser/lex.go", Knob: "size", Line: 3, Text: "size = 8", Column: 7, Old: "8", New: "16"}
	moved := edit
	moved.Line, moved.Text = 9, "size = 8 // moved"
	other := edit
	other.New = "32"
	tried := func(id string, e *track.Edit, more track.HistoryItem) []track.History {
		more.PlanID, more.SI = id, &track.ItemMore{Edit: e}
		return []track.History{{Iteration: 1, Losers: []track.HistoryItem{more}}}
	}
	worded := samplePlan()
	worded.PlanID, worded.Hypothesis = "round_1_planner_a", "reusing the token buffer raises rows_per_second, because it saves an allocation a token."
	exists := func(path string) bool { return path == "parser/lex.go" }
	for _, tc := range []struct {
		name   string
		change func(*track.Plan)
		in     RuleInput
		want   string // the failed rules
	}{
		{"nothing wrong", nil, RuleInput{Families: []string{"architecture"}, Exists: exists, InScope: exists, Sealed: func(p string) bool { return !exists(p) }}, ""},
		{"schema", func(p *track.Plan) { p.Steps = nil }, RuleInput{}, "schema"},
		{"family unknown", nil, RuleInput{Families: []string{"data"}}, "schema"},
		{"h002", nil, RuleInput{History: history("architecture", "architecture", "architecture")}, "h002"},
		{"h003", nil, RuleInput{Earlier: []track.Plan{{PlanID: "round_4_planner_z", ApproachFamily: "architecture"}}}, "h003"},
		{"another family of the round", nil, RuleInput{Earlier: []track.Plan{{ApproachFamily: "data"}}}, ""},
		{"out of scope", nil, RuleInput{InScope: func(string) bool { return false }}, "scope"},
		{"missing", nil, RuleInput{Exists: func(string) bool { return false }}, "scope"},
		{"to be created", func(p *track.Plan) { p.Steps[0].Change = "This creates the pool." }, RuleInput{Exists: func(string) bool { return false }}, ""},
		{"renew is not new", func(p *track.Plan) { p.Steps[0].Change = "renewal of addenda" }, RuleInput{Exists: func(string) bool { return false }}, "scope"},
		{"a step's file counts", func(p *track.Plan) { p.Steps[0].File = "./bench/run.go" }, RuleInput{Sealed: func(p string) bool { return p == "bench/run.go" }}, "sealed"},
		{"a path with a detour", func(p *track.Plan) { p.TargetFiles = []string{"parser//lex.go"} }, RuleInput{}, "scope"},
		{"a path of another system", func(p *track.Plan) { p.TargetFiles = []string{`parser\lex.go`} }, RuleInput{}, "scope"},
		{"out of the tree", func(p *track.Plan) { p.TargetFiles = []string{"../lex.go"} }, RuleInput{}, "schema scope"},
		{"a submodule's git file", func(p *track.Plan) { p.TargetFiles = []string{"sub/.git"} }, RuleInput{}, "schema scope"},
		{"the same edit", func(p *track.Plan) { p.SI = &track.PlanMore{Edit: &edit} }, RuleInput{History: tried("round_1_planner_a", &moved, track.HistoryItem{})}, "novel"},
		{"another value", func(p *track.Plan) { p.SI = &track.PlanMore{Edit: &edit} }, RuleInput{History: tried("round_1_planner_a", &other, track.HistoryItem{})}, ""},
		{"not tried, the machinery failed", func(p *track.Plan) { p.SI = &track.PlanMore{Edit: &edit} }, RuleInput{History: tried("round_1_planner_a", &edit, inf)}, ""},
		{"the same words", nil, RuleInput{History: tried("round_1_planner_a", nil, track.HistoryItem{}), Tried: []track.Plan{worded}}, "novel"},
		{"the same words, other steps", func(p *track.Plan) { p.Steps[0].Change = "Pool the buffers." }, RuleInput{History: tried("round_1_planner_a", nil, track.HistoryItem{}), Tried: []track.Plan{worded}}, ""},
		{"the same words, never run", nil, RuleInput{Tried: []track.Plan{worded}}, ""},
		{"equal to an earlier plan of the round", func(p *track.Plan) { p.ApproachFamily = "data" }, RuleInput{Earlier: []track.Plan{worded}}, "novel"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := samplePlan()
			if tc.change != nil {
				tc.change(&p)
			}
			v := RuleFaults(p, tc.in)
			if got := failedRules(v); got != tc.want {
				t.Errorf("failed %q, want %q: %q", got, tc.want, v.Reasons())
			}
			if v.Approved() != (tc.want == "") {
				t.Error("Approved disagrees with the rules")
			}
		})
	}
}

func failedRules(v RuleVerdict) string {
	var failed []string
	for _, rule := range []struct {
		name  string
		check Check
	}{{"schema", v.Schema}, {"h002", v.H002}, {"h003", v.H003}, {"scope", v.Scope}, {"sealed", v.Sealed}, {"novel", v.Novel}} {
		if !rule.check.Pass() {
			failed = append(failed, rule.name)
		}
	}
	return strings.Join(failed, " ")
}

func TestNormal(t *testing.T) {
	for _, pair := range [][2]string{{"Raise  SIZE, to 1.5!", "raise size to 1.5"}, {"a . b.", "a b"}} {
		if normal(pair[0]) != pair[1] {
			t.Errorf("normal(%q) = %q, want %q", pair[0], normal(pair[0]), pair[1])
		}
	}
	if normal("size to 15") == normal("size to 1.5") || normal("use -1") == normal("use 1") {
		t.Error("other numbers make another hypothesis")
	}
}

func TestReview(t *testing.T) {
	bad := Check{[]string{"approach_family: won"}}
	no := func(reason, h001, aware string) *track.CriticReview {
		return &track.CriticReview{H001: h001, HistoryAware: aware, H002: fail, Verdict: rejected, RejectionReason: &reason}
	}
	for _, tc := range []struct {
		name   string
		rules  RuleVerdict
		critic *track.CriticReview
		want   string
	}{
		{"no critic", RuleVerdict{}, nil, "pass pass pass pass pass approved -"},
		{"the critic's h002 does not count", RuleVerdict{}, no("streak", pass, pass), "pass pass pass pass pass approved -"},
		{"h001 is the critic's", RuleVerdict{}, no("two hypotheses", fail, pass), "fail pass pass pass pass rejected two hypotheses"},
		{"a rule rejects what a critic approves", RuleVerdict{H002: bad}, &track.CriticReview{H001: pass, HistoryAware: pass, Verdict: approved}, "pass fail pass pass pass rejected approach_family: won"},
		{"scope has no field of its own", RuleVerdict{Scope: bad}, nil, "pass pass pass pass pass rejected approach_family: won"},
		{"a repeat is not aware of history", RuleVerdict{Novel: bad}, nil, "pass pass pass pass fail rejected approach_family: won"},
		{"both", RuleVerdict{Schema: bad}, no("two", fail, fail), "fail pass pass fail fail rejected approach_family: won; two"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := tc.rules.Review(tc.critic)
			reason := "-"
			if r.RejectionReason != nil {
				reason = *r.RejectionReason
			}
			if got := fmt.Sprint(r.H001, " ", r.H002, " ", r.H003, " ", r.SchemaValid, " ", r.HistoryAware, " ", r.Verdict, " ", reason); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
			if faults := r.Faults(); len(faults) > 0 {
				t.Errorf("the recorded review is not valid: %q", faults)
			}
		})
	}
}
