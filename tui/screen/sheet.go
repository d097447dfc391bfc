package screen

import (
	"charm.land/bubbles/v2/textarea"
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"si/tui"
	"si/tui/look"
)

// sheetKind is what is asked over the lower part of the screen.
type sheetKind int

const (
	noSheet sheetKind = iota
	quitSheet
	confirmSheet
	ideaSheet
	searchSheet
)

// sheet is a question. Only one is asked at a time.
type sheet struct {
	kind   sheetKind
	wish   tui.Wish // what a confirmation is about
	text   string
	chosen int // of the ways to quit
	idea   textarea.Model
	search textinput.Model
}

// sheetHeight is how many lines a sheet covers.
func (s *sheet) height() int {
	switch s.kind {
	case quitSheet:
		return 6
	case confirmSheet:
		return 4
	case ideaSheet:
		return 9
	case searchSheet:
		return 1
	case noSheet:
	}
	return 0
}

func (s *sheet) resize(w, _ int) {
	switch s.kind {
	case ideaSheet:
		s.idea.SetWidth(max(10, w-4))
	case searchSheet:
		s.search.SetWidth(max(10, w-20))
	case noSheet, quitSheet, confirmSheet:
	}
}

// edit hands a message to the field that is written in.
func (s *sheet) edit(msg tea.Msg) (cmd tea.Cmd) {
	switch s.kind {
	case ideaSheet:
		s.idea, cmd = s.idea.Update(msg)
	case searchSheet:
		s.search, cmd = s.search.Update(msg)
	case noSheet, quitSheet, confirmSheet:
	}
	return cmd
}

// mostIdea bounds an idea: it goes into prompts.
const mostIdea = 16 << 10

func newIdea(w int) (sheet, tea.Cmd) {
	s := sheet{kind: ideaSheet, idea: textarea.New()}
	s.idea.Placeholder = "one idea, in your own words; it goes to the planners"
	s.idea.ShowLineNumbers = false
	s.idea.Prompt = ""
	s.idea.CharLimit = mostIdea
	s.idea.SetHeight(5)
	s.resize(w, 0)
	return s, s.idea.Focus()
}

func newSearch(w int) (sheet, tea.Cmd) {
	s := sheet{kind: searchSheet, search: textinput.New()}
	s.search.Prompt = "/"
	s.search.CharLimit = 200
	s.resize(w, 0)
	return s, s.search.Focus()
}

// ways are the ways to leave a loop that runs.
func (m *Model) ways() []way {
	stop := way{"s", "stop after what runs now", "'si run --resume' goes on with it"}
	if m.scene.Run.Stop != "" {
		stop = way{"s", "wait until it has stopped", "it was asked to, and still finishes what runs"}
	}
	return []way{
		{"l", "leave it running", "'si watch' opens this screen again"},
		stop,
		{"n", "stop now", "what runs is ended; 'si run --resume' repeats that step"},
	}
}

type way struct{ key, what, then string }

// drawSheet draws the question, w wide.
func (m *Model) drawSheet(w int) []string {
	l := m.look
	switch m.sheet.kind {
	case quitSheet:
		var lines []string
		for i, y := range m.ways() {
			paint, mark := l.Plain, "  "
			if i == m.sheet.chosen {
				paint, mark = l.Strong, l.Marks.Arrow+" "
			}
			lines = append(lines, l.Row(w-4, []look.Span{{Paint: l.Focus, Text: mark}, {Paint: l.Key, Text: y.key}, {Paint: paint, Text: "  " + y.what}, {Paint: l.Faint, Text: "  " + l.Marks.Dot + " " + y.then}}, nil))
		}
		lines = append(lines, l.Faint.On(l.Cut("enter chooses, esc goes back to watching", w-4)))
		return l.Frame(w, m.sheet.height(), true, []look.Span{{Paint: l.Warn, Text: "The loop is running. What now?"}}, nil, lines)
	case confirmSheet:
		lines := []string{l.Row(w-4, []look.Span{{Paint: l.Plain, Text: m.sheet.text}}, nil), l.Row(w-4, []look.Span{{Paint: l.Key, Text: "y"}, {Text: " yes   "}, {Paint: l.Key, Text: "n"}, {Text: " no"}}, nil)}
		return l.Frame(w, m.sheet.height(), true, []look.Span{{Paint: l.Warn, Text: "Sure?"}}, nil, lines)
	case ideaSheet:
		lines := splitLines(m.sheet.idea.View())
		lines = append(l.Block(lines, w-4, 6), l.Row(w-4, []look.Span{{Paint: l.Key, Text: "ctrl+d"}, {Text: " hand it over   "}, {Paint: l.Key, Text: "esc"}, {Text: " drop it"}}, nil))
		return l.Frame(w, m.sheet.height(), true, []look.Span{{Paint: l.Title, Text: "An idea for the planners"}, {Paint: l.Faint, Text: " " + l.Marks.Dot + " " + m.ideaWhen()}}, nil, lines)
	case searchSheet:
		return []string{l.Fit("", 0) + m.sheet.search.View()}
	case noSheet:
	}
	return nil
}
