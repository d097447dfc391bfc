package tuner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"si/agents"
	"si/track"
)

// architect is the architect's part: what can be told of a plan without running
// it. Plans of other backends are judged by the same rules.
func architect(ctx context.Context, t agents.Task) (track.ArchitectReview, []string, error) {
	p := t.Facts.Plan
	if p == nil {
		return track.ArchitectReview{}, nil, errors.New("review a plan: the task has none")
	}
	if err := ctx.Err(); err != nil {
		return track.ArchitectReview{}, nil, err
	}
	concerns := append(fileConcerns(t, *p), editConcerns(t, *p)...)
	if len(p.Steps) == 0 {
		concerns = append(concerns, "the plan has no steps")
	}
	if len(concerns) > 0 {
		return track.ArchitectReview{Verdict: "reject", Feedback: strings.Join(concerns, "; "), StructuralConcerns: concerns}, concerns, nil
	}
	said := fmt.Sprintf("One testable change to %s; it lies in scope and touches nothing sealed.", strings.Join(p.TargetFiles, ", "))
	return track.ArchitectReview{Verdict: "approve", Feedback: said, StructuralConcerns: []string{}}, []string{said}, nil
}

func fileConcerns(t agents.Task, p track.Plan) []string {
	if len(p.TargetFiles) == 0 {
		return []string{"the plan names no target file"}
	}
	s := scopeOf(t.Facts)
	var out []string
	for _, f := range p.TargetFiles {
		switch {
		case !filepath.IsLocal(f) || clean(f) != f:
			out = append(out, fmt.Sprintf("%q is not a path inside the repository", f))
		case !s.allows(f):
			out = append(out, fmt.Sprintf("%q is sealed or out of scope", f))
		}
	}
	return out
}

// editConcerns checks that an exact edit still finds its place.
func editConcerns(t agents.Task, p track.Plan) []string {
	if p.SI == nil || p.SI.Edit == nil {
		return nil
	}
	root, err := os.OpenRoot(t.Dir)
	if err != nil {
		return []string{"the working folder cannot be read: " + err.Error()}
	}
	defer root.Close()
	if _, _, err := edited(root, scopeOf(t.Facts), p); err != nil {
		return []string{err.Error()}
	}
	return nil
}

// critic is the critic's part: H001 to H003, the form, and what was tried before.
func critic(t agents.Task) (track.CriticReview, []string, error) {
	p := t.Facts.Plan
	if p == nil {
		return track.CriticReview{}, nil, errors.New("review a plan: the task has none")
	}
	var reasons []string
	check := func(faults ...string) string {
		if reasons = append(reasons, faults...); len(faults) > 0 {
			return "fail"
		}
		return "pass"
	}
	r := track.CriticReview{
		H001:         check(hypothesisFaults(*p)...),
		H002:         check(streakFaults(*p, t.Facts)...),
		H003:         check(diversityFaults(*p, t.Facts)...),
		SchemaValid:  check(formFaults(*p, t.Facts)...),
		HistoryAware: check(repeatFaults(*p, t.Facts)...),
		Verdict:      "approved",
	}
	if len(reasons) > 0 {
		why := strings.Join(reasons, "; ")
		r.Verdict, r.RejectionReason = "rejected", &why
	}
	return r, append(reasons, r.Verdict), nil
}

// hypothesisFaults tells by the form whether there is exactly one hypothesis.
func hypothesisFaults(p track.Plan) []string {
	text := strings.TrimSpace(p.Hypothesis)
	switch {
	case text == "":
		return []string{"H001: there is no hypothesis"}
	case strings.Contains(text, "\n"):
		return []string{"H001: the hypothesis is more than one sentence on one line"}
	}
	return nil
}

func streakFaults(p track.Plan, f agents.Facts) []string {
	if slices.Contains(streakOf(f.History), p.ApproachFamily) {
		return []string{fmt.Sprintf("H002: %s won the last %d rounds; another family has its turn", p.ApproachFamily, streakLength)}
	}
	return nil
}

func diversityFaults(p track.Plan, f agents.Facts) []string {
	for _, o := range f.OtherPlans {
		if o.PlanID != p.PlanID && o.ApproachFamily == p.ApproachFamily {
			return []string{fmt.Sprintf("H003: %s has the family %s in this round already", o.PlanID, o.ApproachFamily)}
		}
	}
	return nil
}

func formFaults(p track.Plan, f agents.Facts) []string {
	var out []string
	if len(f.Families) > 0 && !slices.Contains(f.Families, p.ApproachFamily) {
		out = append(out, fmt.Sprintf("approach_family %q is none of %s", p.ApproachFamily, strings.Join(f.Families, ", ")))
	}
	if p.PlanID == "" || p.PlannerID == "" || len(p.TargetFiles) == 0 || len(p.Steps) == 0 {
		out = append(out, "one of plan_id, planner_id, target_files and steps is missing")
	}
	for i, s := range p.Steps {
		if s.File == "" || s.Change == "" {
			out = append(out, fmt.Sprintf("steps[%d] lacks its file or its change", i))
		}
	}
	return out
}

// repeatFaults finds a change that was tried already, and, for one in words, a plan that
// failed with the same hypothesis.
func repeatFaults(p track.Plan, f agents.Facts) []string {
	rec := recordOf(f)
	if p.SI != nil && p.SI.Edit != nil {
		v, ok := parseValue(p.SI.Edit.New)
		for _, t := range rec.trials[p.SI.Edit.Knob] {
			if from, _ := parseValue(p.SI.Edit.Old); ok && t.outcome != outrun && t.from == from.num && t.to == v.num {
				return []string{fmt.Sprintf("%s tried the same change", t.plan)}
			}
		}
		return nil
	}
	for _, h := range f.History {
		for _, it := range h.Losers {
			if strings.EqualFold(strings.TrimSpace(it.Hypothesis), strings.TrimSpace(p.Hypothesis)) {
				return []string{fmt.Sprintf("%s tried the same and failed", it.PlanID)}
			}
		}
	}
	return nil
}
