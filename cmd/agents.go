package cmd

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"si/agents"
	"si/agents/command"
	"si/agents/tuner"
	"si/internal/proc"
	"si/track"
)

// tunerName is the backend that needs no model and no network.
const tunerName = "tuner"

// agentFlags choose backends on the command line.
type agentFlags struct {
	agent    string
	agentFor map[string]string
}

func (f *agentFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.agent, "agent", "", `who plays every role: "tuner" (built in), or "command:" and a shell command`)
	c.Flags().StringToStringVar(&f.agentFor, "agent-for", nil, "who plays one role, as role=agent; may be repeated")
}

// merge lets flags win over the track's settings, and those over the user's.
func (f agentFlags) merge(layers ...track.AgentOptions) track.AgentOptions {
	out := track.AgentOptions{Default: tunerName, Roles: map[string]string{}}
	for _, l := range append(layers, track.AgentOptions{Default: f.agent, Roles: f.agentFor}) {
		if l.Default != "" {
			out.Default, out.Roles = l.Default, map[string]string{}
		}
		maps.Copy(out.Roles, l.Roles)
	}
	return out
}

// buildTeam makes the backends that options name.
func buildTeam(run proc.Runner, options track.AgentOptions, dir string) (*agents.Team, map[agents.Role]string, error) {
	made := map[string]agents.Backend{}
	byRole := map[agents.Role]agents.Backend{}
	names := map[agents.Role]string{}
	for role := range options.Roles {
		if !slices.Contains(agents.Roles(), agents.Role(role)) {
			return nil, nil, usagef("no role is called %q; the roles are %s", role, roleNames())
		}
	}
	for _, role := range agents.Roles() {
		name := firstText(options.Roles[string(role)], options.Default)
		if made[name] == nil {
			b, err := newBackend(run, name, dir)
			if err != nil {
				return nil, nil, err
			}
			made[name] = b
		}
		byRole[role], names[role] = made[name], name
	}
	team, err := agents.NewTeam(byRole)
	return team, names, err
}

func newBackend(run proc.Runner, name, dir string) (agents.Backend, error) {
	if name == tunerName {
		return tuner.New(), nil
	}
	if line, ok := strings.CutPrefix(name, "command:"); ok && strings.TrimSpace(line) != "" {
		return command.New(run, command.Options{Command: line, Dir: filepath.Join(dir, "prompts")}), nil
	}
	return nil, usagef("no agent is called %q; use %q, or \"command:\" and a shell command", name, tunerName)
}

func roleNames() string {
	var names []string
	for _, r := range agents.Roles() {
		names = append(names, string(r))
	}
	return strings.Join(names, ", ")
}
