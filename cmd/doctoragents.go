package cmd

import (
	"fmt"
	"io"
	"text/tabwriter"

	"si/agents"
	"si/internal/clean"
)

// foundAgent is an agent of this machine, as `si doctor --json` prints it.
type foundAgent struct {
	Name    string       `json:"name"`
	State   agents.State `json:"state"`
	Version string       `json:"version,omitempty"`
	Path    string       `json:"path,omitempty"`
	Hint    string       `json:"hint,omitempty"`
}

func foundAgents(all []agents.Candidate) []foundAgent {
	out := make([]foundAgent, 0, len(all))
	for _, c := range all {
		out = append(out, foundAgent{c.Name, c.State, c.Version, c.Path, c.Hint})
	}
	return out
}

// printAgents lists what is there first; of what is missing only the names.
func printAgents(out io.Writer, all []foundAgent) error {
	if _, err := fmt.Fprintln(out, "\nagents (si run --agent NAME):"); err != nil {
		return err
	}
	tw := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	line := func(c foundAgent) {
		_, _ = fmt.Fprintf(tw, "  %s\t%s\t%s\t%s\n", c.Name, c.State, clean.Line(c.Version, 30), clean.Line(c.Hint, 120)) // Flush reports
	}
	line(foundAgent{Name: tunerName, State: agents.Ready, Hint: "built in: tries the constants in the files in scope; no model, no network"})
	missing := ""
	for _, c := range all {
		if c.State != agents.Missing {
			line(c)
			continue
		}
		if missing != "" {
			missing += ", "
		}
		missing += c.Name
	}
	if err := tw.Flush(); err != nil || missing == "" {
		return err
	}
	_, err := fmt.Fprintf(out, "  not on this machine: %s\n", missing)
	return err
}
