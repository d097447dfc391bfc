package interview

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/huh/v2"

	"si/internal/clean"
	"si/loop/survey"
	"si/track"
)

// choosePage offers the benchmarks that were found, the best first.
type choosePage struct {
	form *form
	pick string // a finding's command, or one of the choices below
}

// Choices beside the findings.
const (
	typed = "\x00typed"
	built = "\x00built"
	kept  = "\x00kept"
)

// builtMsg is a benchmark that an agent wrote.
type builtMsg struct {
	Built
	err error
}

func newChoosePage(*Model) page { return &choosePage{} }

func (p *choosePage) start(m *Model, w, h int) tea.Cmd {
	var options []huh.Option[string]
	if m.world.Settings.BenchmarkCommand != "" {
		options = append(options, huh.NewOption("keep "+clean.Line(m.world.Settings.BenchmarkCommand, 120), kept))
	}
	for _, f := range m.report.Findings {
		options = append(options, huh.NewOption(clean.Line(f.Tool, 40)+": "+clean.Line(f.Command, 160), f.Command))
	}
	options = append(options, huh.NewOption("type another command", typed))
	if m.world.Build != nil {
		options = append(options, huh.NewOption("let the agent write a benchmark", built))
	}
	if p.pick == "" {
		p.pick = options[0].Value
	}
	title := "Which benchmark decides? Found in the repository:"
	switch {
	case !m.looked:
		title = "Which benchmark decides? Looking through the repository" + m.look.Marks.Cut
	case len(m.report.Findings) == 0:
		title = "No benchmark was found in the repository. Which command measures it?"
	}
	p.form = newForm(m, huh.NewGroup(huh.NewSelect[string]().Title(title).Options(options...).Value(&p.pick)))
	return p.form.start(w, p.formHeight(h, len(options)))
}

func (p *choosePage) formHeight(h, options int) int { return min(h-factLines, options+2) }

// factLines are kept for what is told of the finding under the cursor.
const factLines = 9

func (p *choosePage) update(m *Model, msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case surveyMsg:
		p.pick = "" // what was first before the findings is not what to begin with
		w, h := m.room()
		return p.start(m, w, h)
	case builtMsg:
		return p.wasBuilt(m, msg)
	}
	cmd := p.form.update(msg)
	if !p.form.done() || m.busy != "" {
		return cmd
	}
	return tea.Batch(cmd, p.chosen(m))
}

func (p *choosePage) chosen(m *Model) tea.Cmd {
	switch p.pick {
	case built:
		m.busy = "the agent writes a benchmark"
		draft, seen, ctx, build := m.draft, m.seen(), m.ctx, m.world.Build.Build
		return m.doing(func() tea.Msg {
			b, err := build(ctx, draft, seen)
			return builtMsg{b, err}
		})
	case kept:
		m.bench = ofSettings(m.world.Settings)
	case typed:
		if m.bench.command == "" || m.found(m.bench.command) {
			m.bench = benchAnswers{format: "json", metric: "primary", direction: string(track.HigherIsBetter), guardLine: m.firstTest()}
		}
	default:
		for _, f := range m.report.Findings {
			if f.Command == p.pick {
				m.bench = ofFinding(f, m.draft.InScope, m.report.Tests)
			}
		}
	}
	m.branch = m.world.Branch
	if b := m.built[p.pick]; b != "" {
		m.branch = b // it has the benchmark
	}
	return m.show(newDetailPage(m))
}

func (m *Model) found(command string) bool {
	return slices.ContainsFunc(m.report.Findings, func(f survey.Finding) bool { return f.Command == command })
}

func (m *Model) firstTest() string {
	if len(m.report.Tests) == 0 {
		return ""
	}
	return m.report.Tests[0].Command
}

func (p *choosePage) wasBuilt(m *Model, msg builtMsg) tea.Cmd {
	m.busy = ""
	w, h := m.room()
	if m.leaving {
		return tea.Quit
	}
	if msg.err != nil {
		m.fault = "the builder failed: " + clean.Line(msg.err.Error(), 300)
		return p.start(m, w, h)
	}
	m.report.Findings = append([]survey.Finding{msg.Finding}, m.report.Findings...)
	m.built[msg.Finding.Command] = msg.Branch
	p.pick = msg.Finding.Command
	return p.start(m, w, h)
}

func (p *choosePage) back(*Model) (tea.Cmd, bool) { return nil, false }
func (p *choosePage) resize(w, h int) tea.Cmd     { return p.form.resize(w, h-factLines) }
func (p *choosePage) keys() string                { return "↑↓ choose   enter look at it" }

func (p *choosePage) view(m *Model, w, h int) []string {
	lines := strings.Split(p.form.view(), "\n")
	lines = lines[:min(len(lines), max(1, h-factLines))]
	lines = append(lines, "")
	hovered, _ := p.form.hovered()
	for _, f := range m.report.Findings {
		if f.Command == hovered {
			lines = append(lines, findingFacts(m, f, w)...)
		}
	}
	return lines
}

// findingFacts are what a person needs to judge a finding.
func findingFacts(m *Model, f survey.Finding, w int) []string {
	l := m.look
	row := func(name, value string) string {
		return l.Faint.On(l.Fit(name, 10)) + " " + l.Cut(clean.Line(value, 400), max(10, w-11))
	}
	where := f.File
	if f.Line > 0 {
		where = fmt.Sprintf("%s:%d", f.File, f.Line)
	}
	out := []string{
		row("seen", where+"  "+f.Text),
		row("command", f.Command),
		row("reads", fmt.Sprintf("%s, metric %s, %s", f.Format, f.Metric, strings.ReplaceAll(string(f.Direction), "_", " "))),
		row("seals", strings.Join(f.Sealed, ", ")),
	}
	if f.Note != "" {
		out = append(out, m.wrapped(l.Warn, clean.Line(f.Note, 400), w)...)
	}
	return out
}
