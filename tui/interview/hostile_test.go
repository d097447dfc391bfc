package interview_test

import (
	"context"
	"strings"
	"testing"

	"si/loop/clarify"
	"si/loop/survey"
	"si/track"
	"si/tui/interview"
)

// TestHostileTexts holds that what a repository, a clarifier or an agent says
// cannot move the cursor or set a title.
func TestHostileTexts(t *testing.T) {
	const bad = "\x1b[2J\x1b[1;1HPWNED\x1b]0;owned\x07"
	w, g := world(t)
	w.Repository, w.Branch, w.Dirty, w.Contained = "/r/"+bad, bad, []string{bad}, bad
	w.Survey = func(context.Context) (survey.Report, error) {
		return survey.Report{
			Findings: []survey.Finding{{Tool: bad, File: bad, Text: bad, Command: "true", Note: bad, Metric: bad, Format: "json", Direction: track.HigherIsBetter, Sealed: []string{bad}}},
			Claims:   []survey.Claim{{File: bad, Text: bad}},
		}, nil
	}
	w.Clarify = clarifier(func(d clarify.Draft, turns []clarify.Turn) interview.Clarified {
		d.Objective, d.Metric, d.Target, d.InScope = "Faster parser "+bad, "m", "1", []string{"*.go"}
		s := clarify.Rules(d, clarify.Seen{}, nil)
		if len(turns) < 2 {
			s[clarify.Target] = clarify.Score{Value: 10, Why: bad}
			return interview.Clarified{Draft: d, Scores: s, Question: clarify.Question{About: clarify.Target, Text: "How far? " + bad, Seen: []string{bad}, Offers: []string{"2" + bad}}}
		}
		return interview.Clarified{Draft: d, Scores: s}
	})
	w.Agents = func(context.Context) ([]interview.Agent, error) {
		return []interview.Agent{{Name: "x", Title: bad, State: bad, Ready: true}}, nil
	}
	g.trial.Odd = []string{bad}
	s := play(t, w, 100, 30)
	for _, step := range [][2]string{{"Do you trust", "y"}, {"What shall become", "<enter>"}, {"How far?", "<enter>"}, {"Is this the goal?", "<enter>"}, {"Which benchmark decides?", ""}} {
		s.sees(step[0], " si set up")
		if first, _, _ := strings.Cut(s.text(), "\n"); !strings.HasPrefix(first, " si set up") {
			t.Errorf("the first line was moved:\n%s", s.text())
		}
		if step[1] != "" {
			s.press(step[1])
		}
	}
}

// clarifier is a model that answers from a function.
type clarifier func(clarify.Draft, []clarify.Turn) interview.Clarified

func (c clarifier) Clarify(_ context.Context, d clarify.Draft, turns []clarify.Turn, _ clarify.Seen) (interview.Clarified, error) {
	return c(d, turns), nil
}
