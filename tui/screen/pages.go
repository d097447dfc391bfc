package screen

import (
	"bytes"
	"strings"

	tea "charm.land/bubbletea/v2"

	"si/tui"
	"si/tui/look"
	"si/tui/pane"
	"si/tui/scene"
)

type diffMsg struct {
	title string
	patch []byte
	err   error
}

// page is what fills the screen instead of the dashboard.
type page struct {
	title []look.Span
	facts []look.Span
	text  text
}

// zoom opens what is in focus: the output of an agent, or the change of a candidate.
func (m *Model) zoom() tea.Cmd {
	kind, id, _ := strings.Cut(m.focus, "/")
	if kind == "e" {
		return m.openDiff()
	}
	if id == "" {
		if len(m.scene.Agents) == 0 {
			m.say("no agent is at work; tab chooses a candidate")
			return nil
		}
		id = m.scene.Agents[0].ID
		m.focus = "a/" + id
	}
	m.mode, m.opened, m.pager = zoomed, id, pager{hit: -1}
	return nil
}

// openDiff asks for the change of the candidate in focus.
func (m *Model) openDiff() tea.Cmd {
	_, id, _ := strings.Cut(m.focus, "/")
	e := m.scene.Entry(m.executorOf(id))
	switch {
	case m.o.Diff == nil:
		m.say("there are no diffs here: the repository is not at hand")
		return nil
	case id == "":
		m.say("choose a candidate with tab first")
		return nil
	case e == nil || e.Commit == "":
		m.say("%s has committed nothing yet", id)
		return nil
	}
	from, to, title := m.scene.Round.Base, e.Commit, e.Executor+": "+e.Hypothesis
	m.say("reading the change of %s", e.Executor)
	return guarded(func() tea.Msg {
		patch, err := m.o.Diff(m.ctx, from, to)
		return diffMsg{title, patch, err}
	})
}

func (m *Model) showDiff(d diffMsg) {
	m.dirty = true
	if d.err != nil {
		m.say("%v", d.err)
		return
	}
	m.status = status{}
	m.mode, m.opened = diffed, d.title
	m.page = page{
		title: []look.Span{{Paint: m.look.Title, Text: d.title}},
		text:  plainText{pane.PatchLines(d.patch), func(s string) look.Paint { return pane.PatchPaint(m.look, s) }},
	}
	m.pager.begin()
}

// current is the page that is open, nil for one that is no text.
func (m *Model) current() *page {
	l := m.look
	switch m.mode {
	case zoomed:
		a := m.scene.Agent(m.opened)
		if a == nil {
			a = m.gone
		}
		if a == nil {
			return nil
		}
		m.gone = a
		facts := pane.AgentFacts(l, a, m.sizeOf(a))
		if a.Dropped > 0 {
			facts = append(facts, look.Span{Paint: l.Warn, Text: " " + l.Marks.Dot + " " + pane.Count(int64(a.Dropped)) + " passed over"})
		}
		return &page{pane.AgentTitle(l, a, m.o.Feed.Now()), facts, agentText{l, a}}
	case logged:
		return &page{[]look.Span{{Paint: l.Title, Text: "events"}}, nil, logText{l, m.scene.Log}}
	case helped:
		return &page{[]look.Span{{Paint: l.Title, Text: "help"}}, nil, plainText{pane.Help(l, m.w-4), func(s string) look.Paint { return helpPaint(l, s) }}}
	case summed:
		return m.summary()
	case diffed:
		return &m.page
	case dashboard, charted:
	}
	return nil
}

func helpPaint(l look.Look, s string) look.Paint {
	if s != "" && !strings.HasPrefix(s, " ") {
		return l.Title
	}
	return l.Plain
}

// summary is the end of the run, in the words that are printed too.
func (m *Model) summary() *page {
	s := m.scene.Run.Summary
	if s == nil {
		return nil
	}
	var b bytes.Buffer
	_ = tui.Summary(&b, *s) // a buffer takes everything
	var lines []string
	for _, line := range pane.PatchLines(b.Bytes()) {
		lines = append(lines, m.look.Wrap(line, m.w-4, 20)...)
	}
	paint := m.look.Title
	if failed(s) {
		paint = m.look.Bad
	}
	return &page{[]look.Span{{Paint: paint, Text: "summary"}}, nil, plainText{lines, func(line string) look.Paint {
		if strings.HasPrefix(line, "Best") || strings.HasPrefix(line, "Improvement") {
			return m.look.Good
		}
		return m.look.Plain
	}}}
}

// sizeOf is how large the change of an executor is, nil when that is not known.
func (m *Model) sizeOf(a *scene.Agent) *pane.Diff {
	e := m.scene.Entry(a.ID)
	if e == nil || e.Commit == "" {
		return nil
	}
	if d, ok := m.diffs[e.Commit]; ok {
		return &d
	}
	return &pane.Diff{Files: len(e.Files), Added: -1}
}

// pageKey is a key on a page.
func (m *Model) pageKey(name string) tea.Cmd {
	switch name {
	case "esc", "q", "enter", "backspace":
		m.mode, m.gone = dashboard, nil
		return nil
	case "?":
		m.mode = helped
		m.pager.begin()
		return nil
	case "c":
		if m.mode == charted {
			m.mode = dashboard
			return nil
		}
	case "d":
		if m.mode == zoomed {
			return m.openDiff()
		}
	case "tab", "shift+tab":
		m.zoomNext(name)
		return nil
	}
	p := m.current()
	if p == nil {
		return nil
	}
	m.move(p.text, name)
	if name == "/" {
		return m.openSearch()
	}
	return nil
}

// zoomNext goes on to the next agent without a way back over the dashboard.
func (m *Model) zoomNext(name string) {
	if m.mode != zoomed || len(m.scene.Agents) == 0 {
		return
	}
	step, at := 1, 0
	if name == "shift+tab" {
		step = -1
	}
	for i, a := range m.scene.Agents {
		if a.ID == m.opened {
			at = i
		}
	}
	m.opened = m.scene.Agents[mod(at+step, len(m.scene.Agents))].ID
	m.focus, m.pager = "a/"+m.opened, pager{hit: -1}
}

// move scrolls, and goes on with a search.
func (m *Model) move(t text, name string) {
	p := &m.pager
	switch name {
	case "down", "j":
		p.scroll(t, 1)
	case "up", "k":
		p.scroll(t, -1)
	case "pgdown", "space", "ctrl+f":
		p.scroll(t, max(1, p.height-1))
	case "pgup", "b", "ctrl+b":
		p.scroll(t, -max(1, p.height-1))
	case "home", "g":
		p.still, p.top = true, t.first()
	case "end", "G", "shift+g":
		p.still = false
	case "n":
		m.find(t, p.query, 1)
	case "N", "shift+n":
		m.find(t, p.query, -1)
	}
}

func (m *Model) openSearch() (cmd tea.Cmd) {
	m.sheet, cmd = newSearch(m.w)
	return cmd
}

func (m *Model) searchKey(k tea.KeyPressMsg, name string) tea.Cmd {
	switch name {
	case "esc", "ctrl+c":
		m.sheet, m.pager.query = sheet{}, ""
	case "enter":
		query := m.sheet.search.Value()
		m.sheet = sheet{}
		if p := m.current(); p != nil && query != "" {
			m.find(p.text, query, -1) // the newest first: that is where a reader is
		}
	default:
		return m.sheet.edit(k)
	}
	return nil
}

func (m *Model) find(t text, query string, step int) {
	switch {
	case query == "":
		m.say("/ searches first")
	case t.first() == t.end() || !m.pager.search(t, query, step):
		m.say("%q is nowhere in it", query)
	}
}
