package interview

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/huh/v2"

	"si/loop/clarify"
)

// goalEdit has all four parts of the goal in one form.
type goalEdit struct {
	form    *form
	answers map[clarify.Dimension]*string
}

func (p *goalEdit) start(m *Model, w, h int) tea.Cmd {
	p.answers = map[clarify.Dimension]*string{}
	titles := map[clarify.Dimension]string{
		clarify.Objective: "Objective: what shall become better", clarify.Metric: "Metric: the number that decides",
		clarify.Target: "Target: a score, or as far as it goes", clarify.Scope: "Scope: files that may be changed, commas between; ! takes one out",
	}
	var fields []huh.Field
	for _, d := range clarify.Dimensions() {
		text := m.draft.Of(d)
		p.answers[d] = &text
		fields = append(fields, huh.NewInput().Title(titles[d]).Value(&text).CharLimit(2000).Validate(filledIn))
	}
	p.form = newForm(m, huh.NewGroup(fields...))
	return p.form.start(w, h)
}

func filledIn(text string) error {
	if strings.TrimSpace(text) == "" {
		return errEmpty
	}
	return nil
}

func (p *goalEdit) update(m *Model, msg tea.Msg) tea.Cmd {
	cmd := p.form.update(msg)
	if !p.form.done() {
		return cmd
	}
	d := m.draft
	d.OutScope = nil // the scope's own line has them
	for _, about := range clarify.Dimensions() {
		if was := m.draft.Of(about); *p.answers[about] != was || about == clarify.Scope {
			d = d.Answer(about, *p.answers[about])
		}
	}
	m.draft = d
	return tea.Batch(cmd, m.show(newGoalReview(m)))
}

func (p *goalEdit) back(m *Model) (tea.Cmd, bool) { return m.show(newGoalReview(m)), true }
func (p *goalEdit) resize(w, h int) tea.Cmd       { return p.form.resize(w, h) }
func (p *goalEdit) keys() string                  { return "enter next   shift+tab previous" }

func (p *goalEdit) view(_ *Model, _, _ int) []string { return strings.Split(p.form.view(), "\n") }
