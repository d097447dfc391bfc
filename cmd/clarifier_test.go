package cmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAgentsAskAndBuild lets a configured agent clarify the goal and write the
// benchmark: the answers of a shell command are taken as those of a model.
func TestAgentsAskAndBuild(t *testing.T) {
	repo, home := countingRepo(t)
	if err := os.Remove(filepath.Join(repo, "bench.sh")); err != nil {
		t.Fatal(err)
	}
	gitIn(t, repo, "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qam", "no benchmark")
	script := filepath.Join(home, "agent.sh")
	writeFile(t, script, `#!/bin/sh
order=$(cat)
case "$order" in
*"You clarify what"*"answer: 5"*) cat <<'END'
{"objective": "Lower the steps of table", "metric": "steps", "target": "5", "in_scope": ["table/table.go"], "out_of_scope": [],
 "scores": {"objective": 90, "metric": 90, "target": 100, "scope": 100}, "about": "", "missing": "", "question": "", "offers": []}
END
;;
*"You clarify what"*) cat <<'END'
{"objective": "Lower the steps of table", "metric": "steps", "target": "", "in_scope": ["table/table.go"], "out_of_scope": [],
 "scores": {"objective": 90, "metric": 90, "target": 10, "scope": 100}, "about": "target", "missing": "no number",
 "question": "How few steps of table/table.go:5 are enough?", "offers": ["5", "as far as it goes"]}
END
;;
*"You write a benchmark"*)
mkdir -p bench && echo "sed -n 's/^const Steps = //p' table/table.go" > bench/steps.sh
echo '{"command": "sh bench/steps.sh", "format": "number", "metric": "steps", "direction": "lower_is_better", "files": ["bench/steps.sh"], "why": "it counts steps"}'
;;
*) echo unknown; exit 1;;
esac
`)
	writeFile(t, filepath.Join(home, ".config/si/config.yaml"), "agent: \"command:sh "+script+"\"\n")
	s := sit(t, repo, home)
	s.toBuilt()
	s.press(enter)
	s.sees("│ Command:", "from si/benchmark")
	for _, next := range []string{"│ How its output", "│ Metric", "│ What is better", "│ Sealed", "│ Result files", "│ Set-up: builds"} {
		s.press(enter)
		s.sees(next)
	}
	s.press(enter)
	s.sees("Take it?", "Runs repeat exactly")
	s.press(enter)
	s.sees("Rules of your own")
	s.press(ctrlC)
	s.ends(3)
	if got := gitIn(t, repo, "show", "si/benchmark:bench/steps.sh"); !strings.Contains(got, "const Steps") {
		t.Errorf("the branch holds %q", got)
	}
	if out := gitIn(t, repo, "status", "--porcelain") + gitIn(t, repo, "log", "--oneline", "si/benchmark..main"); out != "" {
		t.Errorf("the user's side changed: %s", out)
	}
}

// toBuilt answers the questions up to the benchmark that the agent writes.
func (s *seat) toBuilt() {
	s.t.Helper()
	s.sees("Do you trust this repository?")
	s.press("y")
	s.sees("What shall become better?")
	s.press("Fewer steps", enter)
	s.sees("How few steps of table/table.go:5 are enough?", "no number")
	s.press(enter)
	s.sees("Is this the goal?", "Lower the steps of table")
	s.press(enter)
	s.sees("No benchmark was found", "let the agent write a benchmark")
	s.press("\x1b[B", enter)
	s.sees("written by the agent: sh bench/steps.sh", "si/benchmark", "it counts steps")
}
