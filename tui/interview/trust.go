package interview

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/huh/v2"

	"si/internal/clean"
)

// trustPage is the first gate: nothing is written, and nothing of the repository
// runs, before it is said yes to.
type trustPage struct {
	form *form
	yes  bool
}

func newTrustPage(*Model) page { return &trustPage{} }

func (p *trustPage) start(m *Model, w, h int) tea.Cmd {
	p.form = newForm(m, huh.NewGroup(huh.NewConfirm().
		Title("Do you trust this repository?").
		Affirmative("Yes, run it").Negative("No, leave").Value(&p.yes)))
	return p.form.start(w, h-len(p.text(m, w)))
}

func (p *trustPage) text(m *Model, w int) []string {
	out := m.wrapped(m.look.Plain, fmt.Sprintf("si will run agents and the benchmark command in %s; this executes arbitrary code there.", clean.Line(m.world.Repository, 200)), w)
	if m.world.Contained != "" {
		out = append(out, "")
		out = append(out, m.wrapped(m.look.Faint, clean.Line(m.world.Contained, 500), w)...)
	}
	if n := len(m.world.Dirty); n > 0 {
		names := strings.Join(m.world.Dirty[:min(n, 3)], ", ")
		out = append(out, "")
		out = append(out, m.wrapped(m.look.Warn, clean.Line(fmt.Sprintf("What is not committed is left out (%d paths: %s): si starts from the last commit of %s.", n, names, m.world.Branch), 400), w)...)
	}
	out = append(out, "")
	out = append(out, m.wrapped(m.look.Faint, "Your checkout, your branches and your stash are changed by nothing that si does. Nothing is written before you say yes.", w)...)
	return append(out, "")
}

func (p *trustPage) update(m *Model, msg tea.Msg) tea.Cmd {
	if g, ok := msg.(gateMsg); ok && g.err != nil {
		w, h := m.room()
		return p.start(m, w, h)
	}
	cmd := p.form.update(msg)
	if !p.form.done() || m.busy != "" {
		return cmd
	}
	if p.yes {
		return tea.Batch(cmd, m.closing(StepTrust, "laying the track out", m.world.Gates.Trust))
	}
	m.outcome.Declined, m.outcome.Left = true, true
	m.busy, m.leaving = "leaving", true
	return tea.Batch(cmd, m.doing(func() tea.Msg { return gateMsg{StepTrust, m.world.Gates.Distrust()} }))
}

func (p *trustPage) resize(w, h int) tea.Cmd     { return p.form.resize(w, h-6) }
func (p *trustPage) back(*Model) (tea.Cmd, bool) { return nil, false }
func (p *trustPage) keys() string                { return "y yes   n no   enter confirm" }
func (p *trustPage) view(m *Model, w, _ int) []string {
	return append(p.text(m, w), strings.Split(p.form.view(), "\n")...)
}
