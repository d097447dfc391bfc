package agents

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"si/track"
)

// checkNovel refuses a plan that is equal to one already tried. A candidate that
// failed for want of machinery, not by itself, was not tried.
func checkNovel(p track.Plan, in RuleInput) Check {
	for _, e := range in.Earlier {
		if samePlan(p, e) {
			return again(e.PlanID)
		}
	}
	archived := map[string]track.Plan{}
	for _, e := range in.Tried {
		archived[e.PlanID] = e
	}
	for _, h := range in.History {
		kept, refused := sorted(h)
		for _, item := range slices.Concat(kept, refused) {
			if infrastructure(item) || item.SI != nil && item.SI.Unjudged {
				continue
			}
			old, have := archived[item.PlanID]
			if have && samePlan(p, old) || sameEdit(editOf(p), itemEdit(item)) {
				return again(item.PlanID)
			}
		}
	}
	return Check{}
}

func again(planID string) Check {
	return Check{[]string{fmt.Sprintf("hypothesis: the plan is equal to %s, which was tried", planID)}}
}

func infrastructure(item track.HistoryItem) bool {
	return item.FailureAnalysis != nil && item.FailureAnalysis.Category == track.CategoryInfrastructure
}

func samePlan(a, b track.Plan) bool {
	if editOf(a) != nil && editOf(b) != nil {
		return sameEdit(editOf(a), editOf(b))
	}
	return normal(a.Hypothesis) == normal(b.Hypothesis) &&
		slices.Equal(fileSet(a), fileSet(b)) &&
		slices.Equal(stepTexts(a), stepTexts(b))
}

// sameEdit compares what an edit does. Its line number and the line's other
// text move with edits elsewhere, so they do not make it another one.
func sameEdit(a, b *track.Edit) bool {
	return a != nil && b != nil && a.Path == b.Path && a.Knob == b.Knob && a.Old == b.Old && a.New == b.New
}

func editOf(p track.Plan) *track.Edit {
	if p.SI == nil {
		return nil
	}
	return p.SI.Edit
}

func itemEdit(item track.HistoryItem) *track.Edit {
	if item.SI == nil {
		return nil
	}
	return item.SI.Edit
}

func fileSet(p track.Plan) []string {
	var files []string
	for _, f := range p.TargetFiles {
		files = append(files, tidy(f))
	}
	slices.Sort(files)
	return slices.Compact(files)
}

func stepTexts(p track.Plan) []string {
	var texts []string
	for _, s := range p.Steps {
		texts = append(texts, tidy(s.File)+": "+normal(s.Change))
	}
	return texts
}

// normal is a text's words and numbers in lower case: case, punctuation and
// blanks do not make another hypothesis, a sign or a decimal point does.
func normal(text string) string {
	keep := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsNumber(r) || strings.ContainsRune("+-*/%<>=.", r)
	}
	var words []string
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !keep(r) }) {
		if word = strings.TrimRight(word, "."); word != "" {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}
