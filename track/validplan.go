package track

import (
	"fmt"
	"slices"
	"strings"
)

// The bounds of a brief and of a plan's lists.
const (
	minIdeas = 3
	maxIdeas = 10
	maxItems = 200
)

// Faults checks a brief by itself, with any family.
func (b *Brief) Faults() []string { return ValidateBrief(*b, nil) }

// ValidateBrief names every fault of a brief. Families are those that an idea
// may have; nil allows any.
func ValidateBrief(b Brief, families []string) []string {
	f := &faults{}
	f.atLeast("iteration", b.Iteration, 0)
	f.text("researcher_id", b.ResearcherID)
	f.text("repo_analysis_summary", b.RepoAnalysisSummary)
	f.atMost("ideas", len(b.Ideas), maxItems)
	for i, idea := range b.Ideas[:min(len(b.Ideas), maxItems)] {
		f.within(fmt.Sprintf("ideas[%d]", i), func() {
			f.text("title", idea.Title)
			f.text("source", idea.Source)
			f.text("evidence", idea.Evidence)
			f.family(idea.ApproachFamily, families)
			oneOf(f, "confidence", idea.Confidence, "high", "medium", "low")
			f.size("estimated_impact", idea.EstimatedImpact)
		})
	}
	return f.all()
}

// ValidateBriefIdeas names what is wrong with the ideas of a new brief as a
// whole, which an old one may lack: 3 to 10 of them, two families, the surest
// first.
func ValidateBriefIdeas(b Brief) []string {
	f := &faults{}
	if n := len(b.Ideas); n < minIdeas || n > maxIdeas {
		f.add("ideas", "want %d to %d, found %d", minIdeas, maxIdeas, n)
	}
	seen := make(map[string]bool)
	rank := map[string]int{"high": 0, "medium": 1, "low": 2}
	last := 0
	for i, idea := range b.Ideas {
		seen[idea.ApproachFamily] = true
		if r, ok := rank[idea.Confidence]; ok {
			if r < last {
				f.add(fmt.Sprintf("ideas[%d].confidence", i), "%s stands below a less sure idea; order them high, medium, low", idea.Confidence)
			}
			last = max(last, r)
		}
	}
	if len(b.Ideas) > 0 && len(seen) < 2 {
		f.add("ideas", "all are of one approach family; want at least two")
	}
	return f.all()
}

// family wants a family of the taxonomy or one of the harness.
func (f *faults) family(name string, families []string) {
	switch {
	case strings.TrimSpace(name) == "":
		f.add("approach_family", "missing")
	case len(families) > 0 && !slices.Contains(families, name):
		f.add("approach_family", "%q is none of %s", clip(name, 60), strings.Join(families, ", "))
	default:
		f.size("approach_family", name)
	}
}

// Faults checks a plan by itself, with any family.
func (p *Plan) Faults() []string { return ValidatePlan(*p, nil) }

// ValidatePlan names every fault of a plan. Families are those that it may have;
// nil allows any.
func ValidatePlan(p Plan, families []string) []string {
	f := &faults{}
	f.name("plan_id", p.PlanID)
	f.name("planner_id", p.PlannerID)
	f.atLeast("round", p.Round, 0)
	if want := fmt.Sprintf("round_%d_%s", p.Round, p.PlannerID); p.PlannerID != "" && p.PlanID != "" && p.PlanID != want {
		f.add("plan_id", "%q does not name its round and planner; want %q", clip(p.PlanID, 60), clip(want, 60))
	}
	f.text("hypothesis", p.Hypothesis)
	f.utf8("hypothesis", p.Hypothesis)
	f.family(p.ApproachFamily, families)
	f.files(p.TargetFiles)
	f.steps(p.Steps)
	f.within("expected_outcome", func() {
		f.text("metric", p.ExpectedOutcome.Metric)
		f.text("estimated_impact", p.ExpectedOutcome.EstimatedImpact)
		f.text("rationale", p.ExpectedOutcome.Rationale)
		f.atMost("sub_score_expectations", len(p.ExpectedOutcome.SubScoreExpectations), maxItems)
	})
	f.within("history_reference", func() {
		f.atMost("builds_on", len(p.HistoryReference.BuildsOn), maxItems)
		f.atMost("avoids", len(p.HistoryReference.Avoids), maxItems)
	})
	if p.CriticReview != nil {
		f.within("critic_review", func() { p.CriticReview.check(f) })
	}
	if p.ArchitectReview != nil {
		f.within("architect_review", func() { p.ArchitectReview.check(f) })
	}
	if p.SI != nil && p.SI.Edit != nil {
		f.within("si.edit", func() { p.SI.Edit.check(f) })
	}
	return f.all()
}

func (f *faults) files(files []string) {
	if len(files) == 0 {
		f.add("target_files", "missing: want at least one path")
	}
	f.atMost("target_files", len(files), maxItems)
	for i, file := range files[:min(len(files), maxItems)] {
		f.path(fmt.Sprintf("target_files[%d]", i), file)
	}
}

func (f *faults) steps(steps []PlanStep) {
	if len(steps) == 0 {
		f.add("steps", "missing: want at least one")
	}
	f.atMost("steps", len(steps), maxItems)
	for i, s := range steps[:min(len(steps), maxItems)] {
		f.within(fmt.Sprintf("steps[%d]", i), func() {
			if s.Step <= 0 {
				f.add("step", "missing: want its number, from 1")
			}
			f.path("file", s.File)
			f.text("change", s.Change)
		})
	}
}

func (e *Edit) check(f *faults) {
	f.path("path", e.Path)
	f.atLeast("line", e.Line, 1)
	if e.Column < 0 || e.Column > len(e.Text) || !strings.HasPrefix(e.Text[e.Column:], e.Old) {
		f.add("column", "the line does not hold the old value there")
	}
}

// Faults names every fault of a critic's review.
func (r *CriticReview) Faults() []string {
	f := &faults{}
	r.check(f)
	return f.all()
}

func (r *CriticReview) check(f *faults) {
	for _, c := range []struct{ field, value string }{
		{"h001_hypothesis_count", r.H001},
		{"h002_family_streak", r.H002},
		{"h003_intra_round_diversity", r.H003},
		{"schema_valid", r.SchemaValid},
		{"history_aware", r.HistoryAware},
	} {
		oneOf(f, c.field, c.value, "pass", "fail")
	}
	oneOf(f, "verdict", r.Verdict, "approved", "rejected")
	if r.RejectionReason != nil {
		f.size("rejection_reason", *r.RejectionReason)
	}
}

// Faults names every fault of an architect's review.
func (r *ArchitectReview) Faults() []string {
	f := &faults{}
	r.check(f)
	return f.all()
}

func (r *ArchitectReview) check(f *faults) {
	oneOf(f, "verdict", r.Verdict, "approve", "reject")
	f.size("feedback", r.Feedback)
	f.atMost("structural_concerns", len(r.StructuralConcerns), maxItems)
}
