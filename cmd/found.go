package cmd

import (
	"context"
	"slices"

	"si/agents"
	"si/internal/clean"
	"si/track"
	"si/tui/interview"
)

// named is the agent that flags, settings or the user's configuration name for a
// role.
func (i interviewer) named(role agents.Role) (string, error) {
	settings, err := track.LoadSettings(i.place.paths)
	if err != nil {
		return "", err
	}
	user, err := loadUserConfig(i.world)
	if err != nil {
		return "", err
	}
	return playersOf(i.agents.merge(user.Agents, settings.Value.SI.Agents), role)[0], nil
}

// found are the agents that the interview offers: the one that is configured, those
// that are ready on this machine, the built-in tuner, and those that are not ready.
func (i interviewer) found(ctx context.Context) ([]interview.Agent, error) {
	configured, err := i.named(agents.Executor)
	if err != nil {
		return nil, err
	}
	var ready, later []interview.Agent
	for _, c := range agents.Found(ctx, i.place.runner, i.world.Lookup) {
		a := interview.Agent{Name: c.Name, Title: c.Name, State: clean.Line(firstText(c.Version+" "+c.Hint, string(c.State)), 80), Ready: c.State == agents.Ready}
		switch c.State {
		case agents.Ready:
			ready = append(ready, a)
		case agents.LoggedOut:
			later = append(later, a)
		case agents.Missing:
		}
	}
	is := func(a interview.Agent) bool { return a.Name == configured }
	var out []interview.Agent
	if configured != tunerName && !slices.ContainsFunc(slices.Concat(ready, later), is) {
		out = append(out, interview.Agent{Name: configured, Title: configured, State: "from your configuration", Ready: true})
	}
	out = append(out, ready...)
	out = append(out, interview.Agent{Name: tunerName, Title: "built-in tuner", State: "searches over numbers; needs no model, no key, no network", Ready: true})
	return append(out, later...), nil
}
