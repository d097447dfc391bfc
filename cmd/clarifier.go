package cmd

import (
	"context"
	"fmt"

	"si/agents"
	"si/benchmark"
	"si/loop"
	"si/loop/clarify"
	"si/loop/survey"
	"si/track"
	"si/tui/interview"
)

// setUpAgent lets the configured agent ask about the goal and write a benchmark.
type setUpAgent struct {
	gates *loop.Gates
	v     track.Settings
}

// Clarify implements interview.Clarifier.
func (a setUpAgent) Clarify(ctx context.Context, d clarify.Draft, turns []clarify.Turn, seen clarify.Seen) (interview.Clarified, error) {
	in := interviewOf(d)
	in.Survey, in.Left = surveyLines(seen.Report), clarify.HardRounds-len(turns)
	for _, t := range turns {
		in.Turns = append(in.Turns, agents.InterviewTurn{About: string(t.About), Question: t.Question, Answer: t.Answer})
	}
	c, err := a.gates.Clarify(ctx, a.v, in)
	if err != nil {
		return interview.Clarified{}, err
	}
	return clarified(c, seen, turns), nil
}

// clarified joins a model's judgement with the rules: what the rules can see to be
// missing stays missing, whatever a model says.
func clarified(c agents.Clarification, seen clarify.Seen, turns []clarify.Turn) interview.Clarified {
	d := clarify.Draft{Objective: c.Objective, Metric: c.Metric, InScope: c.InScope, OutScope: c.OutScope}
	d = d.Answer(clarify.Target, c.Target)
	rules := clarify.Rules(d, seen, turns)
	scores := clarify.Scores{}
	for dim, said := range map[clarify.Dimension]int{
		clarify.Objective: c.Scores.Objective, clarify.Metric: c.Scores.Metric, clarify.Target: c.Scores.Target, clarify.Scope: c.Scores.Scope,
	} {
		scores[dim] = clarify.Score{Value: said}
		if r := rules[dim]; (dim == clarify.Target || dim == clarify.Scope) && r.Value < said {
			scores[dim] = r
		}
	}
	out := interview.Clarified{Draft: d, Scores: scores}
	if scores.Clear() {
		return out
	}
	out.Question = clarify.Question{About: clarify.Dimension(c.About), Text: c.Question, Offers: c.Offers, Missing: c.Missing}
	if c.Question == "" { // the model thinks that it is clear, the rules do not
		out.Question = clarify.Ask(d, scores, seen)
	}
	return out
}

// Build implements interview.Builder.
func (a setUpAgent) Build(ctx context.Context, d clarify.Draft, seen clarify.Seen) (interview.Built, error) {
	b, err := a.gates.Build(ctx, a.v, agents.BuildOrder{Goal: interviewOf(d), Survey: surveyLines(seen.Report)})
	if err != nil {
		return interview.Built{}, err
	}
	return interview.Built{Branch: b.Branch, Finding: survey.Finding{
		Tool: "written by the agent", File: b.Paths[0], Text: b.Why, Command: b.Command, Format: benchmark.Format(b.Format), Metric: b.Metric,
		Direction: b.Direction, Sealed: b.Paths, Sure: survey.Author,
		Note: fmt.Sprintf("it is on the branch %s, from which the loop will start: read it before you take it", b.Branch),
	}}, nil
}

func interviewOf(d clarify.Draft) agents.Interview {
	return agents.Interview{Objective: d.Objective, Metric: d.Metric, Target: d.Target, InScope: d.InScope, OutScope: d.OutScope}
}

// surveyLines are what was seen, each with its file and line.
func surveyLines(r survey.Report) (out []string) {
	for _, f := range r.Findings {
		out = append(out, fmt.Sprintf("benchmark, %s at %s:%d: %s; run by: %s; prints %s as %s", f.Tool, f.File, f.Line, f.Text, f.Command, f.Metric, f.Format))
	}
	for _, c := range r.Claims {
		out = append(out, fmt.Sprintf("%s:%d says: %s", c.File, c.Line, c.Text))
	}
	for _, s := range r.Scope {
		out = append(out, "source: "+s)
	}
	for _, t := range r.Tests {
		out = append(out, "tests: "+t.Command)
	}
	return out
}
