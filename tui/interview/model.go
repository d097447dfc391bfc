package interview

import (
	"context"
	"errors"
	"slices"

	tea "charm.land/bubbletea/v2"

	"si/internal/clean"
	"si/loop/clarify"
	"si/loop/survey"
	"si/track"
	"si/tui/look"
)

// page is one question, or one thing to look at. Its methods are called by the
// program's loop alone.
type page interface {
	// start begins the page in a room; it is called again when one comes back.
	start(m *Model, w, h int) tea.Cmd
	update(m *Model, msg tea.Msg) tea.Cmd
	resize(w, h int) tea.Cmd
	// view is the page as lines of at most w columns.
	view(m *Model, w, h int) []string
	// back goes one question back inside of the step; false when there is none.
	back(m *Model) (tea.Cmd, bool)
	keys() string
}

// Model is the interview. It is a tea.Model.
type Model struct {
	world  World
	look   look.Look
	ctx    context.Context
	cancel context.CancelFunc

	w, h  int
	step  Step
	page  page
	busy  string // what is being done; keys wait
	fault string // why the last step did not go on

	open    []string
	report  survey.Report
	looked  bool              // report is there
	branch  string            // to start from
	built   map[string]string // branches of benchmarks that were written, by command
	draft   clarify.Draft
	turns   []clarify.Turn
	bench   benchAnswers
	custom  []string
	agents  []Agent
	roster  rosterAnswers
	leaving bool
	outcome Outcome
	work    work
}

// New makes the interview of a world. It ends with ctx.
func New(ctx context.Context, w World) *Model {
	ctx, cancel := context.WithCancel(ctx)
	m := &Model{
		world: w, look: look.New(w.Dark, w.ASCII), ctx: ctx, cancel: cancel, open: slices.Clone(w.Open), step: firstStep(w.Open), branch: w.Branch, built: map[string]string{},
		draft: ofGoal(w.Goal), custom: slices.Clone(w.Custom), roster: ofRoster(w.Settings),
	}
	if w.Settings.BenchmarkCommand != "" {
		m.bench = ofSettings(w.Settings)
	}
	return m
}

// Outcome says how it ended.
func (m *Model) Outcome() Outcome { return m.outcome }

// Close ends what still runs for the interview.
func (m *Model) Close() { m.cancel() }

type (
	surveyMsg struct {
		report survey.Report
		err    error
	}
	gateMsg struct {
		step Step
		err  error
	}
)

// Init begins the survey, which reads and writes nothing, and the first page.
func (m *Model) Init() tea.Cmd {
	look := m.doing(func() tea.Msg {
		r, err := m.world.Survey(m.ctx)
		return surveyMsg{r, err}
	})
	return tea.Batch(look, m.world.Feed.next(m.ctx), m.enter(m.step), tea.RequestBackgroundColor)
}

// Update hears one message.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.w, m.h = msg.Width, msg.Height
		w, h := m.room()
		return m, m.page.resize(w, h)
	case tea.KeyPressMsg:
		return m, m.key(msg)
	case surveyMsg:
		m.report, m.looked = msg.report, true
		if msg.err != nil {
			m.fault = "the survey of the repository: " + clean.Line(msg.err.Error(), 300)
		}
		return m, m.page.update(m, msg)
	case feedMsg:
		cmds := []tea.Cmd{m.world.Feed.next(m.ctx)}
		for _, one := range msg.msgs {
			cmds = append(cmds, m.page.update(m, one))
		}
		return m, tea.Batch(cmds...)
	case gateMsg:
		return m, m.closed(msg)
	case leaveMsg:
		return m, m.leave()
	case tea.BackgroundColorMsg:
		m.world.Dark = msg.IsDark()
		m.look = look.New(m.world.Dark, m.world.ASCII)
		return m, nil
	}
	return m, m.page.update(m, msg)
}

func (m *Model) key(msg tea.KeyPressMsg) tea.Cmd {
	switch msg.String() {
	case "ctrl+c":
		return m.leave()
	case "esc":
		return m.goBack()
	}
	if m.busy != "" && !m.hearsWhileBusy() {
		return nil
	}
	m.fault = ""
	return m.page.update(m, msg)
}

// hearsWhileBusy is for the trial, which asks while its gate is being closed.
func (m *Model) hearsWhileBusy() bool {
	_, trial := m.page.(*trialPage)
	return trial
}

// leave ends the interview. What is being done is ended first, so that no process
// and no half answer is left.
func (m *Model) leave() tea.Cmd {
	m.outcome.Left = true
	if m.busy == "" || m.leaving {
		m.cancel()
		return tea.Quit
	}
	m.leaving = true
	m.busy = "ending what runs"
	m.cancel()
	return nil
}

// goBack goes one question back.
func (m *Model) goBack() tea.Cmd {
	if m.leaving {
		return nil
	}
	if cmd, inside := m.page.back(m); inside {
		m.fault = ""
		return cmd
	}
	if m.busy != "" || m.step == StepTrust {
		return nil
	}
	m.fault = ""
	return m.enterLast(m.step - 1)
}

// enter begins a step with its first page.
func (m *Model) enter(s Step) tea.Cmd {
	m.step = s
	switch s {
	case StepTrust:
		return m.show(newTrustPage(m))
	case StepGoal:
		return m.show(m.goalStart())
	case StepBenchmark:
		return m.show(newChoosePage(m))
	case StepHarness:
		return m.show(newHarnessPage(m))
	case StepAgents:
		return m.show(newAgentsPage(m))
	case StepStart:
		return m.show(newStartPage(m))
	}
	return nil
}

// enterLast comes back to a step: to its last question.
func (m *Model) enterLast(s Step) tea.Cmd {
	m.step = s
	switch s {
	case StepGoal:
		return m.show(newGoalReview(m))
	case StepBenchmark:
		return m.show(newDetailPage(m))
	case StepTrust, StepHarness, StepAgents, StepStart:
	}
	return m.enter(s)
}

func (m *Model) show(p page) tea.Cmd {
	m.page = p
	w, h := m.room()
	return p.start(m, w, h)
}

// closing closes a gate in the background.
func (m *Model) closing(s Step, what string, do func(context.Context) error) tea.Cmd {
	m.busy, m.fault = what, ""
	ctx := m.ctx
	return m.doing(func() tea.Msg { return gateMsg{s, do(ctx)} })
}

// doing is a command whose end is waited for when the interview ends.
func (m *Model) doing(do func() tea.Msg) tea.Cmd {
	return func() tea.Msg {
		if !m.work.begin() {
			return nil
		}
		defer m.work.wg.Done()
		return do()
	}
}

// closed hears how a gate went.
func (m *Model) closed(msg gateMsg) tea.Cmd {
	m.busy = ""
	switch {
	case m.leaving:
		return tea.Quit
	case msg.err != nil:
		if !errors.Is(msg.err, errTakenBack) {
			m.fault = clean.Text([]byte(msg.err.Error()))
		}
		return m.page.update(m, msg)
	case msg.step == StepStart:
		m.outcome.Finished = true
		return tea.Quit
	}
	m.mark(msg.step)
	return m.enter(msg.step + 1)
}

// mark notes that a gate is closed.
func (m *Model) mark(s Step) {
	gates := map[Step]string{StepTrust: gateTrust, StepGoal: gateGoal, StepBenchmark: gateBenchmark, StepHarness: gateHarness}
	m.open = slices.DeleteFunc(m.open, func(g string) bool { return g == gates[s] })
}

// settings are those that the answers so far ask for.
func (m *Model) settings() track.Settings {
	v := m.world.Settings
	v.TargetBranch = m.branch
	return v
}

// seen is what questions name.
func (m *Model) seen() clarify.Seen { return clarify.Seen{Report: m.report, Files: m.world.Files} }

// errTakenBack says that the person went back while a gate was being closed.
var errTakenBack = errors.New("taken back")
