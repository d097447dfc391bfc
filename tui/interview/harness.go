package interview

import (
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/huh/v2"
)

// harnessPage is the rules that every plan is checked against.
type harnessPage struct {
	form  *form
	rules string
}

func newHarnessPage(m *Model) page { return &harnessPage{rules: strings.Join(m.custom, "\n")} }

func (p *harnessPage) start(m *Model, w, h int) tea.Cmd {
	p.form = newForm(m, huh.NewGroup(huh.NewText().Title("Rules of your own, one a line (none is fine)").
		Placeholder("Do not add dependencies.").Value(&p.rules).Lines(5).CharLimit(8000)))
	return p.form.start(w, h-len(p.text(m, w)))
}

func (p *harnessPage) text(m *Model, w int) []string {
	out := []string{"Every plan is checked against these rules:", ""}
	for _, rule := range []string{
		"One hypothesis: a plan states exactly one that the benchmark can test.",
		"No family streak: an approach that has won the last 3 rounds running waits a round.",
		"Diversity: two plans of one round do not share an approach.",
	} {
		for i, line := range m.look.Wrap(rule, max(10, w-2), 2) {
			mark := m.look.Marks.Dot + " "
			if i > 0 {
				mark = "  "
			}
			out = append(out, m.look.Faint.On(mark)+line)
		}
	}
	return append(out, "")
}

func (p *harnessPage) update(m *Model, msg tea.Msg) tea.Cmd {
	if g, ok := msg.(gateMsg); ok && g.err != nil {
		return m.show(p)
	}
	cmd := p.form.update(msg)
	if !p.form.done() || m.busy != "" {
		return cmd
	}
	rules := rulesOf(p.rules)
	var text []byte
	if kept := slices.Equal(rules, m.world.Custom) && !slices.Contains(m.world.Open, gateHarness); !kept {
		text = harnessText(m.world.Harness, rules)
	}
	m.custom = rules
	return tea.Batch(cmd, m.closing(StepHarness, "writing harness.md", func(context.Context) error { return m.world.Gates.Harness(text) }))
}

// rulesOf are the lines of a text; a list's own marks are left out.
func rulesOf(text string) (rules []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "-*")); line != "" {
			rules = append(rules, line)
		}
	}
	return rules
}

func (p *harnessPage) back(*Model) (tea.Cmd, bool) { return nil, false }
func (p *harnessPage) resize(w, h int) tea.Cmd     { return p.form.resize(w, h-7) }
func (p *harnessPage) keys() string                { return "ctrl+j new line   enter confirm" }

func (p *harnessPage) view(m *Model, w, _ int) []string {
	return append(p.text(m, w), strings.Split(p.form.view(), "\n")...)
}
