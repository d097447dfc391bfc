package screen

import (
	"os"
	"strings"
	"syscall"

	tea "charm.land/bubbletea/v2"

	"si/internal/clean"
	"si/tui"
)

type (
	answerMsg struct {
		wish tui.Wish
		text string
		err  error
	}
	signalMsg struct{ os.Signal }
)

// ask hands a wish to the loop, beside the screen: a disk can be slow.
func (m *Model) ask(w tui.Wish) tea.Cmd {
	if m.o.Steer == nil {
		m.say("this screen only watches")
		return nil
	}
	m.say("asking: %s %s", w.Act, w.Target)
	return guarded(func() tea.Msg {
		text, err := m.o.Steer.Ask(m.ctx, w)
		return answerMsg{w, text, err}
	})
}

func (m *Model) answer(a answerMsg) {
	if a.err != nil {
		m.say("%s was not asked for: %v", a.wish.Act, a.err)
		return
	}
	m.say("%s", a.text)
}

// signalled is what a signal to this process means: a terminal that closes leaves
// the loop running; the others ask it to stop, as the keys do, when this process
// started it, and otherwise end the watching.
func (m *Model) signalled(s signalMsg) tea.Cmd {
	if s.Signal == syscall.SIGHUP || m.o.Loop == nil || m.o.Steer == nil {
		return m.leave(Running)
	}
	if !m.scene.Live() && m.ended {
		return m.leave(AtEnd)
	}
	if m.scene.Run.Stop == "" {
		return m.ask(tui.Wish{Act: tui.ActStop, When: "step"})
	}
	return m.ask(tui.Wish{Act: tui.ActStop, When: "now"})
}

func oneLine(s string) string { return clean.Line(s, 400) }

func splitLines(s string) []string { return strings.Split(strings.TrimRight(s, "\n"), "\n") }
