package agents

import (
	"strings"
	"testing"
)

const goodBench = `{"command": "sh bench/run.sh", "format": "json", "metric": "score", "direction": "higher_is_better", "files": ["bench/run.sh"], "why": "it counts"}`

func TestBuild(t *testing.T) {
	team, s := scribes(t, Builder, goodBench)
	c, err := team.Build(t.Context(), Task{Dir: "/w"}, BuildOrder{Goal: Interview{Objective: "Faster\x1b[2J table"}, Survey: []string{"README.md:3: slow"}})
	if err != nil || c.Command != "sh bench/run.sh" || c.Files[0] != "bench/run.sh" {
		t.Fatalf("%+v, %v", c, err)
	}
	prompt := s.asked[0].Prompt
	if !strings.Contains(prompt, "README.md:3") || !strings.Contains(prompt, "/w") || strings.ContainsRune(prompt, 0x1b) {
		t.Errorf("prompt\n%s", prompt)
	}
	if !s.asked[0].Role.Edits() {
		t.Error("a builder that may not write")
	}
}

func TestBuilderIsRepaired(t *testing.T) {
	for change, fault := range map[string]string{
		`"sh bench/run.sh"`: "command: is empty", `"score"`: "metric: is empty", `"json"`: "format: want json or number", `"higher_is_better"`: "direction: want",
	} {
		team, s := scribes(t, Builder, strings.Replace(goodBench, change, `""`, 1), goodBench)
		if _, err := team.Build(t.Context(), Task{}, BuildOrder{}); err != nil {
			t.Fatal(err)
		}
		if len(s.asked) != 2 || !strings.Contains(s.asked[1].Prompt, fault) {
			t.Errorf("%s: %d prompts; want %q", change, len(s.asked), fault)
		}
	}
}
