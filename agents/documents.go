package agents

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"si/internal/clean"
	"si/track"
)

const (
	maxHypothesis = 500  // runes: it becomes the subject of a commit
	maxText       = 8000 // runes of one text of a document
)

func briefContract(t Task) contract[track.Brief] {
	return contract[track.Brief]{
		keys: []string{"ideas", "repo_analysis_summary"},
		own:  []string{"iteration", "researcher_id"},
		check: func(b *track.Brief) []string {
			b.Iteration, b.ResearcherID = t.Round, t.ID
			b.RepoAnalysisSummary = prose(b.RepoAnalysisSummary)
			for i := range b.Ideas {
				tidyIdea(&b.Ideas[i])
			}
			slices.SortStableFunc(b.Ideas, func(x, y track.Idea) int { return rank(x.Confidence) - rank(y.Confidence) })
			return append(track.ValidateBrief(*b, t.Facts.Families), track.ValidateBriefIdeas(*b)...)
		},
		tune: func(s *jsonschema.Schema) {
			require(s, "repo_analysis_summary", "ideas")
			idea := s.Properties["ideas"].Items
			require(idea, "title", "source", "evidence", "approach_family", "confidence", "estimated_impact")
			oneWord(idea.Properties["approach_family"], t.Facts.Families...)
			oneWord(idea.Properties["confidence"], "high", "medium", "low")
		},
	}
}

func tidyIdea(i *track.Idea) {
	i.Title = clean.Line(i.Title, maxHypothesis)
	i.Source, i.Evidence = prose(i.Source), prose(i.Evidence)
	i.ApproachFamily = strings.TrimSpace(i.ApproachFamily)
	i.Confidence = strings.ToLower(strings.TrimSpace(i.Confidence))
	i.EstimatedImpact = prose(i.EstimatedImpact)
}

// rank orders the confidences, the highest first: a wrong order is not worth a
// repair.
func rank(confidence string) int {
	return slices.Index([]string{"high", "medium", "low"}, confidence)
}

// planContract sets what si knows of a plan, and takes out what a planner has
// no say in: its own approval.
func planContract(t Task) contract[track.Plan] {
	return contract[track.Plan]{
		keys: []string{"hypothesis", "steps"},
		own:  []string{"plan_id", "planner_id", "round", "critic_approved", "critic_review", "architect_review"},
		check: func(p *track.Plan) []string {
			p.PlanID, p.PlannerID, p.Round = fmt.Sprintf("round_%d_%s", t.Round, t.ID), t.ID, t.Round
			faults := hypothesisFaults(p.Hypothesis)
			tidyPlan(p, t.Facts.UserIdeas != "")
			return append(faults, track.ValidatePlan(*p, t.Facts.Families)...)
		},
		tune: func(s *jsonschema.Schema) { planSchema(s, t.Facts.Families, t.Facts.UserIdeas != "") },
	}
}

// planSchema leaves out what is no planner's to say.
func planSchema(s *jsonschema.Schema, families []string, ideas bool) {
	require(s, "hypothesis", "approach_family", "target_files", "steps", "expected_outcome", "history_reference")
	oneWord(s.Properties["approach_family"], families...)
	require(s.Properties["steps"].Items, "step", "file", "change")
	require(s.Properties["expected_outcome"], "metric", "estimated_impact", "rationale")
	require(s.Properties["history_reference"], "builds_on", "avoids")
	if !ideas {
		delete(s.Properties, "si")
		s.PropertyOrder = slices.DeleteFunc(s.PropertyOrder, func(name string) bool { return name == "si" })
		return
	}
	more := s.Properties["si"]
	more.Properties, more.PropertyOrder = map[string]*jsonschema.Schema{"uses_ideas": more.Properties["uses_ideas"]}, nil
}

func hypothesisFaults(h string) []string {
	if n := utf8.RuneCountInString(h); n > maxHypothesis {
		return []string{fmt.Sprintf("hypothesis: has %d characters, want one sentence of at most %d", n, maxHypothesis)}
	}
	return nil
}

// tidyPlan cleans the texts and gives absent lists their empty form, as the
// contract has no null there. An edit is left as it is: it has to match bytes.
func tidyPlan(p *track.Plan, ideas bool) {
	p.Hypothesis = clean.Line(p.Hypothesis, maxHypothesis)
	p.ApproachFamily = strings.TrimSpace(p.ApproachFamily)
	for i := range p.TargetFiles {
		p.TargetFiles[i] = tidy(strings.TrimSpace(p.TargetFiles[i]))
	}
	for i := range p.Steps {
		p.Steps[i].File = tidy(strings.TrimSpace(p.Steps[i].File))
		p.Steps[i].Change = prose(p.Steps[i].Change)
		if p.Steps[i].Step == 0 {
			p.Steps[i].Step = i + 1
		}
	}
	e := &p.ExpectedOutcome
	e.Metric, e.EstimatedImpact, e.Rationale = prose(e.Metric), prose(e.EstimatedImpact), prose(e.Rationale)
	if e.SubScoreExpectations == nil {
		e.SubScoreExpectations = map[string]string{}
	}
	p.TargetFiles = list(p.TargetFiles)
	p.HistoryReference.BuildsOn = list(p.HistoryReference.BuildsOn)
	p.HistoryReference.Avoids = list(p.HistoryReference.Avoids)
	if p.SI != nil {
		p.SI.UsesIdeas = p.SI.UsesIdeas && ideas // who was given none has used none
		if *p.SI == (track.PlanMore{}) {
			p.SI = nil
		}
	}
}

func architectContract() contract[track.ArchitectReview] {
	return contract[track.ArchitectReview]{
		keys: []string{"verdict", "feedback"},
		check: func(r *track.ArchitectReview) []string {
			r.Verdict, r.Feedback = word(r.Verdict), prose(r.Feedback)
			for i, c := range r.StructuralConcerns {
				r.StructuralConcerns[i] = prose(c)
			}
			r.StructuralConcerns = list(r.StructuralConcerns)
			var faults []string
			switch r.Verdict {
			case "approve", approved:
				r.Verdict = "approve"
			case "reject", rejected:
				r.Verdict = "reject"
				if r.Feedback == "" {
					faults = append(faults, "feedback: is empty, a rejection needs its reason")
				}
			default:
				faults = append(faults, wordFault("verdict", r.Verdict, "approve", "reject"))
			}
			return faults
		},
		tune: func(s *jsonschema.Schema) {
			require(s, "verdict", "feedback", "structural_concerns")
			oneWord(s.Properties["verdict"], "approve", "reject")
		},
	}
}

func criticContract() contract[track.CriticReview] {
	return contract[track.CriticReview]{
		keys:  []string{"h001_hypothesis_count", "history_aware", "verdict"},
		check: checkCritic,
		tune: func(s *jsonschema.Schema) {
			require(s, "h001_hypothesis_count", "history_aware", "verdict")
			for _, name := range []string{"h002_family_streak", "h003_intra_round_diversity", "schema_valid"} { // decided by rule
				delete(s.Properties, name)
			}
			s.PropertyOrder = []string{"h001_hypothesis_count", "history_aware", "rejection_reason", "verdict"}
			oneWord(s.Properties["h001_hypothesis_count"], pass, fail)
			oneWord(s.Properties["history_aware"], pass, fail)
			oneWord(s.Properties["verdict"], approved, rejected)
		},
	}
}

// checkCritic holds a critic to its own words: a verdict that contradicts its
// checks cannot be told from a mistake. The checks that are decided by rule may
// be absent.
func checkCritic(r *track.CriticReview) []string {
	faults := checkWords(r)
	switch r.Verdict = word(r.Verdict); r.Verdict { // the architect's words are a common slip
	case "approve":
		r.Verdict = approved
	case "reject":
		r.Verdict = rejected
	}
	failed := slices.Contains([]string{r.H001, r.H002, r.H003, r.SchemaValid, r.HistoryAware}, fail)
	if r.RejectionReason != nil {
		reason := prose(*r.RejectionReason)
		r.RejectionReason = &reason
	}
	switch {
	case r.Verdict != approved && r.Verdict != rejected:
		faults = append(faults, wordFault("verdict", r.Verdict, approved, rejected))
	case r.Verdict == approved && failed:
		faults = append(faults, "verdict: is approved although a check is fail")
	case r.Verdict == rejected && !failed:
		faults = append(faults, "verdict: is rejected although every check is pass")
	case r.Verdict == rejected && (r.RejectionReason == nil || *r.RejectionReason == ""):
		faults = append(faults, "rejection_reason: is missing, a rejection needs its reason")
	case r.Verdict == approved:
		r.RejectionReason = nil
	}
	return faults
}

func checkWords(r *track.CriticReview) []string {
	var faults []string
	for _, c := range []struct {
		field string
		value *string
		needs bool
	}{
		{"h001_hypothesis_count", &r.H001, true},
		{"history_aware", &r.HistoryAware, true},
		{"h002_family_streak", &r.H002, false},
		{"h003_intra_round_diversity", &r.H003, false},
		{"schema_valid", &r.SchemaValid, false},
	} {
		*c.value = word(*c.value)
		if *c.value != pass && *c.value != fail && (c.needs || *c.value != "") {
			faults = append(faults, wordFault(c.field, *c.value, pass, fail))
		}
	}
	return faults
}

func wordFault(field, value, one, other string) string {
	return fmt.Sprintf("%s: want %s or %s, found %q", field, one, other, clean.Line(value, 60))
}

func word(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

// prose is a text of a document: cleaned, bounded.
func prose(s string) string {
	s = strings.TrimSpace(clean.Text([]byte(s)))
	if utf8.RuneCountInString(s) <= maxText {
		return s
	}
	return string([]rune(s)[:maxText]) + "…"
}

func list(items []string) []string {
	if items == nil {
		return []string{}
	}
	return items
}
