package interview

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/huh/v2"

	"si/internal/clean"
	"si/loop/clarify"
)

// startPage sums the set-up up; its answer finishes it.
type startPage struct {
	form *form
	now  bool
}

func newStartPage(*Model) page { return &startPage{now: true} }

func (p *startPage) start(m *Model, w, h int) tea.Cmd {
	p.form = newForm(m, huh.NewGroup(huh.NewConfirm().Title("Start now?").Affirmative("Start").Negative("Not yet: 'si run' starts it").Value(&p.now)))
	return p.form.start(w, h-len(p.text(m, w)))
}

func (p *startPage) text(m *Model, w int) []string {
	l := m.look
	var out []string
	row := func(name, value string) {
		for i, line := range l.Wrap(clean.Line(value, 1000), max(10, w-12), 3) {
			label := l.Strong.On(l.Fit(name, 11))
			if i > 0 {
				label = strings.Repeat(" ", 11)
			}
			out = append(out, label+" "+line)
		}
	}
	row("goal", m.draft.Objective)
	row("target", m.draft.Target)
	row("may change", m.draft.Of(clarify.Scope))
	row("benchmark", m.bench.command)
	if m.bench.setup != "" {
		row("set-up", m.bench.setup)
	}
	row("reads", m.bench.metric+", "+strings.ReplaceAll(m.bench.direction, "_", " "))
	row("sealed", strings.Join(words(m.bench.sealed), ", "))
	if m.bench.guard && m.bench.guardLine != "" {
		row("guard", m.bench.guardLine)
	}
	row("rules", "the three default ones"+map[bool]string{true: " and your own: " + strings.Join(m.custom, "; ")}[len(m.custom) > 0])
	row("agents", m.roster.line())
	out = append(out, "")
	out = append(out, m.wrapped(l.Faint, "Gains are merged into a branch improve/…; your checkout stays as it is. q in the run's screen asks how to stop.", w)...)
	return append(out, "")
}

func (p *startPage) update(m *Model, msg tea.Msg) tea.Cmd {
	if g, ok := msg.(gateMsg); ok && g.err != nil {
		m.outcome.Start = false
		return m.show(p)
	}
	cmd := p.form.update(msg)
	if !p.form.done() || m.busy != "" {
		return cmd
	}
	m.outcome.Start = p.now
	return tea.Batch(cmd, m.closing(StepStart, "making the branch", m.world.Gates.Finish))
}

func (p *startPage) back(*Model) (tea.Cmd, bool) { return nil, false }
func (p *startPage) resize(w, h int) tea.Cmd     { return p.form.resize(w, confirmLines) }
func (p *startPage) keys() string                { return "←→ choose   enter confirm" }

func (p *startPage) view(m *Model, w, h int) []string {
	form := strings.Split(p.form.view(), "\n")
	text := p.text(m, w)
	text = text[:min(len(text), max(0, h-len(form)))]
	return append(text, form...)
}
