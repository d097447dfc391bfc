package interview

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/huh/v2"

	"si/internal/clean"
	"si/tui/look"
)

// Choice is a question that is answered with yes or no.
type Choice struct {
	Text    string // what is to be known first, in lines
	Title   string
	Yes, No string
	Dark    bool
	ASCII   bool
}

// Ask puts one question on the terminal, below what stands there. Leaving is a no.
func Ask(ctx context.Context, t Terminal, c Choice) (bool, error) {
	m := newAsked(c)
	err := hold(ctx, t, m)
	return m.yes && m.said, err
}

// asked is a question on its own.
type asked struct {
	choice Choice
	look   look.Look
	form   *form
	yes    bool
	said   bool
	over   bool
	w      int
}

func newAsked(c Choice) *asked {
	m := &asked{choice: c, look: look.New(c.Dark, c.ASCII), yes: true}
	m.form = formIn(&m.choice.Dark, c.ASCII, huh.NewGroup(huh.NewConfirm().Title(c.Title).Affirmative(c.Yes).Negative(c.No).Value(&m.yes)))
	return m
}

// Init begins the question.
func (m *asked) Init() tea.Cmd {
	return tea.Batch(m.form.start(78, confirmLines), tea.RequestBackgroundColor)
}

// Update hears one message.
func (m *asked) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case leaveMsg:
		m.over = true
		return m, tea.Quit
	case tea.BackgroundColorMsg:
		m.choice.Dark = msg.IsDark()
	case tea.WindowSizeMsg:
		m.w = msg.Width
		return m, m.form.resize(min(78, msg.Width), confirmLines)
	case tea.KeyPressMsg:
		if k := msg.String(); k == "ctrl+c" || k == "esc" || k == "q" {
			m.over = true
			return m, tea.Quit
		}
	}
	cmd := m.form.update(msg)
	if m.form.done() {
		m.said, m.over = true, true
		return m, tea.Quit
	}
	return m, cmd
}

// View draws the question; when it is answered only the text stays.
func (m *asked) View() tea.View {
	var out []string
	for _, line := range strings.Split(strings.TrimRight(clean.Text([]byte(m.choice.Text)), "\n"), "\n") {
		out = append(out, m.look.Cut(line, max(20, m.w)))
	}
	if !m.over {
		out = append(out, "", m.form.view())
	}
	return tea.NewView(strings.Join(out, "\n") + "\n")
}
