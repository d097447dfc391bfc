package interview

import (
	tea "charm.land/bubbletea/v2"
	"charm.land/huh/v2"

	"si/internal/clean"
	"si/loop/clarify"
)

// questionPage asks about the weakest dimension of the goal: one question a round.
type questionPage struct {
	form     *form
	question clarify.Question
	scores   clarify.Scores
	answer   string
	pick     string // an offer, or own
	waiting  bool   // for a clarifier, or for the survey
	w, h     int
}

// clearEnough is the score from which on an answer stands.
const clearEnough = 80

// own is the choice of answering in one's own words.
const own = "\x00own"

// clarifiedMsg is a clarifier's answer.
type clarifiedMsg struct {
	Clarified
	err error
}

// goalStart is the page that the goal begins with: its review where everything is
// said already.
func (m *Model) goalStart() page {
	if m.looked && clarify.Rules(m.draft, m.seen(), m.turns).Clear() {
		return newGoalReview(m)
	}
	return &questionPage{}
}

func (p *questionPage) start(m *Model, w, h int) tea.Cmd {
	p.w, p.h = w, h
	if !m.looked {
		p.waiting = true
		return nil
	}
	if m.world.Clarify != nil && len(m.turns) > 0 {
		p.waiting = true
		draft, turns, seen, ask := m.draft, append([]clarify.Turn{}, m.turns...), m.seen(), m.world.Clarify.Clarify
		ctx := m.ctx
		return m.doing(func() tea.Msg {
			c, err := ask(ctx, draft, turns, seen)
			return clarifiedMsg{c, err}
		})
	}
	scores := clarify.Rules(m.draft, m.seen(), m.turns)
	return p.ask(m, scores, clarify.Ask(m.draft, scores, m.seen()))
}

// ask shows a question.
func (p *questionPage) ask(m *Model, scores clarify.Scores, q clarify.Question) tea.Cmd {
	p.waiting, p.question, p.scores = false, q, scores
	p.answer, p.pick = m.draft.Of(q.About), own
	var fields []huh.Field
	if len(q.Offers) > 0 {
		options := make([]huh.Option[string], 0, len(q.Offers)+1)
		for _, o := range q.Offers {
			options = append(options, huh.NewOption(clean.Line(o, 200), o))
		}
		options = append(options, huh.NewOption("in my own words", own))
		p.pick = q.Offers[0]
		if p.answer != "" && scores[q.About].Value >= clearEnough { // the person came back to it
			p.pick = own
		}
		fields = append(fields, huh.NewSelect[string]().Title(q.Text).Options(options...).Value(&p.pick))
	}
	words := huh.NewInput().Title(q.Text).Value(&p.answer).CharLimit(2000).Validate(filledIn)
	groups := []*huh.Group{huh.NewGroup(words)}
	if len(fields) > 0 {
		groups = []*huh.Group{huh.NewGroup(fields...), huh.NewGroup(words).WithHideFunc(func() bool { return p.pick != own })}
	}
	p.form = newForm(m, groups...)
	return p.form.start(p.formWidth(m), p.h-len(p.above(m)))
}

func (p *questionPage) update(m *Model, msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case surveyMsg:
		if p.waiting {
			p.waiting = false
			return m.show(m.goalStart())
		}
		return nil
	case clarifiedMsg:
		return p.clarified(m, msg)
	}
	if p.form == nil || p.waiting {
		return nil
	}
	cmd := p.form.update(msg)
	if !p.form.done() {
		return cmd
	}
	text := p.answer
	if p.pick != own {
		text = p.pick
	}
	m.turns = append(m.turns, clarify.Turn{About: p.question.About, Question: p.question.Text, Answer: text})
	m.draft = m.draft.Answer(p.question.About, text)
	return tea.Batch(cmd, m.nextQuestion())
}

// clarified takes what a model asks, within the bounds that hold for it too.
func (p *questionPage) clarified(m *Model, msg clarifiedMsg) tea.Cmd {
	rules := clarify.Rules(m.draft, m.seen(), m.turns)
	if msg.err != nil {
		m.fault = "the clarifier failed, the rules ask instead: " + clean.Line(msg.err.Error(), 200)
		return p.ask(m, rules, clarify.Ask(m.draft, rules, m.seen()))
	}
	m.draft = msg.Draft
	if msg.Scores.Clear() || msg.Question.Text == "" {
		return m.show(newGoalReview(m))
	}
	return p.ask(m, msg.Scores, msg.Question)
}

// nextQuestion goes on: to the review when the goal is clear, or when enough was
// asked.
func (m *Model) nextQuestion() tea.Cmd {
	clear := clarify.Rules(m.draft, m.seen(), m.turns).Clear()
	switch {
	case len(m.turns) >= clarify.HardRounds,
		len(m.turns) >= clarify.SoftRounds && m.whole(),
		clear && m.world.Clarify == nil:
		return m.show(newGoalReview(m))
	}
	return m.show(&questionPage{})
}

// whole says that every dimension has an answer.
func (m *Model) whole() bool {
	for _, d := range clarify.Dimensions() {
		if m.draft.Of(d) == "" {
			return false
		}
	}
	return true
}

func (p *questionPage) back(m *Model) (tea.Cmd, bool) {
	if len(m.turns) == 0 {
		return nil, false
	}
	last := m.turns[len(m.turns)-1]
	m.turns = m.turns[:len(m.turns)-1]
	scores := clarify.Rules(m.draft, m.seen(), m.turns)
	q := clarify.Ask(m.draft, asIfEmpty(scores, last.About), m.seen())
	again := &questionPage{}
	again.w, again.h = m.room()
	m.page = again
	cmd := again.ask(m, scores, q)
	return cmd, true
}

// asIfEmpty makes a dimension the weakest, to ask about it again.
func asIfEmpty(s clarify.Scores, about clarify.Dimension) clarify.Scores {
	out := clarify.Scores{}
	for d, v := range s {
		out[d] = clarify.Score{Value: v.Value + 1, Why: v.Why}
	}
	why := "you came back to it"
	if s[about].Why != "" {
		why += "; " + s[about].Why
	}
	out[about] = clarify.Score{Value: -1, Why: why}
	return out
}

func (p *questionPage) resize(w, h int) tea.Cmd {
	p.w, p.h = w, h
	if p.form == nil {
		return nil
	}
	return p.form.resize(besideBoard(w), h-6)
}

func (p *questionPage) keys() string { return "↑↓ choose   enter answer" }
