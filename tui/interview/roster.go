package interview

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/huh/v2"

	"si/internal/clean"
	"si/track"
)

// rosterAnswers say who plays, how many plans a round has, and when it ends.
type rosterAnswers struct {
	main    string
	perRole bool
	roles   map[string]*string
	agents  string
	rounds  string
}

// playedRoles are those of a round, as settings name them.
func playedRoles() []string {
	return []string{"researcher", "planner", "architect", "critic", "executor"}
}

func ofRoster(v track.Settings) rosterAnswers {
	a := rosterAnswers{main: v.SI.Agents.Default, roles: map[string]*string{}, agents: strconv.Itoa(v.NumberOfAgents), rounds: strconv.Itoa(v.MaxIterations)}
	for _, r := range playedRoles() {
		who := v.SI.Agents.Roles[r]
		a.perRole = a.perRole || who != ""
		a.roles[r] = &who
	}
	return a
}

// apply lays the answers over settings.
func (a rosterAnswers) apply(v *track.Settings) {
	v.SI.Agents.Default = a.main
	roles := map[string]string{}
	for r, who := range v.SI.Agents.Roles { // those that were not asked about stay
		if _, known := a.roles[r]; !known {
			roles[r] = who
		}
	}
	for r, who := range a.roles {
		if a.perRole && *who != "" && *who != a.main {
			roles[r] = *who
		}
	}
	v.SI.Agents.Roles = roles
	if len(roles) == 0 {
		v.SI.Agents.Roles = nil
	}
	if n, err := count(a.agents); err == nil {
		v.NumberOfAgents = n
	}
	if n, err := count(a.rounds); err == nil {
		v.MaxIterations = n
	}
}

// agentsPage lets the person choose among the agents of this machine.
type agentsPage struct {
	form    *form
	answers rosterAnswers
}

type agentsMsg struct {
	agents []Agent
	err    error
}

func newAgentsPage(m *Model) page { return &agentsPage{answers: m.roster} }

func (p *agentsPage) start(m *Model, w, h int) tea.Cmd {
	if m.agents == nil {
		find, ctx := m.world.Agents, m.ctx
		return m.doing(func() tea.Msg {
			found, err := find(ctx)
			return agentsMsg{found, err}
		})
	}
	a := &p.answers
	if a.main == "" {
		a.main = m.agents[0].Name
	}
	same := huh.NewGroup(
		huh.NewSelect[string]().Title("Who thinks and edits? Found on this machine:").Options(agentOptions(m.agents, a.main)...).Value(&a.main),
		huh.NewConfirm().Title("One agent for every role?").Affirmative("Yes").Negative("No, choose by role").Accessor(&inverted{&a.perRole}),
	)
	var byRole []huh.Field
	for _, r := range playedRoles() {
		if *a.roles[r] == "" {
			*a.roles[r] = a.main
		}
		byRole = append(byRole, huh.NewSelect[string]().Title(r).Inline(true).Options(agentOptions(m.agents, *a.roles[r])...).Value(a.roles[r]))
	}
	roles := huh.NewGroup(byRole...).WithHideFunc(func() bool { return !a.perRole })
	size := huh.NewGroup(
		huh.NewInput().Title("Plans in a round, each tried by an agent of its own").Value(&a.agents).CharLimit(3).Validate(whole),
		huh.NewInput().Title("Rounds at most").Value(&a.rounds).CharLimit(5).Validate(whole),
	)
	p.form = newForm(m, same, roles, size)
	return p.form.start(w, h)
}

// inverted shows a no as a yes.
type inverted struct{ value *bool }

func (i *inverted) Get() bool  { return !*i.value }
func (i *inverted) Set(v bool) { *i.value = !v }

func whole(text string) error {
	_, err := count(text)
	return err
}

// agentOptions are the agents as choices; one that settings name and nobody found
// stays a choice.
func agentOptions(found []Agent, chosen string) []huh.Option[string] {
	var out []huh.Option[string]
	known := chosen == ""
	for _, a := range found {
		label := clean.Line(a.Title, 40)
		if a.State != "" {
			label += "  " + clean.Line(a.State, 80)
		}
		if !a.Ready {
			label += " (not ready)"
		}
		out = append(out, huh.NewOption(label, a.Name))
		known = known || a.Name == chosen
	}
	if !known {
		out = append(out, huh.NewOption(clean.Line(chosen, 80)+"  from the settings", chosen))
	}
	return out
}

func (p *agentsPage) update(m *Model, msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case agentsMsg:
		m.agents = msg.agents
		if len(m.agents) == 0 {
			m.agents = []Agent{{Name: "tuner", Title: "tuner", State: "built in: needs no model", Ready: true}}
		}
		if msg.err != nil {
			m.fault = "looking for agents: " + clean.Line(msg.err.Error(), 200)
		}
		return m.show(p)
	case gateMsg:
		if msg.err != nil {
			return m.show(p)
		}
	}
	if p.form == nil {
		return nil
	}
	cmd := p.form.update(msg)
	if !p.form.done() || m.busy != "" {
		return cmd
	}
	m.roster = p.answers
	return tea.Batch(cmd, m.closing(StepAgents, "writing settings.json", func(context.Context) error { return m.world.Gates.Settings(p.answers.apply) }))
}

func (p *agentsPage) back(*Model) (tea.Cmd, bool) { return nil, false }

func (p *agentsPage) resize(w, h int) tea.Cmd {
	if p.form == nil {
		return nil
	}
	return p.form.resize(w, h)
}
func (p *agentsPage) keys() string { return "↑↓←→ choose   tab next   enter confirm" }

func (p *agentsPage) view(m *Model, _, _ int) []string {
	if p.form == nil {
		return []string{m.look.Faint.On("looking for agents on this machine" + m.look.Marks.Cut)}
	}
	return strings.Split(p.form.view(), "\n")
}

// rosterLine says who plays, for the summary.
func (a rosterAnswers) line() string {
	who := a.main
	if a.perRole {
		var parts []string
		for _, r := range playedRoles() {
			parts = append(parts, r+" "+*a.roles[r])
		}
		who = strings.Join(parts, ", ")
	}
	return fmt.Sprintf("%s; %s plans in a round, %s rounds at most", who, a.agents, a.rounds)
}
