// Package doctor examines what a repository learned: what is invalid, what is not
// delivered, what has earned a step that nobody took. It changes nothing and never
// fails: what cannot be read is a finding. Every finding says what to do, and nothing
// that it says destroys anything. A healthy repository has none.
package doctor

import (
	"fmt"
	"slices"

	"si/learn/place"
	"si/learn/policy"
)

// Severity says how bad a finding is. An error or a warning makes `si doctor` end
// with 1.
type Severity string

// The severities.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Info    Severity = "info"
)

// Code names a kind of finding.
type Code string

// The kinds of findings; each has one severity.
const (
	KnowledgeInvalid     Code = "knowledge-invalid"
	KnowledgeDuplicateID Code = "knowledge-duplicate-id"
	KnowledgeUnreachable Code = "knowledge-store-unreachable"
	KnowledgeDangling    Code = "knowledge-dangling-supersedes"
	KnowledgeNoEvidence  Code = "knowledge-no-evidence"
	RetirementCandidates Code = "retirement-candidates"
	RepeatUnpromoted     Code = "mistakes-repeat-unpromoted"
	LawReady             Code = "mistakes-law-ready"
	MistakesUnreadable   Code = "mistakes-unreadable"
	MistakesOpenFence    Code = "mistakes-open-code-fence"
	FenceMissing         Code = "rules-fence-missing"
	FenceMalformed       Code = "rules-fence-malformed"
	RuleNotWorking       Code = "rule-not-working"
	VerdictsMissing      Code = "verdicts-missing"
	PolicyMissing        Code = "policy-missing"
	PolicyInvalid        Code = "policy-invalid"
	PolicyRuleDead       Code = "policy-rule-dead"
	JournalTorn          Code = "journal-torn"
	JournalDamaged       Code = "journal-damaged"
	RetroOwed            Code = "retro-owed"
	SkillsInvalid        Code = "skills-invalid"
	CuratorOverdue       Code = "curator-overdue"
	ReviewerNoModel      Code = "reviewer-no-model"
)

// Codes are all kinds, in the order in which they are reported.
func Codes() []Code {
	return []Code{
		KnowledgeInvalid, KnowledgeDuplicateID, KnowledgeUnreachable, KnowledgeDangling, KnowledgeNoEvidence, RetirementCandidates,
		RepeatUnpromoted, LawReady, MistakesUnreadable, MistakesOpenFence, FenceMissing, FenceMalformed, RuleNotWorking, VerdictsMissing,
		PolicyMissing, PolicyInvalid, PolicyRuleDead, JournalTorn, JournalDamaged, RetroOwed, SkillsInvalid, CuratorOverdue, ReviewerNoModel,
	}
}

// Severity of a kind.
func (c Code) Severity() Severity {
	switch c {
	case KnowledgeInvalid, KnowledgeDuplicateID, FenceMalformed, PolicyInvalid, JournalDamaged:
		return Error
	case KnowledgeUnreachable, KnowledgeDangling, MistakesUnreadable, MistakesOpenFence, RuleNotWorking, VerdictsMissing, PolicyRuleDead, SkillsInvalid, ReviewerNoModel:
		return Warning
	case KnowledgeNoEvidence, RetirementCandidates, RepeatUnpromoted, LawReady, FenceMissing, PolicyMissing, JournalTorn, RetroOwed, CuratorOverdue:
	}
	return Info
}

// Finding is one thing that is not as it should be.
type Finding struct {
	Code     Code     `json:"code"`
	Severity Severity `json:"severity"`
	What     string   `json:"what"`
	Do       string   `json:"do"`
}

// Fails reports whether one of the findings is an error or a warning.
func Fails(all []Finding) bool {
	return slices.ContainsFunc(all, func(f Finding) bool { return f.Severity != Info })
}

// Input is what is examined. Place and Policy are required.
type Input struct {
	Place   place.Place
	Policy  *policy.Policy
	Journal string // path of the track's, "" for none
	// Skills lists the skills that cannot be used, each with its path and why; nil
	// asks nothing.
	Skills func() ([]string, error)
	// Curator says since when a pass is overdue, "" when it is not; nil asks nothing.
	Curator func() (string, error)
	// Reviewer says why the reviewer, which is on, can do nothing; "" when it can, or
	// is off.
	Reviewer string
}

// examination collects findings.
type examination struct {
	in        Input
	found     []Finding
	delivered bool // the journal says that entries were in prompts
}

// Examine looks at everything, and returns the findings in the order of Codes.
func Examine(in Input) []Finding {
	x := &examination{in: in, found: []Finding{}}
	x.journal()
	x.knowledge()
	x.mistakes()
	x.rules()
	x.policy()
	x.skills()
	slices.SortStableFunc(x.found, func(a, b Finding) int { return slices.Index(Codes(), a.Code) - slices.Index(Codes(), b.Code) })
	return x.found
}

func (x *examination) add(c Code, do, format string, args ...any) {
	x.found = append(x.found, Finding{c, c.Severity(), fmt.Sprintf(format, args...), do})
}
