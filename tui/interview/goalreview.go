package interview

import (
	"context"
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/huh/v2"

	"si/internal/clean"
	"si/loop/clarify"
)

var errEmpty = errors.New("an answer is needed")

// goalReview shows the whole goal, which is written when it is confirmed.
type goalReview struct {
	form *form
	yes  bool
}

func newGoalReview(*Model) page { return &goalReview{yes: true} }

func (p *goalReview) start(m *Model, w, h int) tea.Cmd {
	p.form = newForm(m, huh.NewGroup(huh.NewConfirm().Title("Is this the goal?").Affirmative("Yes, write it down").Negative("Change it").Value(&p.yes)))
	return p.form.start(w, h-len(p.text(m, w)))
}

func (p *goalReview) text(m *Model, w int) []string {
	var out []string
	for _, d := range clarify.Dimensions() {
		label := m.look.Strong.On(m.look.Fit(string(d), 11))
		for i, line := range m.look.Wrap(clean.Line(m.draft.Of(d), 1000), max(10, w-12), 4) {
			if i > 0 {
				label = strings.Repeat(" ", 11)
			}
			out = append(out, label+" "+line)
		}
	}
	return append(out, "")
}

func (p *goalReview) update(m *Model, msg tea.Msg) tea.Cmd {
	if g, ok := msg.(gateMsg); ok && g.err != nil {
		return p.refused(m)
	}
	if _, ok := msg.(surveyMsg); ok {
		return nil
	}
	cmd := p.form.update(msg)
	if !p.form.done() || m.busy != "" {
		return cmd
	}
	if !p.yes {
		return tea.Batch(cmd, m.show(&goalEdit{}))
	}
	answer, v := goalAnswer(m.draft), m.settings()
	return tea.Batch(cmd, m.closing(StepGoal, "writing goal.md", func(ctx context.Context) error { return m.world.Gates.Goal(ctx, answer, v) }))
}

// refused lets the person mend what the gate refused. The fault stays on the
// screen.
func (p *goalReview) refused(m *Model) tea.Cmd { return m.show(&goalEdit{}) }

func (p *goalReview) back(m *Model) (tea.Cmd, bool) {
	if m.busy != "" {
		return nil, true
	}
	if len(m.turns) == 0 {
		return nil, false
	}
	return (&questionPage{}).back(m)
}

func (p *goalReview) resize(w, h int) tea.Cmd { return p.form.resize(w, h-6) }
func (p *goalReview) keys() string            { return "←→ choose   enter confirm" }

func (p *goalReview) view(m *Model, w, _ int) []string {
	return append(p.text(m, w), strings.Split(p.form.view(), "\n")...)
}
