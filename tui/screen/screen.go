// Package screen is the full screen: a watcher of a loop, in whichever process that
// runs. It draws what a feed tells and carries wishes to the loop; the loop knows
// nothing of it and never waits for it. There is one model, which routes; what is
// drawn are pure functions of package pane.
package screen

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"si/tui"
	"si/tui/feed"
	"si/tui/look"
	"si/tui/pane"
	"si/tui/scene"
)

// The sizes of a terminal: what the screen needs, and what it is drawn for at
// least before it gives way to a notice.
const (
	NeedWidth  = 60
	NeedHeight = 16
	leastW     = 40
	leastH     = 10
)

// Options are what a screen is made of.
type Options struct {
	Feed   feed.Feed
	Replay *feed.Replay // the same as Feed, when it plays an old journal
	Steer  tui.Steer    // nil: nothing can be asked of the loop
	// Diff gives the change from one commit to another as a patch; nil: there are
	// no diffs. It is called from goroutines of the screen.
	Diff func(ctx context.Context, from, to string) ([]byte, error)
	// Loop is closed when the process of the loop has ended; nil when another
	// process started it.
	Loop  <-chan struct{}
	Since time.Time // when that was started: an older run in the journal is not its
	ASCII bool
	Dark  bool // until the terminal says what its background is
	Now   func() time.Time
}

// Left says how a person left the screen.
type Left int

// The ways to leave.
const (
	AtEnd   Left = iota // the loop had ended
	Running             // it runs on
	Stuck               // the terminal took no more output: nothing can be printed there
)

// mode is what fills the screen.
type mode int

const (
	dashboard mode = iota
	zoomed
	diffed
	charted
	logged
	helped
	summed
)

// Model is the screen. It is a tea.Model.
type Model struct {
	o      Options
	ctx    context.Context //nolint:containedctx // of the commands that the model starts
	scene  *scene.Scene
	look   look.Look
	w, h   int
	mode   mode
	focus  string // a/ID of an agent, e/ID of a candidate
	pager  pager
	opened string       // what the pager shows: an agent's id or a commit
	page   page         // a diff
	gone   *scene.Agent // the agent that is open, when it has left the scene
	sheet  sheet        // what asks something, over the lower part
	status status
	chart  pane.Picture
	diffs  map[string]pane.Diff // by commit
	asked  map[string]bool      // commits whose diff is being counted
	absent int                  // reads in a row that found no process at the track
	ended  bool                 // the process of the loop has ended
	told   bool                 // the summary was opened by itself
	left   Left
	err    error
	going  chan struct{} // closed when the screen is about to end
	once   sync.Once     // closes it
	second int64         // of the clock that was drawn last
	drawn  int           // version of the scene that was drawn last
	frame  string
	dirty  bool
}

// New returns the screen before its first news.
func New(ctx context.Context, o Options) *Model {
	return &Model{
		o: o, ctx: ctx, scene: scene.New(scene.Facts{}), look: look.New(o.Dark, o.ASCII), w: 80, h: 24, dirty: true,
		diffs: map[string]pane.Diff{}, asked: map[string]bool{}, going: make(chan struct{}),
	}
}

// Init asks for the first news and for the colour of the background.
func (m *Model) Init() tea.Cmd {
	return tea.Batch(m.read(), tea.RequestBackgroundColor, m.waitForLoop())
}

// Update routes a message.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.w, m.h, m.dirty = msg.Width, msg.Height, true
		m.sheet.resize(msg.Width, msg.Height)
	case tea.BackgroundColorMsg:
		m.look, m.dirty = look.New(msg.IsDark(), m.o.ASCII), true
		m.chart = pane.Picture{}
	case tea.KeyPressMsg:
		m.dirty = true
		return m, m.key(msg)
	case tea.PasteMsg:
		m.dirty = true
		return m, m.sheet.edit(msg)
	case batchMsg:
		return m, m.take(msg)
	case tickMsg:
		return m, m.read()
	case answerMsg:
		m.answer(msg)
	case diffMsg:
		m.showDiff(msg)
	case sizeMsg:
		m.diffs[msg.commit], m.dirty = msg.diff, true
	case loopEndedMsg:
		m.ended, m.dirty = true, true
	case panicMsg:
		m.err = fmt.Errorf("the screen has a bug: %v", msg.what)
		return m, m.leave(Running)
	case signalMsg:
		return m, m.signalled(msg)
	default:
		return m, m.sheet.edit(msg)
	}
	return m, nil
}

// View gives the frame, which is drawn anew only when something in it has changed:
// the library asks for it after each message.
func (m *Model) View() tea.View {
	if m.dirty || m.drawn != m.scene.Version {
		m.frame = strings.Join(m.draw(), "\n")
		m.dirty, m.drawn = false, m.scene.Version
	}
	v := tea.NewView(m.frame)
	v.AltScreen = true
	v.WindowTitle = m.windowTitle()
	v.ProgressBar = m.progress()
	return v
}

func (m *Model) windowTitle() string {
	s := m.scene
	title := "si"
	if s.Round.N > 0 {
		title += " " + roundOf(s.Round)
	}
	if whole, rough, ok := s.Gain(); whole != nil || ok && rough != 0 {
		title += " " + percent(rough)
	}
	return look.New(true, true).Cut(title+" - "+s.Doing(), 80)
}

func (m *Model) progress() *tea.ProgressBar {
	s := m.scene
	if !s.Live() || s.Round.Max <= 0 || s.Round.N <= 0 {
		return tea.NewProgressBar(tea.ProgressBarNone, 0)
	}
	state := tea.ProgressBarDefault
	if s.Run.Paused || s.Run.Parked != nil {
		state = tea.ProgressBarWarning
	}
	done := float64(s.Round.N-1) + float64(len(s.Round.Done))/float64(len(scene.Steps()))
	return tea.NewProgressBar(state, int(100*done/float64(s.Round.Max)))
}
