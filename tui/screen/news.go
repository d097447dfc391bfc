package screen

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"si/track"
	"si/tui/feed"
	"si/tui/pane"
	"si/tui/scene"
)

// How often news is asked for: while something runs, and while nothing does.
const (
	beat = 100 * time.Millisecond
	rest = time.Second
)

type (
	batchMsg     feed.Batch
	tickMsg      struct{}
	loopEndedMsg struct{}
	sizeMsg      struct {
		commit string
		diff   pane.Diff
	}
)

// read reads the feed, beside the screen. The next read is asked for only when
// this one has arrived, so that there is never more than one.
func (m *Model) read() tea.Cmd {
	return guarded(func() tea.Msg { return batchMsg(m.o.Feed.Read()) })
}

// panicMsg ends the screen: a bug in what runs beside it.
type panicMsg struct{ what any }

// guarded turns a panic into the end of the screen, which restores the terminal.
func guarded(run func() tea.Msg) tea.Cmd {
	return func() (msg tea.Msg) {
		defer func() {
			if r := recover(); r != nil {
				msg = panicMsg{r}
			}
		}()
		return run()
	}
}

func (m *Model) waitForLoop() tea.Cmd {
	if m.o.Loop == nil {
		return nil
	}
	return func() tea.Msg {
		select {
		case <-m.o.Loop:
			return loopEndedMsg{}
		case <-m.ctx.Done():
			return nil
		}
	}
}

// take folds news into the scene and asks for more.
func (m *Model) take(b batchMsg) tea.Cmd {
	feed.Batch(b).Apply(m.scene)
	m.hear(b)
	if b.Err != nil {
		m.say("%v", b.Err)
	}
	m.watchProcess(b)
	m.keepFocus()
	if now := m.o.Feed.Now().Unix(); m.scene.Live() && now != m.second {
		m.second, m.dirty = now, true
	}
	if m.status.over(m.o.Now()) {
		m.status, m.dirty = status{}, true
	}
	if done := m.atEnd(); done != nil {
		return done
	}
	next := tea.Tick(m.pause(b), func(time.Time) tea.Msg { return tickMsg{} })
	if b.More {
		next = m.read()
	}
	return tea.Batch(append(m.countDiffs(), next)...)
}

// hear shows what the loop answers to a wish, when that is fresh.
func (m *Model) hear(b batchMsg) {
	for _, e := range b.Events {
		var d track.Steered
		if e.Ev == track.EvSteered && m.o.Now().Sub(e.TS) < statusTime && e.Decode(&d) == nil {
			m.say("%s %s: %s", d.Act, d.Target, d.Text)
		}
	}
}

func (m *Model) pause(b batchMsg) time.Duration {
	if m.scene.Live() && (b.Alive || m.absent < 3) || m.o.Loop != nil && (!m.ended || m.absent < 3) {
		return beat
	}
	return rest
}

// watchProcess notices a loop that has gone without a word. The first reads of a
// loop that was just started find the journal of the run before it.
func (m *Model) watchProcess(b batchMsg) {
	switch {
	case b.Alive || b.More:
		m.absent = 0
	case m.o.Loop != nil && !m.ended:
	default:
		if m.absent++; m.absent == 3 {
			m.scene.Gone(m.scene.Run.Last)
		}
	}
}

// atEnd shows the summary once the loop has ended, and leaves when it never began.
func (m *Model) atEnd() tea.Cmd {
	if m.ended && m.absent > 2 && !m.begun() {
		return m.leave(AtEnd) // it said why on its way out
	}
	if m.scene.Run.Summary != nil && !m.scene.Live() && !m.told && m.o.Replay == nil {
		m.told = true
		if m.mode == dashboard && m.sheet.kind == noSheet && m.o.Loop != nil && m.begun() {
			m.mode, m.dirty = summed, true
			m.pager.begin()
		}
	}
	if m.scene.Live() {
		m.told = false
	}
	return nil
}

// countDiffs asks for the sizes of changes that were committed.
func (m *Model) countDiffs() (cmds []tea.Cmd) {
	if m.o.Diff == nil {
		return nil
	}
	for _, e := range m.scene.Entries {
		if e.Commit == "" || m.scene.Round.Base == "" || m.asked[e.Commit] {
			continue
		}
		m.asked[e.Commit] = true
		cmds = append(cmds, m.countDiff(m.scene.Round.Base, e.Commit, len(e.Files)))
	}
	return cmds
}

func (m *Model) countDiff(from, to string, files int) tea.Cmd {
	return guarded(func() tea.Msg {
		patch, err := m.o.Diff(m.ctx, from, to)
		if err != nil {
			return sizeMsg{to, pane.Diff{Files: files, Added: -1}}
		}
		added, removed := pane.CountPatch(patch)
		return sizeMsg{to, pane.Diff{Files: files, Added: added, Removed: removed}}
	})
}

// status is the sentence above the keys.
type status struct {
	text  string
	until time.Time
}

const statusTime = 12 * time.Second

func (s status) over(now time.Time) bool { return s.text != "" && now.After(s.until) }

// say puts a sentence where the keys are explained, for a while.
func (m *Model) say(format string, args ...any) {
	m.status = status{oneLine(fmt.Sprintf(format, args...)), m.o.Now().Add(statusTime)}
	m.dirty = true
}

func roundOf(r scene.Round) string { return fmt.Sprintf("%d/%d", r.N, max(r.Max, r.N)) }
func percent(v float64) string     { return fmt.Sprintf("%+.1f%%", 100*v) }
