package tuner

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"si/agents"
	"si/track"
)

// choice is what one planner of a round tries.
type choice struct {
	proposal
	family string
	ideas  bool // the user's ideas led to it
}

// plan is the planner's part. The planners of a round do not see one another's
// plans, so each works out what all of them will take and keeps its own.
func plan(ctx context.Context, t agents.Task) (track.Plan, []string, error) {
	knobs, err := knobsFor(ctx, t)
	if err != nil {
		return track.Plan{}, nil, err
	}
	ranked := rank(t.Facts, knobs)
	notes := describe(ranked)
	planners := t.Facts.Planners
	if !slices.Contains(planners, t.ID) {
		planners = []string{t.ID}
	}
	choices := assign(ranked.proposals, len(planners), t.Facts)
	mine := choices[slices.Index(planners, t.ID)]
	if c, ok := fromIdeas(t.Facts, knobs, choices, mine); ok {
		mine = &c
	}
	if mine == nil {
		return track.Plan{}, notes, nothing("%s", whyNothing(ranked, slices.ContainsFunc(choices, func(c *choice) bool { return c != nil })))
	}
	return planOf(t, *mine), notes, nil
}

// knobsFor finds the knobs that a task may turn, and says what to do without any.
func knobsFor(ctx context.Context, t agents.Task) ([]Knob, error) {
	knobs, err := findKnobs(ctx, t.Dir, scopeOf(t.Facts))
	if err == nil && len(knobs) == 0 {
		err = nothing("nothing to propose: there is no named number or switch in the files in scope (%s); widen the scope in goal.md, give the program's "+
			"choices names, or use an agent that writes code", strings.Join(t.Facts.Goal.InScope, ", "))
	}
	return knobs, err
}

// whyNothing says why there is no plan; others tells that another planner of the round has one.
func whyNothing(r ranking, others bool) string {
	switch {
	case others:
		return "no other plan: the other planners of this round take what there is"
	case len(r.proposals) > 0:
		return "nothing to propose: what is left is of a family that has won too often in a row to come again"
	case r.knobs == 1:
		return "nothing to propose: the one knob is settled against this champion; widen the scope in goal.md, or use an agent that writes code"
	}
	return fmt.Sprintf("nothing to propose: %d knobs are settled against this champion; widen the scope in goal.md, or use an agent that writes code", r.knobs)
}

// assign gives each planner the best proposal that is left in a family that no
// earlier planner has and that may come (H002, H003). First by what the knobs are;
// planners that are left over take a knob under its next family.
func assign(ranked []proposal, planners int, f agents.Facts) []*choice {
	out := make([]*choice, planners)
	taken := map[string]bool{}
	for _, family := range streakOf(f.History) {
		taken[family] = true
	}
	used := map[string]bool{}
	for depth := range 4 {
		for i := range out {
			if out[i] != nil {
				continue
			}
			if out[i] = pick(ranked, depth, f.Families, taken, used); out[i] != nil {
				taken[out[i].family], used[out[i].knob.Name] = true, true
			}
		}
	}
	return out
}

// pick is the first proposal whose family at this depth is free.
func pick(ranked []proposal, depth int, known []string, taken, used map[string]bool) *choice {
	for _, p := range ranked {
		families := p.knob.families(known)
		if depth < len(families) && !taken[families[depth]] && !used[p.knob.Name] {
			return &choice{proposal: p, family: families[depth]}
		}
	}
	return nil
}

// planOf makes the plan document.
func planOf(t agents.Task, c choice) track.Plan {
	edit := c.edit()
	name := short(c.knob)
	return track.Plan{
		PlanID:         fmt.Sprintf("round_%d_%s", t.Round, t.ID),
		PlannerID:      t.ID,
		Round:          t.Round,
		Hypothesis:     fmt.Sprintf("Setting %s in %s from %s to %s improves %s.", name, c.knob.Path, edit.Old, edit.New, metric(t.Facts)),
		ApproachFamily: c.family,
		TargetFiles:    []string{c.knob.Path},
		Steps: []track.PlanStep{{Step: 1, File: c.knob.Path, Change: fmt.Sprintf(
			"On line %d, change %s from %s to %s and nothing else.", edit.Line, name, edit.Old, edit.New)}},
		ExpectedOutcome: track.ExpectedOutcome{
			Metric: metric(t.Facts), EstimatedImpact: impact(c.proposal),
			Rationale:            rationale(c),
			SubScoreExpectations: map[string]string{},
		},
		HistoryReference: track.HistoryReference{BuildsOn: c.builds, Avoids: c.avoids},
		SI:               &track.PlanMore{UsesIdeas: c.ideas, Edit: &edit},
	}
}

func (p proposal) edit() track.Edit {
	k := p.knob
	return track.Edit{
		Path: k.Path, Knob: k.Name, Line: k.Line, Text: k.Text, Column: k.Column,
		Old: k.Old, New: k.value.write(p.num),
	}
}

func rationale(c choice) string {
	if c.family == fallback {
		return fmt.Sprintf("Direct search over one value: %s. It counts as %s because its own family is taken in this round or unknown.", c.why, fallback)
	}
	return "Direct search over one value: " + c.why + "."
}

func impact(p proposal) string {
	if p.knob.value.kind == toggle || p.expect == 0 {
		return "unknown"
	}
	return fmt.Sprintf("about %+.2g %%", 100*math.Expm1(min(p.expect, 3)))
}

func metric(f agents.Facts) string {
	if f.Metric == "" {
		return "primary"
	}
	return f.Metric
}

// short is a knob's name without its file.
func short(k Knob) string { return strings.TrimPrefix(k.Name, k.Path+":") }

// describe is the log of a round's ranking.
func describe(r ranking) []string {
	notes := []string{fmt.Sprintf("%d knobs, %d with a value to try", r.knobs, len(r.proposals))}
	if r.reopened {
		notes = append(notes, "all knobs were settled; what was found against older champions is tried again")
	}
	for _, x := range r.refuted[:min(len(r.refuted), 50)] {
		notes = append(notes, fmt.Sprintf("%s: the value %v was learned not to work", x.knob, x.to))
	}
	for _, p := range r.proposals[:min(len(r.proposals), 50)] {
		e := p.edit()
		notes = append(notes, fmt.Sprintf("%s: %s -> %s (%s)", p.knob.Name, e.Old, e.New, p.why))
	}
	return notes
}
