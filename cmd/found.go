package cmd

import (
	"context"

	"si/track"
	"si/tui/interview"
)

// found are the agents that the interview offers: the one that flags, settings or
// the user's configuration name, and the built-in tuner.
func (i interviewer) found(context.Context) ([]interview.Agent, error) {
	settings, err := track.LoadSettings(i.place.paths)
	if err != nil {
		return nil, err
	}
	user, err := loadUserConfig(i.world)
	if err != nil {
		return nil, err
	}
	named := i.agents.merge(user.Agents, settings.Value.SI.Agents).Default
	var out []interview.Agent
	if named != tunerName {
		out = append(out, interview.Agent{Name: named, Title: named, State: "from your configuration", Ready: true})
	}
	return append(out, interview.Agent{Name: tunerName, Title: "built-in tuner", State: "searches over numbers; needs no model, no key, no network", Ready: true}), nil
}
