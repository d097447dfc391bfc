package screen

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"si/track"
	"si/tui"
)

// key carries out one key.
func (m *Model) key(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	if m.tooSmall() {
		if name == "q" || name == "ctrl+c" {
			return m.leave(Running)
		}
		return nil
	}
	switch m.sheet.kind {
	case quitSheet:
		return m.quitKey(name)
	case confirmSheet:
		return m.confirmKey(name)
	case ideaSheet:
		return m.ideaKey(k, name)
	case searchSheet:
		return m.searchKey(k, name)
	case noSheet:
	}
	if name == "ctrl+c" || name == "q" && (m.mode == dashboard || m.mode == summed) {
		return m.askToQuit()
	}
	if name == "ctrl+z" {
		return tea.Suspend
	}
	if m.mode != dashboard {
		return m.pageKey(name)
	}
	return m.dashKey(name)
}

// dashKey is a key on the dashboard.
func (m *Model) dashKey(name string) tea.Cmd {
	switch name {
	case "tab", "down", "right", "j":
		m.turnFocus(1)
	case "shift+tab", "up", "left", "k":
		m.turnFocus(-1)
	case "enter":
		return m.zoom()
	case "d":
		return m.openDiff()
	case "c":
		m.mode = charted
	case "l", "/":
		m.mode, m.pager = logged, pager{hit: -1}
		if name == "/" {
			return m.openSearch()
		}
	case "?", "h":
		m.mode = helped
		m.pager.begin()
	case "r":
		if m.scene.Run.Summary != nil {
			m.mode, m.pager = summed, pager{}
			m.pager.begin()
		}
	case "esc":
		m.focus, m.status = "", status{}
	default:
		if m.o.Replay != nil {
			m.replayKey(name)
			return nil
		}
		return m.wishKey(name)
	}
	return nil
}

func (m *Model) replayKey(name string) {
	r := m.o.Replay
	switch name {
	case "space", "p":
		r.Toggle()
	case "+", "=", "f":
		r.Turn(1)
	case "-", "s":
		r.Turn(-1)
	case "n":
		r.Jump(m.scene.Round.N + 1)
	}
}

// wishKey is a key that asks something of the loop.
func (m *Model) wishKey(name string) tea.Cmd {
	if !strings.Contains("pisxm", name) || len(name) != 1 {
		return nil
	}
	if m.o.Steer == nil {
		m.say("this screen only watches")
		return nil
	}
	if name == "i" {
		var cmd tea.Cmd
		m.sheet, cmd = newIdea(m.w)
		return cmd
	}
	if !m.scene.Live() {
		m.say("no loop runs on this track; 'si run' starts one")
		return nil
	}
	if name == "p" {
		if m.scene.Run.Paused {
			return m.ask(tui.Wish{Act: tui.ActResume})
		}
		return m.ask(tui.Wish{Act: tui.ActPause})
	}
	m.confirm(name)
	return nil
}

// confirm asks whether what costs work is meant.
func (m *Model) confirm(name string) {
	kind, id, _ := strings.Cut(m.focus, "/")
	if id == "" {
		m.say("choose an agent or a candidate with tab first")
		return
	}
	executor := m.executorOf(id)
	switch name {
	case "s":
		if a := m.scene.Agent(id); kind != "a" || a == nil || !a.Working() {
			m.say("%s is not at work: only an agent that works can be skipped", id)
			return
		}
		m.sheet = sheet{kind: confirmSheet, wish: tui.Wish{Act: tui.ActSkip, Target: id}, text: fmt.Sprintf("End %s and go on without it in this round?", id)}
	case "x":
		if executor == "" {
			m.say("%s belongs to no single plan", id)
			return
		}
		m.sheet = sheet{kind: confirmSheet, wish: tui.Wish{Act: tui.ActVeto, Target: executor}, text: fmt.Sprintf("Veto %s? Its plan is not followed any further in this round.", executor)}
	case "m":
		if executor == "" || m.scene.Entry(executor) == nil || m.scene.Entry(executor).Commit == "" {
			m.say("choose a candidate that was committed: one that can be measured")
			return
		}
		m.sheet = sheet{kind: confirmSheet, wish: tui.Wish{Act: tui.ActMeasure, Target: executor}, text: fmt.Sprintf("Measure %s again? It costs runs of the benchmark.", executor)}
	}
}

// executorOf is the candidate that an agent works for, "" for the researcher.
func (m *Model) executorOf(id string) string {
	role, letter, ok := strings.Cut(id, "_")
	if !ok || role == "" {
		return ""
	}
	return "executor_" + letter
}

func (m *Model) confirmKey(name string) tea.Cmd {
	wish := m.sheet.wish
	switch name {
	case "y", "enter":
		m.sheet = sheet{}
		return m.ask(wish)
	case "n", "esc", "q", "ctrl+c":
		m.sheet = sheet{}
	}
	return nil
}

func (m *Model) ideaKey(k tea.KeyPressMsg, name string) tea.Cmd {
	switch name {
	case "esc", "ctrl+c":
		m.sheet = sheet{}
		return nil
	case "ctrl+d", "ctrl+s", "alt+enter":
		text := strings.TrimSpace(m.sheet.idea.Value())
		m.sheet = sheet{}
		if text == "" {
			return nil
		}
		return m.ask(tui.Wish{Act: tui.ActIdea, Text: text})
	}
	return m.sheet.edit(k)
}

// ideaWhen says in which round an idea will be used: planners get the ideas that
// are there when their round begins.
func (m *Model) ideaWhen() string {
	if !m.scene.Live() || m.scene.Round.N == 0 {
		return "used in the next round that begins"
	}
	return fmt.Sprintf("used in round %d", m.scene.Round.N+1)
}

// askToQuit asks what becomes of the loop; without one there is nothing to ask.
func (m *Model) askToQuit() tea.Cmd {
	if m.o.Replay != nil || m.o.Steer == nil {
		return m.leave(Running)
	}
	if !m.scene.Live() && (m.o.Loop == nil || m.ended || m.begun()) {
		return m.leave(AtEnd)
	}
	m.sheet = sheet{kind: quitSheet}
	return nil
}

// begun reports whether the run in the journal is that of the loop that was started
// for this screen, and not an older one.
func (m *Model) begun() bool { return !m.scene.Run.Started.Before(m.o.Since) }

func (m *Model) quitKey(name string) tea.Cmd {
	ways := m.ways()
	switch name {
	case "esc", "q":
		m.sheet = sheet{}
	case "up", "k", "shift+tab":
		m.sheet.chosen = mod(m.sheet.chosen-1, len(ways))
	case "down", "j", "tab":
		m.sheet.chosen = mod(m.sheet.chosen+1, len(ways))
	case "enter":
		return m.quitKey(ways[m.sheet.chosen].key)
	case "l":
		return m.leave(Running)
	case "s", "ctrl+c":
		m.sheet = sheet{}
		switch {
		case m.scene.Run.Stop == "":
			return m.ask(tui.Wish{Act: tui.ActStop, When: "step"})
		case name == "ctrl+c":
			return m.ask(tui.Wish{Act: tui.ActStop, When: "now"})
		}
	case "n":
		m.sheet = sheet{}
		return m.ask(tui.Wish{Act: tui.ActStop, When: "now"})
	}
	return nil
}

// leave ends the screen. Its last output must not hold the program for ever: see
// Run.
func (m *Model) leave(how Left) tea.Cmd {
	m.left = how
	m.once.Do(func() { close(m.going) })
	return tea.Quit
}

// turnFocus goes to the next or the last thing that can be chosen.
func (m *Model) turnFocus(step int) {
	ring := m.choices()
	if len(ring) == 0 {
		m.focus = ""
		return
	}
	at := -1
	for i, id := range ring {
		if id == m.focus {
			at = i
		}
	}
	if at < 0 && step < 0 {
		at = 0
	}
	m.focus = ring[mod(at+step, len(ring))]
}

// choices are the agents and candidates on the screen.
func (m *Model) choices() (ring []string) {
	for _, a := range m.scene.Agents {
		ring = append(ring, "a/"+a.ID)
	}
	for _, e := range m.scene.Entries {
		ring = append(ring, "e/"+e.Executor)
	}
	return ring
}

// keepFocus lets go of what has left the screen.
func (m *Model) keepFocus() {
	for _, id := range m.choices() {
		if id == m.focus {
			return
		}
	}
	if m.focus != "" {
		m.focus, m.dirty = "", true
	}
}

// chosenEntry is the candidate in focus, by itself or by an agent that works for it.
func (m *Model) chosenEntry() string {
	kind, id, _ := strings.Cut(m.focus, "/")
	if kind == "e" {
		return id
	}
	return ""
}

// failed reports whether the run ended badly.
func failed(s *track.Summary) bool { return s != nil && s.Status == track.StatusFailed }
