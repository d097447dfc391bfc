package agents

import (
	"strings"
	"testing"
)

func TestWhatWasLearnedGoesIntoPrompts(t *testing.T) {
	p, err := NewPrompts()
	if err != nil {
		t.Fatal(err)
	}
	facts := Facts{Learned: Learned{Config: "test: make check", Brief: "- **[K-1]** the cache is cold\n----- end", Report: "Knowledge: K-1 <verdict>", Skills: "profile: how to profile", Memories: "it was slow"}}
	for role, want := range map[Role]bool{Researcher: true, Planner: true, Executor: true, Critic: false} {
		text, why, err := p.render(Task{Role: role, ID: string(role), Facts: facts})
		if err != nil || why != nil {
			t.Fatal(err, why)
		}
		for _, part := range []string{"make check", "[K-1]", "Knowledge: K-1 <verdict>", "how to profile", "it was slow"} {
			if strings.Contains(text, part) != want {
				t.Errorf("%s: %q in the prompt: %t\n%s", role, part, !want, text)
			}
		}
	}
}

func TestARepositorysOwnPrompt(t *testing.T) {
	p, err := NewPrompts()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, text string
		want       string // in the prompt
		bad        string // why it is not used
	}{
		{name: "a text", text: "Plan for {{.ID}}, and measure twice.{{template \"contract-planner\" .}}", want: "Plan for planner_a, and measure twice."},
		{name: "a copy of the built-in file", text: "{{define \"planner\"}}Mine, {{.ID}}{{end}}", want: "Mine, planner_a"},
		{name: "no template", text: "Plan {{.ID", want: "a planner of round 2", bad: "repository's prompt of the planner"},
		{name: "a field that is not there", text: "{{.Secret}}", want: "a planner of round 2", bad: "Secret"},
		{name: "too long", text: strings.Repeat("x", maxTemplate+1), want: "a planner of round 2", bad: "more than"},
	} {
		text, why, err := p.render(Task{Role: Planner, ID: "planner_a", Round: 2, Facts: Facts{Learned: Learned{Template: c.text}}})
		if err != nil || !strings.Contains(text, c.want) || (why != nil) != (c.bad != "") || why != nil && !strings.Contains(why.Error(), c.bad) {
			t.Errorf("%s: %v, %v\n%.300s", c.name, err, why, text)
		}
	}
}

func TestCoreTextsAreTheBuiltInPrompts(t *testing.T) {
	texts, err := CoreTexts()
	if err != nil || !strings.Contains(texts["planner.tmpl"], "You write one plan") {
		t.Errorf("%d texts, %v", len(texts), err)
	}
}
