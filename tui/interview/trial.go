package interview

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/huh/v2"

	"si/internal/clean"
	"si/loop"
	"si/track"
)

// trialPage runs the benchmark on the unchanged repository while the person
// watches, and then asks for the word. The gate is closed by the answer.
type trialPage struct {
	form   *form
	cancel context.CancelFunc
	state  trialState
	answer func(error) // takes the person's word to the gate; nil before it asks
	yes    bool
	away   bool // the person wants to go back: the gate's end is waited for
	began  time.Time
	failed bool
}

// trialState is what the view shows.
type trialState struct {
	command string
	runs    []track.Sample
	checks  int    // runs of the canaries and guards so far
	noise   string // what the runs of the baseline say, once they are taken
	notes   []string
	tail    []string // the last lines that the benchmark printed
	log     string
	trial   *loop.Trial
	fault   string
	seconds float64 // since it began
}

type (
	trialMsg struct {
		trial  loop.Trial
		answer func(error)
	}
	tailMsg struct {
		page  *trialPage
		lines []string
		log   string
	}
)

func newTrialPage(*Model) page { return &trialPage{} }

func (p *trialPage) start(m *Model, w, h int) tea.Cmd {
	if p.cancel != nil {
		return nil
	}
	ctx, cancel := context.WithCancel(m.ctx)
	p.cancel, p.began = cancel, m.world.Now()
	p.state = trialState{command: strings.TrimSpace(m.bench.command)}
	v := m.bench.apply(m.settings(), m.draft.Target)
	in := loop.SetUp{Confirm: confirming(m.world.Feed)}
	m.busy, m.fault = "running the benchmark", ""
	gates := m.world.Gates
	run := m.doing(func() tea.Msg { return gateMsg{StepBenchmark, gates.Benchmark(ctx, v, in)} })
	return tea.Batch(run, p.look(ctx, m))
}

// confirming puts a trial before the person, and waits for the word.
func confirming(feed *Feed) func(context.Context, loop.Trial) error {
	return func(ctx context.Context, t loop.Trial) error {
		word := make(chan error, 1)
		feed.put(trialMsg{t, func(err error) { word <- err }})
		select {
		case err := <-word:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (p *trialPage) update(m *Model, msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case eventMsg:
		p.state.hear(msg.Event)
		return nil
	case tailMsg:
		if msg.page != p || m.busy == "" {
			return nil
		}
		p.state.tail, p.state.log = msg.lines, msg.log
		p.state.seconds = m.world.Now().Sub(p.began).Seconds()
		if p.answer != nil {
			return nil
		}
		return p.look(m.ctx, m)
	case trialMsg:
		return p.ask(m, msg)
	case gateMsg:
		return p.ended(m, msg)
	case tea.KeyPressMsg:
		if p.failed && (msg.String() == "enter" || msg.String() == "r") {
			if msg.String() == "r" {
				return m.show(newTrialPage(m))
			}
			return m.show(newDetailPage(m))
		}
	}
	if p.form == nil {
		return nil
	}
	cmd := p.form.update(msg)
	if p.form.done() && p.answer != nil {
		word := error(nil)
		if !p.yes {
			word = errTakenBack
			p.away = true
		}
		p.answer(word)
		p.answer, p.form = nil, nil
		m.busy = "writing it down"
		if p.away {
			m.busy = "putting back what was tried"
		}
	}
	return cmd
}

// ask shows what the runs said and asks for the word.
func (p *trialPage) ask(m *Model, msg trialMsg) tea.Cmd {
	t := msg.trial
	p.state.trial, p.answer = &t, msg.answer
	p.yes = !t.Noisy // a noisy benchmark is not taken by pressing enter
	title, yes := "This command runs again and again. Take it?", "Yes, take it"
	if t.Noisy {
		title, yes = "Its runs spread widely. Take it all the same?", "Yes, at that cost"
	}
	p.form = newForm(m, huh.NewGroup(huh.NewConfirm().Title(title).Affirmative(yes).Negative("No, change it").Value(&p.yes)))
	w, _ := m.room()
	return p.form.start(w, confirmLines)
}

// confirmLines is the height of a yes or no.
const confirmLines = 5

// ended hears that the gate did not close.
func (p *trialPage) ended(m *Model, msg gateMsg) tea.Cmd {
	p.cancel()
	if p.away {
		m.fault = ""
		return m.show(newDetailPage(m))
	}
	p.failed, p.form = true, nil
	p.state.fault = clean.Text([]byte(msg.err.Error()))
	m.fault = ""
	return nil
}

// back ends what runs; the form comes when it has ended.
func (p *trialPage) back(m *Model) (tea.Cmd, bool) {
	if m.busy == "" {
		return m.show(newDetailPage(m)), true
	}
	p.away = true
	if p.answer != nil {
		p.answer(errTakenBack)
		p.answer, p.form = nil, nil
		m.busy = "putting back what was tried"
		return nil, true
	}
	p.cancel()
	m.busy = "ending the run"
	return nil, true
}

func (p *trialPage) resize(w, _ int) tea.Cmd {
	if p.form == nil {
		return nil
	}
	return p.form.resize(w, confirmLines)
}

func (p *trialPage) keys() string {
	switch {
	case p.failed:
		return "enter change it   r run it again"
	case p.form != nil:
		return "y yes   n no   enter confirm"
	}
	if p.away || p.state.trial != nil {
		return "one moment"
	}
	return "the benchmark runs; esc ends it"
}

// saidAlready tells notes that the page says in its own form.
func saidAlready(text string) bool {
	for _, begin := range []string{"run ", "the benchmark runs ", "runs repeat exactly", "scores of 0 or less", "a gain of "} {
		if strings.HasPrefix(text, begin) {
			return true
		}
	}
	return false
}

// purposeSetup marks the runs of the unchanged repository.
const purposeSetup = "setup"

// hear takes one event of the loop.
func (s *trialState) hear(e track.Event) {
	switch e.Ev { //nolint:exhaustive // the others do not come in a set-up
	case track.EvMeasured:
		var sample track.Sample
		switch {
		case e.Decode(&sample) != nil:
		case sample.Purpose == purposeSetup:
			s.runs = append(s.runs, sample)
		default:
			s.checks++
		}
	case track.EvCanary:
		var c track.CanaryEvent
		if e.Decode(&c) == nil {
			s.notes = append(s.notes, clean.Line("check: "+c.What, 300))
		}
	case track.EvWarning, track.EvSetup:
		var n track.Note
		switch {
		case e.Decode(&n) != nil:
		case saidAlready(n.Text):
		case strings.HasPrefix(n.Text, "noise:"):
			s.noise = clean.Line(n.Text, 100)
		default:
			s.notes = append(s.notes, clean.Line(n.Text, 300))
		}
	default:
	}
}
