package interview

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"charm.land/huh/v2"
	"charm.land/lipgloss/v2"
)

// form is a huh form inside of our screen: its parent gives it the room that is
// left, takes esc and ctrl+c, and never lets it open an editor.
type form struct {
	huh  *huh.Form
	w, h int
}

func newForm(m *Model, groups ...*huh.Group) *form {
	return formIn(m.world.Dark, m.world.ASCII, groups...)
}

func formIn(dark, ascii bool, groups ...*huh.Group) *form {
	keys := huh.NewDefaultKeyMap()
	keys.Quit = key.NewBinding(key.WithDisabled()) // ours
	keys.Text.Editor = key.NewBinding(key.WithDisabled())
	keys.Select.Filter, keys.MultiSelect.Filter = key.NewBinding(key.WithDisabled()), key.NewBinding(key.WithDisabled())
	f := huh.NewForm(groups...).WithTheme(theme(dark, ascii)).WithKeyMap(keys).WithShowHelp(false).WithAccessible(false)
	return &form{huh: f}
}

// theme is huh's own, for the background that the terminal has: fields that begin
// later than the terminal's answer would never hear of it.
func theme(dark, ascii bool) huh.Theme {
	return huh.ThemeFunc(func(bool) *huh.Styles {
		s := huh.ThemeCharm(dark)
		if ascii {
			bar := lipgloss.Border{Left: "|"}
			s.Focused.Base, s.Blurred.Base = s.Focused.Base.BorderStyle(bar), s.Blurred.Base.BorderStyle(lipgloss.Border{Left: " "})
		}
		return s
	})
}

// start begins the form in a room of w × h.
func (f *form) start(w, h int) tea.Cmd {
	f.w, f.h = max(w, 1), max(h, 1)
	first := f.huh.Init()
	return tea.Batch(first, f.update(tea.WindowSizeMsg{Width: f.w, Height: f.h}))
}

// resize gives the form another room.
func (f *form) resize(w, h int) tea.Cmd {
	if w == f.w && h == f.h {
		return nil
	}
	f.w, f.h = max(w, 1), max(h, 1)
	return f.update(tea.WindowSizeMsg{Width: f.w, Height: f.h})
}

func (f *form) update(msg tea.Msg) tea.Cmd {
	next, cmd := f.huh.Update(msg)
	if g, ok := next.(*huh.Form); ok {
		f.huh = g
	}
	return cmd
}

// done says that every field is answered.
func (f *form) done() bool { return f.huh.State == huh.StateCompleted }

func (f *form) view() string { return f.huh.View() }

// hovered is the text choice under the cursor.
func (f *form) hovered() (string, bool) {
	s, ok := f.huh.GetFocusedField().(*huh.Select[string])
	if !ok {
		return "", false
	}
	return s.Hovered()
}
