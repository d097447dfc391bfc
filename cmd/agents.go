package cmd

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"si/agents"
	"si/track"
)

// tunerName is the agent that needs no model and no network.
const tunerName = kindTuner

// agentFlags choose agents on the command line.
type agentFlags struct {
	agent    string
	agentFor map[string]string
}

func (f *agentFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.agent, "agent", "", "who plays every role: "+agentHelp())
	c.Flags().StringToStringVar(&f.agentFor, "agent-for", nil, "who plays one role, as planner=codex:gpt-5; may be repeated")
}

// merge lets flags win over the track's settings, and those over the user's. A
// layer that names a default for all roles also puts aside what the layers below
// said of single ones.
func (f agentFlags) merge(layers ...track.AgentOptions) track.AgentOptions {
	out := track.AgentOptions{Default: tunerName, Roles: map[string]string{}, Fallbacks: map[string][]string{}}
	for _, l := range append(layers, track.AgentOptions{Default: f.agent, Roles: f.agentFor}) {
		if l.Default != "" {
			out.Default, out.Roles = l.Default, map[string]string{}
		}
		maps.Copy(out.Roles, l.Roles)
		maps.Copy(out.Fallbacks, l.Fallbacks)
	}
	return out
}

// allRoles are those of a round and those around it.
func allRoles() []agents.Role {
	return append(agents.Roles(), agents.Clarifier, agents.Builder, agents.Reviewer, agents.Retrospective)
}

// cast is who plays, by role.
type cast struct {
	team    *agents.Team
	names   map[agents.Role]string
	folders map[agents.Role]agents.Folders // what the players of a role need of the user's home
	mcp     map[agents.Role]bool           // the first player takes MCP servers
	primary string                         // who does auxiliary work; "" when nobody can
	solo    func(ctx context.Context, name string, t agents.Task) (agents.Answer, error)
}

// buildCast makes the players that options name.
func buildCast(f factory, options track.AgentOptions) (cast, error) {
	if err := knownRoles(options); err != nil {
		return cast{}, err
	}
	c := cast{names: map[agents.Role]string{}, folders: map[agents.Role]agents.Folders{}}
	type made struct {
		player agents.Player
		needs  agents.Folders
	}
	known := map[string]made{}
	players := map[agents.Role][]agents.Player{}
	for _, role := range allRoles() {
		names := playersOf(options, role)
		c.names[role] = names[0]
		for _, name := range names {
			m, ok := known[name]
			if !ok {
				var err error
				if m.player, m.needs, err = f.player(name); err != nil {
					return c, err
				}
				known[name] = m
			}
			players[role] = append(players[role], m.player)
			c.folders[role] = c.folders[role].And(m.needs)
		}
	}
	c.mcp = map[agents.Role]bool{}
	for role, name := range c.names {
		c.mcp[role] = takesMCP(name)
	}
	c.primary = primaryOf(options)
	c.solo = f.solo
	var err error
	c.team, err = agents.NewTeamOf(players, f.world.Now)
	return c, err
}

// primaryOf is who does auxiliary work, "" when nobody can.
func primaryOf(options track.AgentOptions) string {
	if name := playersOf(options, agents.Reviewer)[0]; name != tunerName {
		return name
	}
	return ""
}

// takesMCP tells whether an agent starts the servers of a task. Those of an ACP agent
// are named when its session begins.
func takesMCP(name string) bool {
	kind, _, _ := strings.Cut(name, ":")
	switch kind {
	case kindTuner, kindCommand, "pi", "openai", "anthropic", "ollama":
		return false
	}
	return true
}

// solo lets one agent play a task by its name.
func (f factory) solo(ctx context.Context, name string, t agents.Task) (agents.Answer, error) {
	p, _, err := f.player(name)
	if err != nil {
		return agents.Answer{}, err
	}
	team, err := agents.NewTeamOf(everyRole(p), f.world.Now)
	if err != nil {
		return agents.Answer{}, err
	}
	return team.Ask(ctx, t)
}

func everyRole(p agents.Player) map[agents.Role][]agents.Player {
	out := map[agents.Role][]agents.Player{}
	for _, role := range allRoles() {
		out[role] = []agents.Player{p}
	}
	return out
}

// playersOf are the names of who plays the role, the first choice first.
func playersOf(options track.AgentOptions, role agents.Role) []string {
	names := []string{firstText(options.Roles[string(role)], options.Default)}
	instead, ok := options.Fallbacks[string(role)]
	if !ok {
		instead = options.Fallbacks["default"]
	}
	for _, name := range instead {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// knownRoles refuses what is set for a role that does not exist.
func knownRoles(options track.AgentOptions) error {
	known := allRoles()
	for role := range options.Roles {
		if !slices.Contains(known, agents.Role(role)) {
			return usagef("no role is called %q; the roles are %s", role, roleNames())
		}
	}
	for role := range options.Fallbacks {
		if role != "default" && !slices.Contains(known, agents.Role(role)) {
			return usagef("fallbacks are set for a role %q; the roles are %s, and default", role, roleNames())
		}
	}
	return nil
}

func roleNames() string {
	var names []string
	for _, r := range allRoles() {
		names = append(names, string(r))
	}
	return strings.Join(names, ", ")
}

// judges tells whether a run is looked back on by an agent. A command of the user's
// plays the roles of a round; whether it can judge, the user says.
func (c cast) judges(setting string) bool {
	kind, _, _ := strings.Cut(c.names[agents.Retrospective], ":")
	switch setting {
	case "agent":
		return kind != kindTuner
	case "count":
		return false
	}
	return kind != kindTuner && kind != kindCommand
}
