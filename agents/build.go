package agents

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"si/internal/clean"
	"si/track"
)

// BuildOrder is what a builder is told: the goal, and what the repository has.
type BuildOrder struct {
	Goal   Interview
	Survey []string // what was seen in the repository, each with file and line
}

// Construction is the benchmark that a builder wrote into its workspace.
type Construction struct {
	Command   string          `json:"command"`
	Format    string          `json:"format"`
	Metric    string          `json:"metric"`
	Direction track.Direction `json:"direction"`
	Files     []string        `json:"files"` // that it made, to be sealed
	Why       string          `json:"why"`
}

// Build lets the builder write a benchmark into task.Dir, a workspace of its own,
// and returns how to run it. What it says of its files is only a claim: the caller
// looks at the workspace.
func (t *Team) Build(ctx context.Context, task Task, o BuildOrder) (Construction, error) {
	task.Role = Builder
	if task.ID == "" {
		task.ID = string(Builder)
	}
	prompt, err := t.prompts.execute("builder", builderView{
		Dir: task.Dir, Goal: fence("goal", o.Goal.draft(), maxGoal), Survey: fence("repository", strings.Join(lines(o.Survey), "\n"), maxGoal),
	})
	if err != nil {
		return Construction{}, t.unstarted(task, err)
	}
	task.Prompt = prompt
	return ask(ctx, t, task, buildContract())
}

type builderView struct {
	Dir    string
	Goal   string // fenced, as below
	Survey string
}

// builtFormats are those that a script of one's own can print on one line.
func builtFormats() []string { return []string{"json", "number"} }

func buildContract() contract[Construction] {
	return contract[Construction]{keys: []string{"command", "metric"}, check: func(c *Construction) []string {
		c.Command, c.Metric, c.Why = clean.Line(c.Command, 1000), clean.Line(c.Metric, 200), prose(c.Why)
		c.Format, c.Files = word(c.Format), lines(c.Files)
		var faults []string
		if c.Command == "" {
			faults = append(faults, "command: is empty; give the shell command, from the top of the repository")
		}
		if c.Metric == "" {
			faults = append(faults, "metric: is empty; name the key that the command prints")
		}
		if !slices.Contains(builtFormats(), c.Format) {
			faults = append(faults, fmt.Sprintf("format: want json or number, found %q", c.Format))
		}
		if c.Direction != track.HigherIsBetter && c.Direction != track.LowerIsBetter {
			faults = append(faults, fmt.Sprintf("direction: want %s or %s, found %q", track.HigherIsBetter, track.LowerIsBetter, clean.Line(string(c.Direction), 60)))
		}
		return faults
	}}
}
