package agents

import (
	"fmt"
	"slices"
	"strings"

	"si/track"
)

// streak is the number of rounds that one family may win running (H002).
const streak = 3

// Verdicts of a check in track.CriticReview, and of a critic.
const (
	pass     = "pass"
	fail     = "fail"
	approved = "approved"
	rejected = "rejected"
)

// RuleInput is what a plan is held against. A nil function asks nothing.
type RuleInput struct {
	Families []string               // taxonomy and custom
	History  []track.History        // oldest first
	Earlier  []track.Plan           // approved earlier plans of the round, in planner order
	Tried    []track.Plan           // archived plans of earlier rounds, as far as they are at hand
	Sealed   func(path string) bool // paths are relative to the repository, with /
	InScope  func(path string) bool
	Exists   func(path string) bool
}

// Check is the answer of one rule: it passes when it has no reason against.
type Check struct{ Reasons []string }

// Pass reports whether the rule has nothing against the plan.
func (c Check) Pass() bool { return len(c.Reasons) == 0 }

func (c Check) word() string {
	if c.Pass() {
		return pass
	}
	return fail
}

// RuleVerdict is the answer of every rule that needs no model.
type RuleVerdict struct {
	Schema Check
	H002   Check // the family did not win the last 3 rounds running
	H003   Check // no earlier plan of the round has the family
	Scope  Check // target files exist or are created, and lie in scope
	Sealed Check // nothing sealed is to be changed
	Novel  Check // not equal to a plan already tried
}

// RuleFaults decides what can be decided about a plan by rule.
func RuleFaults(p track.Plan, in RuleInput) RuleVerdict {
	return RuleVerdict{
		Schema: Check{track.ValidatePlan(unreviewed(p), in.Families)},
		H002:   checkStreak(p, in.History),
		H003:   checkDiversity(p, in.Earlier),
		Scope:  checkScope(p, in),
		Sealed: checkSealed(p, in.Sealed),
		Novel:  checkNovel(p, in),
	}
}

// Approved reports whether every rule passes.
func (v RuleVerdict) Approved() bool { return len(v.Reasons()) == 0 }

// Reasons lists what speaks against the plan.
func (v RuleVerdict) Reasons() []string {
	return slices.Concat(v.Schema.Reasons, v.H002.Reasons, v.H003.Reasons, v.Scope.Reasons, v.Sealed.Reasons, v.Novel.Reasons)
}

// Review joins the rules with a critic's review, nil when the critic failed, to
// the review that is recorded. Only H001 and history awareness are the critic's
// to decide; what it says of the rules' checks does not count.
func (v RuleVerdict) Review(critic *track.CriticReview) track.CriticReview {
	r := track.CriticReview{H001: pass, HistoryAware: pass, Verdict: approved}
	reasons := v.Reasons()
	if critic != nil {
		r.H001, r.HistoryAware = critic.H001, critic.HistoryAware
		if (r.H001 == fail || r.HistoryAware == fail) && critic.RejectionReason != nil {
			reasons = append(reasons, *critic.RejectionReason)
		}
	}
	if !v.Novel.Pass() {
		r.HistoryAware = fail
	}
	r.H002, r.H003, r.SchemaValid = v.H002.word(), v.H003.word(), v.Schema.word()
	if len(reasons) > 0 || r.H001 == fail || r.HistoryAware == fail {
		r.Verdict = rejected
		text := strings.Join(reasons, "; ")
		if text == "" {
			text = "the critic gave no reason"
		}
		r.RejectionReason = &text
	}
	return r
}

// Barred lists the families that have won the last 3 rounds running. A round
// without a winner ends every streak.
func Barred(history []track.History) []string {
	if len(history) < streak {
		return nil
	}
	last := history[len(history)-streak:]
	barred := winningFamilies(last[0])
	for _, h := range last[1:] {
		won := winningFamilies(h)
		barred = slices.DeleteFunc(barred, func(f string) bool { return !slices.Contains(won, f) })
	}
	return barred
}

func winningFamilies(h track.History) []string {
	kept, _ := sorted(h)
	var families []string
	for _, item := range kept {
		if !slices.Contains(families, item.ApproachFamily) {
			families = append(families, item.ApproachFamily)
		}
	}
	return families
}

func checkStreak(p track.Plan, history []track.History) Check {
	if !slices.Contains(Barred(history), p.ApproachFamily) {
		return Check{}
	}
	return Check{[]string{fmt.Sprintf("approach_family: %s has won the last %d rounds running (H002)", p.ApproachFamily, streak)}}
}

func checkDiversity(p track.Plan, earlier []track.Plan) Check {
	for _, e := range earlier {
		if e.ApproachFamily == p.ApproachFamily {
			return Check{[]string{fmt.Sprintf("approach_family: %s is the family of %s already (H003)", p.ApproachFamily, e.PlanID)}}
		}
	}
	return Check{}
}

// unreviewed is the plan as its planner wrote it: what a reviewer left out of a
// review, since the rules fill it in, is no fault of the plan.
func unreviewed(p track.Plan) track.Plan {
	p.CriticReview, p.ArchitectReview = nil, nil
	return p
}
