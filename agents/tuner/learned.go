package tuner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"si/agents"
	"si/internal/lazyre"
)

// refutedForm is how the knowledge of a repository says that a value broke the
// program, in whatever run and track that was.
var refutedForm = lazyre.New(`Setting (\S+) in (\S+) from (\S+) to (\S+) does not work\b`)

// refutation is a value that was seen not to work.
type refutation struct {
	knob string // path:name
	to   float64
}

func refutationsIn(text string) []refutation {
	var out []refutation
	for _, m := range refutedForm.FindAllStringSubmatch(text, -1) {
		if v, ok := parseValue(m[4]); ok {
			out = append(out, refutation{m[2] + ":" + m[1], v.num})
		}
	}
	return out
}

// learn makes walls of what the repository learned not to work. They are no trials
// of this track: no plan is referred to, and no champion that has moved since makes
// them void.
func (r *record) learn(f agents.Facts) {
	for _, text := range f.Learned.Refuted {
		for _, x := range refutationsIn(text) {
			if !slices.Contains(r.refuted, x) {
				r.refuted = append(r.refuted, x)
			}
		}
	}
}

// wallsOf are the refuted values of a knob, as trials that ended at a wall.
func (r record) wallsOf(k Knob) []trial {
	var out []trial
	for _, x := range r.refuted {
		if x.knob == k.Name && x.to != k.value.num {
			out = append(out, trial{from: k.value.num, to: x.to, outcome: forbidden, after: len(r.winners)})
		}
	}
	return out
}

// barred reports whether a value was learned not to work.
func (r record) barred(k Knob, num float64) bool {
	return slices.Contains(r.refuted, refutation{k.Name, num})
}

var (
	owedForm  = lazyre.New(`\bK-[1-9][0-9]*\b`)
	shownForm = lazyre.New(`(?m)^- \*\*\[(K-[1-9][0-9]*)\]\*\* (.*)$`)
)

// report is the line with a verdict on each entry that the task was given: what
// names a value of a knob in scope helped, since that value is left alone; the rest was
// of no use to a backend that reads no prose.
func report(ctx context.Context, t agents.Task) string {
	if t.Facts.Learned.Report == "" {
		return ""
	}
	texts := map[string]string{}
	for _, m := range shownForm.FindAllStringSubmatch(t.Facts.Learned.Brief, -1) {
		texts[m[1]] = m[2]
	}
	var ids, parts []string
	for _, id := range owedForm.FindAllString(t.Facts.Learned.Report, -1) {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	var knobs []Knob
	if t.Role == agents.Researcher || t.Role == agents.Planner {
		knobs, _ = findKnobs(ctx, t.Dir, scopeOf(t.Facts)) // the plan has said what is wrong with them
	}
	for _, id := range ids {
		verdict := "unused"
		if slices.ContainsFunc(refutationsIn(texts[id]), func(x refutation) bool {
			return slices.ContainsFunc(knobs, func(k Knob) bool { return k.Name == x.knob })
		}) {
			verdict = "helped"
		}
		parts = append(parts, id+" "+verdict)
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("Knowledge: %s\n", strings.Join(parts, "; "))
}
