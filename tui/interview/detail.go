package interview

import (
	"errors"
	"fmt"
	"regexp"
	rx "regexp/syntax"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/huh/v2"

	"si/internal/clean"
	"si/track"
)

// detailPage is a benchmark as a form: what was found is filled in.
type detailPage struct{ form *form }

func newDetailPage(*Model) page { return &detailPage{} }

func (p *detailPage) start(m *Model, w, h int) tea.Cmd {
	a := &m.bench
	formats := make([]huh.Option[string], 0, len(track.Formats()))
	for _, f := range track.Formats() {
		formats = append(formats, huh.NewOption(f, f))
	}
	if a.format == "" {
		a.format, a.direction = "json", string(track.HigherIsBetter)
	}
	how := huh.NewGroup(
		huh.NewInput().Title("Command: runs again and again, in a clean checkout").Value(&a.command).CharLimit(4000).Validate(filledIn),
		huh.NewSelect[string]().Title("How its output is read").Options(formats...).Inline(true).Value(&a.format),
		huh.NewInput().Title("Metric, as the output names it").Value(&a.metric).CharLimit(300),
		huh.NewSelect[string]().Title("What is better").Inline(true).Value(&a.direction).
			Options(huh.NewOption("higher is better", string(track.HigherIsBetter)), huh.NewOption("lower is better", string(track.LowerIsBetter))),
	)
	reading := huh.NewGroup(
		huh.NewInput().Title(`Expression with the groups "value" and, for several, "name"`).Value(&a.regex).CharLimit(1000).Validate(expression),
	).WithHideFunc(func() bool { return a.format != "regex" })
	what := []huh.Field{
		huh.NewText().Title("Sealed: no candidate may touch these; one a line, folders end in /").Value(&a.sealed).Lines(4).CharLimit(8000),
		huh.NewInput().Title("Result files that the command writes; empty: it prints its result").Value(&a.results).CharLimit(1000),
		huh.NewInput().Title("Set-up: builds once in each new tree, before the runs; empty: nothing").Value(&a.setup).CharLimit(4000),
	}
	if a.guardLine != "" {
		what = append(what, huh.NewConfirm().Title("Must "+a.guardLine+" pass for every winner?").Affirmative("Yes").Negative("No").Value(&a.guard))
	}
	p.form = newForm(m, how, reading, huh.NewGroup(what...))
	return p.form.start(w, h)
}

func expression(text string) error {
	if strings.TrimSpace(text) == "" {
		return nil // lines "name: value" are read then
	}
	const wanted = `write (?P<value>…) around the number, as in: ops: (?P<value>[0-9.]+)`
	re, err := regexp.Compile(text)
	var syntax *rx.Error
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("%q is no regular expression: %s; %s", clean.Line(text, 60), syntax.Code, wanted)
	case err != nil:
		return fmt.Errorf("%q is no regular expression: %w", clean.Line(text, 60), err)
	case re.SubexpIndex("value") < 0:
		return fmt.Errorf("%q has no group named value: %s", clean.Line(text, 60), wanted)
	}
	return nil
}

func (p *detailPage) update(m *Model, msg tea.Msg) tea.Cmd {
	cmd := p.form.update(msg)
	if !p.form.done() {
		return cmd
	}
	return tea.Batch(cmd, m.show(newTrialPage(m)))
}

func (p *detailPage) back(m *Model) (tea.Cmd, bool) { return m.show(newChoosePage(m)), true }
func (p *detailPage) resize(w, h int) tea.Cmd       { return p.form.resize(w, h) }
func (p *detailPage) keys() string {
	return "←→ choose   enter next   shift+tab up   ctrl+j line"
}

func (p *detailPage) view(_ *Model, _, _ int) []string { return strings.Split(p.form.view(), "\n") }
