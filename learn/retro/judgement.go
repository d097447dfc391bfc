package retro

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"si/internal/clean"
	"si/internal/secret"
	"si/learn/knowledge"
	"si/learn/skills/answer"
)

// Bounds of a judgement. More is no judgement but a flood.
const (
	maxItems = 50   // of one list
	maxTold  = 2000 // code points of one text of the record
)

// Judgement is what the judge of a run says, the JSON object of its answer. All of
// it is a wish: the program checks it, counts, and writes.
type Judgement struct {
	Worked     []string        `json:"worked"`
	Failed     []Failure       `json:"failed"`
	Mistakes   []MistakeWish   `json:"mistakes"`
	Knowledge  []KnowledgeWish `json:"knowledge"`
	Rules      []RuleWish      `json:"rules"`
	Changes    []ChangeWish    `json:"changes"`
	Rejected   []Rejection     `json:"rejected"`
	Candidates []string        `json:"candidates"`
}

// Failure is what went wrong in the run and what it cost.
type Failure struct {
	What   string   `json:"what"`
	Cost   string   `json:"cost"`
	Proofs []string `json:"proofs"`
}

// MistakeWish says that a finding is a mistake, and which one: the signature is the
// judgement, the count is the program's.
type MistakeWish struct {
	Proof       string `json:"proof"` // F-<n>
	Signature   string `json:"signature"`
	Title       string `json:"title"`
	What        string `json:"what_happened"`
	Cause       string `json:"root_cause"`
	Consequence string `json:"consequence"`
	Prevention  string `json:"prevention"`
}

// Filter are the answers that every wish owes and no program can give.
type Filter struct {
	Proofs   []string `json:"proofs"`           // F-<n>: the cost was real and measured
	Recurs   string   `json:"recurs"`           // where it will happen again, apart from here
	Specific string   `json:"specific"`         // why it is about this repository and no common knowledge
	Covered  string   `json:"covered_by"`       // what says it already; "" for nothing
	Sentence string   `json:"why_not_a_phrase"` // why no one-sentence edit of what exists does it
}

// KnowledgeWish is an entry that the judge wants. One with a signature is what the
// signature becomes when it has happened often enough, which the program counts.
type KnowledgeWish struct {
	Filter
	Kind       knowledge.Kind `json:"kind"`
	Text       string         `json:"text"`
	Confidence float64        `json:"confidence"`
	AppliesTo  []string       `json:"applies_to"`
	Supersedes []string       `json:"supersedes"`
	Signature  string         `json:"signature"`
}

// RuleWish is the text of a law for a signature that has earned it.
type RuleWish struct {
	Signature string `json:"signature"`
	Rule      string `json:"rule"`
}

// The kinds of changes of prompts, skills and rules, in the order in which they are
// preferred.
const (
	KindDelete = "delete"
	KindMerge  = "merge"
	KindFix    = "fix" // of a sentence that exists
	KindAdd    = "add"
)

func kinds() []string { return []string{KindDelete, KindMerge, KindFix, KindAdd} }

// ChangeWish explains paths that the judge changed in its worktree. A changed path
// that no wish explains is refused.
type ChangeWish struct {
	Filter
	Paths      []string    `json:"paths"`
	Kind       string      `json:"kind"`
	What       string      `json:"what"`
	Mode       string      `json:"other_mode_of_work"` // of a new agent: what is different about its work, besides the topic
	Activation *Activation `json:"activation"`         // of a skill
}

// Activation is how a new skill is tried: a task in whose words a reader of its
// description would take it up, and a command that carries its procedure out here.
type Activation struct {
	Task    string `json:"task"`
	Command string `json:"command"`
}

// Rejection is a change that was thought of and not made. It is remembered, so that
// it is not thought of each time anew.
type Rejection struct {
	What string `json:"what"`
	Why  string `json:"why"`
	By   string `json:"by,omitempty"` // judge, filter, policy, or a person
}

// Parse finds the judgement in an answer, whatever is around it. What is not of the
// form, or too long, is an error that the judge can be told.
func Parse(text string) (Judgement, error) {
	var j Judgement
	object := answer.Find(text, "worked", "failed", "rejected", "mistakes", "knowledge", "changes", "candidates", "rules")
	if object == nil {
		return j, fmt.Errorf("read the judgement: the answer holds no JSON object with worked, failed, mistakes, knowledge, rules, changes, rejected or candidates")
	}
	if err := json.Unmarshal(object, &j); err != nil {
		return j, fmt.Errorf("read the judgement: %w", err)
	}
	for name, n := range map[string]int{
		"worked": len(j.Worked), "failed": len(j.Failed), "mistakes": len(j.Mistakes), "knowledge": len(j.Knowledge), "rules": len(j.Rules),
		"changes": len(j.Changes), "rejected": len(j.Rejected), "candidates": len(j.Candidates),
	} {
		if n > maxItems {
			return j, fmt.Errorf("read the judgement: %s has %d items, the most are %d", name, n, maxItems)
		}
	}
	j.tidy()
	return j, nil
}

// tidy makes texts safe to record and show.
func (j *Judgement) tidy() {
	for _, list := range []*[]string{&j.Worked, &j.Candidates} {
		for i := range *list {
			(*list)[i] = told((*list)[i])
		}
	}
	for i := range j.Failed {
		f := &j.Failed[i]
		f.What, f.Cost = told(f.What), told(f.Cost)
	}
	for i := range j.Rejected {
		r := &j.Rejected[i]
		r.What, r.Why, r.By = told(r.What), told(r.Why), byJudge
	}
	for i := range j.Changes {
		c := &j.Changes[i]
		c.What, c.Kind = told(c.What), strings.ToLower(strings.TrimSpace(c.Kind))
	}
}

// told is a text as a record holds it: a line, and no key that anybody let slip.
func told(s string) string { return clean.Line(secret.Mask(s), maxTold) }

func points(s string) int { return utf8.RuneCountInString(s) }
