package agents

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"si/internal/clean"
)

// Interview is what a clarifier is told: a goal under way.
type Interview struct {
	Objective, Metric, Target string
	InScope, OutScope         []string
	Turns                     []InterviewTurn
	Survey                    []string // what was seen in the repository, each with file and line
	Left                      int      // questions that may still be asked
}

// InterviewTurn is one question with its answer.
type InterviewTurn struct{ About, Question, Answer string }

// Clarity scores the four dimensions of a goal, from 0 to 100.
type Clarity struct {
	Objective int `json:"objective"`
	Metric    int `json:"metric"`
	Target    int `json:"target"`
	Scope     int `json:"scope"`
}

// Clarification is what a clarifier makes of the answers so far: the goal as it
// understands it, how clear that is, and the next question, "" when none is needed.
type Clarification struct {
	Objective string   `json:"objective"`
	Metric    string   `json:"metric"`
	Target    string   `json:"target"`
	InScope   []string `json:"in_scope"`
	OutScope  []string `json:"out_of_scope"`
	Scores    Clarity  `json:"scores"`
	About     string   `json:"about"`
	Missing   string   `json:"missing"`
	Question  string   `json:"question"`
	Offers    []string `json:"offers"`
}

// Clarify lets the clarifier score a goal and ask its next question. task.Dir is a
// folder that it may read.
func (t *Team) Clarify(ctx context.Context, task Task, in Interview) (Clarification, error) {
	task.Role = Clarifier
	if task.ID == "" {
		task.ID = string(Clarifier)
	}
	prompt, err := t.prompts.execute("clarifier", clarifierView{
		Dir: task.Dir, Left: max(in.Left, 0), Draft: fence("goal", in.draft(), maxGoal),
		Turns: fence("interview", in.transcript(), maxGoal), Survey: fence("repository", strings.Join(lines(in.Survey), "\n"), maxGoal),
	})
	if err != nil {
		return Clarification{}, t.unstarted(task, err)
	}
	task.Prompt = prompt
	return ask(ctx, t, task, clarifyContract())
}

type clarifierView struct {
	Dir    string
	Left   int
	Draft  string // fenced, as all below
	Turns  string
	Survey string
}

func (in Interview) draft() string {
	return fmt.Sprintf("objective: %s\nmetric: %s\ntarget: %s\nin scope: %s\nout of scope: %s\n",
		clean.Line(in.Objective, 2000), clean.Line(in.Metric, 300), clean.Line(in.Target, 300),
		strings.Join(lines(in.InScope), ", "), strings.Join(lines(in.OutScope), ", "))
}

func (in Interview) transcript() string {
	var b strings.Builder
	for _, t := range in.Turns {
		fmt.Fprintf(&b, "about the %s: %s\n  answer: %s\n", clean.Line(t.About, 40), clean.Line(t.Question, 500), clean.Line(t.Answer, 2000))
	}
	return b.String()
}

// clearlyEnough is the score from which on a dimension needs no question.
const clearlyEnough = 80

func clarifyContract() contract[Clarification] {
	return contract[Clarification]{keys: []string{"scores", "question"}, check: checkClarification}
}

// checkClarification holds a clarifier to its own words: a goal that it calls
// unclear needs a question about one of its dimensions.
func checkClarification(c *Clarification) []string {
	tidyClarification(c)
	var faults []string
	unclear := false
	for _, d := range []struct {
		name  string
		value int
	}{{"objective", c.Scores.Objective}, {"metric", c.Scores.Metric}, {"target", c.Scores.Target}, {"scope", c.Scores.Scope}} {
		if d.value < 0 || d.value > 100 {
			faults = append(faults, fmt.Sprintf("scores.%s: is %d, want 0 to 100", d.name, d.value))
		}
		unclear = unclear || d.value < clearlyEnough
	}
	switch {
	case c.Objective == "":
		faults = append(faults, "objective: is empty; say the goal as far as you understand it")
	case unclear && c.Question == "":
		faults = append(faults, "question: is empty although a dimension is below 80; ask about the weakest")
	}
	if c.Question != "" && !slices.Contains([]string{"objective", "metric", "target", "scope"}, c.About) {
		faults = append(faults, fmt.Sprintf("about: want objective, metric, target or scope, found %q", c.About))
	}
	return faults
}

func tidyClarification(c *Clarification) {
	const most = 4
	c.Objective, c.Metric, c.Target = clean.Line(c.Objective, 1000), clean.Line(c.Metric, 200), clean.Line(c.Target, 100)
	c.Question, c.Missing, c.About = clean.Line(c.Question, 400), clean.Line(c.Missing, 300), word(c.About)
	c.InScope, c.OutScope = lines(c.InScope), lines(c.OutScope)
	c.Offers = lines(c.Offers)
	c.Offers = c.Offers[:min(most, len(c.Offers))]
}
