package agents

import (
	"encoding/json"
	"strings"
	"testing"

	"si/track"
)

func ideaJSON(family, confidence string) string {
	return `{"title":"t\n2","source":"s","evidence":"e","approach_family":"` + family + `","confidence":"` + confidence + `","estimated_impact":"unknown"}`
}

func briefJSON(ideas ...string) string {
	return `{"iteration": 77, "researcher_id": "me", "repo_analysis_summary": "sum\u202e", "ideas": [` + strings.Join(ideas, ",") + `]}`
}

func TestBrief(t *testing.T) {
	text := briefJSON(ideaJSON("data", "low"), ideaJSON("optimization", " High"), ideaJSON("data", "medium"), ideaJSON("other", "high"))
	b, f := briefContract(sampleTask(Researcher, "researcher")).parse(text)
	if len(f.faults) > 0 {
		t.Fatal(f.faults)
	}
	if b.Iteration != 4 || b.ResearcherID != "researcher" {
		t.Errorf("identity %d, %s", b.Iteration, b.ResearcherID)
	}
	if b.RepoAnalysisSummary != "sum<U+202E>" || b.Ideas[0].Title != "t 2" {
		t.Errorf("texts are not cleaned: %q, %q", b.RepoAnalysisSummary, b.Ideas[0].Title)
	}
	for i, want := range []string{"optimization", "other", "data", "data"} {
		if b.Ideas[i].ApproachFamily != want {
			t.Errorf("idea %d is of %s, want %s: high confidence first", i, b.Ideas[i].ApproachFamily, want)
		}
	}
}

func TestBriefFaults(t *testing.T) {
	high := ideaJSON("data", "high")
	for _, tc := range []struct{ name, in, want string }{
		{"too few", briefJSON(high, ideaJSON("other", "low")), "ideas: want 3 to 10"},
		{"one family", briefJSON(high, high, high), "at least two"},
		{"unknown family", briefJSON(high, high, ideaJSON("magic", "low")), "magic"},
		{"unknown confidence", briefJSON(high, ideaJSON("other", "sure"), high), "confidence"},
		{"ideas of another type", `{"repo_analysis_summary": "s", "ideas": {"a": 1}}`, "ideas: want a list, found object"},
		{"a field twice", `{"repo_analysis_summary": "s", "repo_analysis_summary": "s2", "ideas": []}`, "repo_analysis_summary: stands twice"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, f := briefContract(sampleTask(Researcher, "researcher")).parse(tc.in)
			if !strings.Contains(strings.Join(f.faults, "; "), tc.want) {
				t.Errorf("faults %q, want %q", f.faults, tc.want)
			}
		})
	}
}

func TestPlanFaults(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change map[string]any
		want   string
	}{
		{"no steps", map[string]any{"steps": []any{}}, "steps: "},
		{"a long hypothesis", map[string]any{"hypothesis": strings.Repeat("x", 501)}, "hypothesis: has 501 characters"},
		{"a path out of the tree", map[string]any{"target_files": []string{"../x"}}, "target_files[0]: "},
		{"an absolute path in a step", map[string]any{"steps": []any{map[string]any{"file": "/etc/passwd", "change": "x"}}}, "steps[0].file: "},
		{"git's own folder", map[string]any{"target_files": []string{"a/.git/config"}}, "target_files[0]: "},
		{"a nested type", map[string]any{"expected_outcome": map[string]any{"metric": 1, "estimated_impact": "none", "rationale": "x"}}, "expected_outcome.metric: want a text, found number, at /expected_outcome/metric"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, f := planContract(sampleTask(Planner, "planner_a")).parse(planJSON(t, tc.change))
			if len(f.faults) != 1 || !strings.HasPrefix(f.faults[0], tc.want) {
				t.Errorf("faults %q, want %q alone", f.faults, tc.want)
			}
		})
	}
}

// The tuner's edit has to match the file byte by byte.
func TestPlanKeepsItsEdit(t *testing.T) {
	want := track.Edit{Path: "a.go", Knob: "size", Line: 3, Text: "\tsize = 8 \u200b", Column: 8, Old: "8", New: "16"}
	data, err := json.Marshal(track.PlanMore{Edit: &want})
	if err != nil {
		t.Fatal(err)
	}
	p, f := planContract(sampleTask(Planner, "planner_a")).parse(planJSON(t, map[string]any{"si": json.RawMessage(data)}))
	if len(f.faults) > 0 || p.SI == nil || p.SI.Edit == nil || *p.SI.Edit != want {
		t.Errorf("si %+v, faults %q", p.SI, f.faults)
	}
}

func TestArchitect(t *testing.T) {
	for _, tc := range []struct{ name, in, verdict, fault string }{
		{"approve", `{"verdict": "approve", "feedback": "ok", "structural_concerns": null}`, "approve", ""},
		{"the critic's word", `{"verdict": "Rejected", "feedback": "vague"}`, "reject", ""},
		{"no reason", `{"verdict": "reject", "feedback": " "}`, "", "feedback: "},
		{"another word", `{"verdict": "maybe", "feedback": "x"}`, "", `verdict: want approve or reject, found "maybe"`},
		{"in the plan", `{"hypothesis": "h", "architect_review": {"verdict": "approve", "feedback": "ok"}}`, "approve", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, f := architectContract().parse(tc.in)
			checkReview(t, f.faults, tc.fault, r.Verdict, tc.verdict)
			if r.StructuralConcerns == nil {
				t.Error("structural_concerns is null")
			}
		})
	}
}

func TestCritic(t *testing.T) {
	for _, tc := range []struct{ name, in, verdict, fault string }{
		{"approved", `{"h001_hypothesis_count": "pass", "history_aware": "Pass", "verdict": "approved", "rejection_reason": null}`, "approved", ""},
		{"rejected", `{"h001_hypothesis_count": "fail", "history_aware": "pass", "verdict": "reject", "rejection_reason": "two"}`, "rejected", ""},
		{"rejected by its h002", `{"h001_hypothesis_count": "pass", "h002_family_streak": "fail", "history_aware": "pass", "verdict": "rejected", "rejection_reason": "streak"}`, "rejected", ""},
		{"approved with a fail", `{"h001_hypothesis_count": "fail", "history_aware": "pass", "verdict": "approved"}`, "", "verdict: is approved although"},
		{"rejected without a fail", `{"h001_hypothesis_count": "pass", "history_aware": "pass", "verdict": "rejected", "rejection_reason": "bold"}`, "", "verdict: is rejected although"},
		{"no reason", `{"h001_hypothesis_count": "fail", "history_aware": "pass", "verdict": "rejected", "rejection_reason": ""}`, "", "rejection_reason: "},
		{"a check of another word", `{"h001_hypothesis_count": "yes", "history_aware": "pass", "verdict": "approved"}`, "", `h001_hypothesis_count: want pass or fail, found "yes"`},
		{"a missing check", `{"h001_hypothesis_count": "pass", "verdict": "approved"}`, "", "history_aware: want pass or fail"},
		{"another verdict", `{"h001_hypothesis_count": "pass", "history_aware": "pass", "verdict": "approvedd"}`, "", "verdict: want approved or rejected"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, f := criticContract().parse(tc.in)
			checkReview(t, f.faults, tc.fault, r.Verdict, tc.verdict)
		})
	}
}

func checkReview(t *testing.T, faults []string, fault, verdict, want string) {
	t.Helper()
	if fault == "" && (len(faults) > 0 || verdict != want) {
		t.Errorf("verdict %q, faults %q; want %q", verdict, faults, want)
	}
	if fault != "" && (len(faults) != 1 || !strings.HasPrefix(faults[0], fault)) {
		t.Errorf("faults %q, want %q alone", faults, fault)
	}
}
