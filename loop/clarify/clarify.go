// Package clarify turns what a person says they want into a goal that a
// benchmark can decide: an objective, a metric, a target and a scope. Each is
// scored from 0 to 100 after every answer; the weakest is asked about next, with
// what was seen in the repository. Here are the rules that ask when no model is
// configured, and the bounds that hold for a model's questions too.
package clarify

import (
	"strings"

	"si/loop/survey"
)

// Dimension is one of the four parts of a goal.
type Dimension string

// The dimensions, in the order in which equals are asked about.
const (
	Objective Dimension = "objective"
	Metric    Dimension = "metric"
	Target    Dimension = "target"
	Scope     Dimension = "scope"
)

// Dimensions are all four.
func Dimensions() []Dimension { return []Dimension{Objective, Metric, Target, Scope} }

// Bounds of an interview. After SoftRounds questions a person may go on with
// what there is; after HardRounds nothing more is asked.
const (
	SoftRounds = 8
	HardRounds = 12
	enough     = 80 // of each dimension
	mostVague  = 20 // ambiguity
)

// AsFarAsItGoes is a target without a number.
const AsFarAsItGoes = "as far as it goes"

// Draft is a goal under way.
type Draft struct {
	Objective string
	Metric    string
	Target    string // a number, or AsFarAsItGoes
	InScope   []string
	OutScope  []string
}

// Score says how clear one dimension is, and what is missing.
type Score struct {
	Value int    // 0 to 100
	Why   string // what is missing, "" for nothing
}

// Scores are those of the four dimensions.
type Scores map[Dimension]Score

// Ambiguity is 100 less the mean of the scores.
func (s Scores) Ambiguity() int {
	sum := 0
	for _, d := range Dimensions() {
		sum += s[d].Value
	}
	return 100 - sum/len(Dimensions())
}

// Clear says whether nothing more has to be asked.
func (s Scores) Clear() bool {
	for _, d := range Dimensions() {
		if s[d].Value < enough {
			return false
		}
	}
	return s.Ambiguity() <= mostVague
}

// Weakest is the dimension to ask about.
func (s Scores) Weakest() Dimension {
	weakest := Objective
	for _, d := range Dimensions() {
		if s[d].Value < s[weakest].Value {
			weakest = d
		}
	}
	return weakest
}

// Turn is one question with its answer.
type Turn struct {
	About    Dimension
	Question string
	Answer   string
}

// Seen is what is known of the repository.
type Seen struct {
	Report survey.Report
	Files  func(pattern string) int // how many files an entry of a scope matches
}

// Question asks about one dimension.
type Question struct {
	About   Dimension
	Text    string
	Seen    []string // what was seen in the repository, each with file and line
	Offers  []string // answers that can be taken as they are, the best first
	Missing string   // why it is asked
}

// Answer lays an answer over a draft. A text with several fields, such as lines
// "objective: …" and "scope: …", answers all of them.
func (d Draft) Answer(about Dimension, text string) Draft {
	text = strings.TrimSpace(text)
	if many, ok := fields(text); ok {
		return d.lay(many)
	}
	switch about {
	case Objective:
		d.Objective = text
	case Metric:
		d.Metric = strings.Trim(text, "`'\"")
	case Target:
		d.Target = target(text)
	case Scope:
		d.InScope, d.OutScope = scope(text, d.OutScope)
	}
	return d
}

func (d Draft) lay(over Draft) Draft {
	if over.Objective != "" {
		d.Objective = over.Objective
	}
	if over.Metric != "" {
		d.Metric = over.Metric
	}
	if over.Target != "" {
		d.Target = over.Target
	}
	if len(over.InScope) > 0 {
		d.InScope = over.InScope
	}
	if len(over.OutScope) > 0 {
		d.OutScope = over.OutScope
	}
	return d
}

// Of is what a draft says of a dimension, as a person would write it.
func (d Draft) Of(about Dimension) string {
	switch about {
	case Objective:
		return d.Objective
	case Metric:
		return d.Metric
	case Target:
		return d.Target
	case Scope:
		text := strings.Join(d.InScope, ", ")
		for _, o := range d.OutScope {
			text += ", !" + o
		}
		return strings.TrimPrefix(text, ", ")
	}
	return ""
}
