package screen

import (
	"si/tui/look"
	"si/tui/pane"
)

func (m *Model) tooSmall() bool { return m.w < leastW || m.h < leastH }

// draw gives exactly h lines of w columns.
func (m *Model) draw() []string {
	if m.tooSmall() {
		return pane.Notice(m.look, m.w, m.h, NeedWidth, NeedHeight)
	}
	head := headHeight(m.h)
	lines := pane.Top(m.look, m.scene, m.o.Feed.Now(), m.w, head)
	body := m.h - head - 1
	sheet := m.drawSheet(m.w)
	sheet = sheet[:min(len(sheet), body)]
	body -= len(sheet)
	lines = append(lines, m.body(body)...)
	lines = append(lines, sheet...)
	lines = append(lines, m.footer())
	return m.look.Block(lines, m.w, m.h)
}

func headHeight(h int) int {
	if h >= 20 {
		return 3
	}
	return 2
}

func (m *Model) body(h int) []string {
	switch m.mode {
	case dashboard:
		return m.dashboard(h)
	case charted:
		data, version := m.scene.Chart()
		return m.chart.Chart(m.look, data, version, m.w, h)
	case zoomed, diffed, logged, helped, summed:
	}
	p := m.current()
	if p == nil {
		m.mode = dashboard
		return m.dashboard(h)
	}
	lines := m.pager.draw(m.look, p.text, m.w-4, max(0, h-2))
	facts := append(p.facts[:len(p.facts):len(p.facts)], look.Span{Paint: m.look.Faint, Text: "  " + m.pager.where(p.text)})
	return m.look.Frame(m.w, h, true, p.title, facts, lines)
}

// dashboard lays out the panes.
func (m *Model) dashboard(h int) []string {
	a := arrange(m.w, h, len(m.scene.Agents), len(m.scene.Entries), m.scene.Working() > 0)
	var left []string
	left = append(left, m.agents(a.left, a.agents)...)
	if a.table > 0 {
		left = append(left, pane.Table(m.look, m.scene, a.left, a.table, m.chosenEntry())...)
	}
	if a.kept > 0 {
		left = append(left, pane.Kept(m.look, m.scene, a.left, a.kept)...)
	}
	if a.right > 0 {
		right := m.side(a.right, a.chart)
		right = append(right, pane.Log(m.look, m.scene, a.right, h-a.chart, 0)...)
		return look.Beside(m.look.Block(left, a.left, h), right)
	}
	if rest := h - a.agents - a.table; rest > 0 {
		left = append(left, m.below(rest)...)
	}
	return left
}

func (m *Model) side(w, h int) []string {
	if h == 0 {
		return nil
	}
	data, version := m.scene.Chart()
	return m.chart.Chart(m.look, data, version, w, h)
}

// below is what is left of a narrow screen: the chart beside the log where both
// say something, else the log.
func (m *Model) below(h int) []string {
	if m.w >= 80 && h >= 8 {
		w := m.w / 2
		return look.Beside(m.side(w, h), pane.Log(m.look, m.scene, m.w-w, h, 0))
	}
	return pane.Log(m.look, m.scene, m.w, h, 0)
}

// agents tiles the panes of the agents; where there is no room for panes they are
// rows, with the pane of the chosen one below.
func (m *Model) agents(w, h int) []string {
	n := len(m.scene.Agents)
	if h == 0 || n == 0 {
		return nil
	}
	now := m.o.Feed.Now()
	grid := tile(n, w, h)
	if grid == nil || h <= n {
		return m.agentRows(w, h)
	}
	var out []string
	i := 0
	for _, row := range grid {
		var line []string
		for _, width := range row.widths {
			a := m.scene.Agents[i]
			line = look.Beside(line, pane.Agent(m.look, a, m.sizeOf(a), now, width, row.height, m.focus == "a/"+a.ID))
			i++
		}
		out = append(out, line...)
	}
	return out
}

func (m *Model) agentRows(w, h int) []string {
	now := m.o.Feed.Now()
	agents := m.scene.Agents
	at := 0
	for i, a := range agents {
		if m.focus == "a/"+a.ID {
			at = i
		}
	}
	rows := min(len(agents), h)
	if h >= len(agents)+4 {
		rows = len(agents)
	} else if h >= 8 {
		rows = h - 5
	}
	first := max(0, min(at-rows/2, len(agents)-rows))
	var out []string
	for i := first; i < first+rows; i++ {
		a := agents[i]
		out = append(out, pane.AgentRow(m.look, a, m.sizeOf(a), now, w, m.focus == "a/"+a.ID))
	}
	if rest := h - len(out); rest >= 3 {
		a := agents[at]
		out = append(out, pane.Agent(m.look, a, m.sizeOf(a), now, w, rest, m.focus == "a/"+a.ID)...)
	}
	return m.look.Block(out, w, h)
}

// footer is the last line: what was just said, or the keys.
func (m *Model) footer() string {
	l := m.look
	if m.status.text != "" {
		return l.Row(m.w, []look.Span{{Paint: l.Warn, Text: m.status.text}}, nil)
	}
	if m.sheet.kind != noSheet { // it has keys of its own
		return l.Fit("", m.w)
	}
	var left []look.Span
	for _, k := range m.keys() {
		left = append(left, look.Span{Paint: l.Key, Text: k[0]}, look.Span{Paint: l.Faint, Text: " " + k[1] + "  "})
	}
	return l.Row(m.w, left, nil)
}

// keys are the keys that matter now, the most needed first: a narrow screen shows
// as many as it can.
func (m *Model) keys() [][2]string {
	switch m.mode {
	case charted:
		return [][2]string{{"esc", "back"}}
	case zoomed:
		return [][2]string{{"esc", "back"}, {"tab", "next agent"}, {"/", "search"}, {"n N", "next, previous"}, {"↑↓", "scroll"}, {"g G", "start, end"}, {"d", "its change"}}
	case diffed, logged, helped, summed:
		if m.mode == summed {
			return [][2]string{{"q", "quit"}, {"esc", "to the dashboard"}, {"↑↓", "scroll"}}
		}
		return [][2]string{{"esc", "back"}, {"/", "search"}, {"n N", "next, previous"}, {"↑↓", "scroll"}, {"g G", "start, end"}}
	case dashboard:
	}
	if m.o.Replay != nil {
		return m.replayKeys()
	}
	keys := [][2]string{{"?", "help"}, {"q", "quit"}, {"tab", "choose"}, {"enter", "zoom"}}
	if m.o.Steer != nil && m.scene.Live() {
		pause := "pause"
		if m.scene.Run.Paused {
			pause = "go on"
		}
		keys = append(keys, [2]string{"i", "idea"}, [2]string{"p", pause}, [2]string{"s", "skip"}, [2]string{"x", "veto"}, [2]string{"m", "measure"})
	}
	keys = append(keys, [2]string{"d", "diff"}, [2]string{"c", "chart"}, [2]string{"l", "log"})
	if m.scene.Run.Summary != nil {
		keys = append(keys, [2]string{"r", "summary"})
	}
	return keys
}

func (m *Model) replayKeys() [][2]string {
	speed, paused := m.o.Replay.Pace()
	space := "pause"
	switch {
	case m.o.Replay.Over():
		space = "played to its end"
	case paused:
		space = "go on"
	}
	return [][2]string{{"q", "quit"}, {"space", space}, {"+ -", pane.Speed(speed)}, {"n", "next round"}, {"tab", "choose"}, {"enter", "zoom"}, {"d", "diff"}, {"c", "chart"}, {"l", "log"}, {"?", "help"}}
}
