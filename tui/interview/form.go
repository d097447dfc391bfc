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
	return formIn(&m.world.Dark, m.world.ASCII, groups...)
}

// formIn makes a form for a background: the terminal may say which one it has only
// later.
func formIn(dark *bool, ascii bool, groups ...*huh.Group) *form {
	keys := huh.NewDefaultKeyMap()
	keys.Quit = key.NewBinding(key.WithDisabled()) // ours
	keys.Text.Editor = key.NewBinding(key.WithDisabled())
	keys.Select.Filter, keys.MultiSelect.Filter = key.NewBinding(key.WithDisabled()), key.NewBinding(key.WithDisabled())
	f := huh.NewForm(groups...).WithTheme(theme(dark, ascii)).WithKeyMap(keys).WithShowHelp(false).WithAccessible(false)
	return &form{huh: f}
}

// theme is huh's own where that can be read: it has the colours of ordinary text
// of light and dark backgrounds the wrong way round. A form asks for its theme some
// dozens of times a frame, and a theme is hundreds of styles: it is made once for a
// background.
func theme(dark *bool, ascii bool) huh.Theme {
	made := map[bool]*huh.Styles{}
	return huh.ThemeFunc(func(bool) *huh.Styles {
		if made[*dark] == nil {
			made[*dark] = styles(*dark, ascii)
		}
		return made[*dark] // huh only reads it
	})
}

func styles(dark, ascii bool) *huh.Styles {
	bar, none := lipgloss.Border{Left: "│"}, lipgloss.Border{Left: " "}
	if ascii {
		bar = lipgloss.Border{Left: "|"}
	}
	s := huh.ThemeCharm(dark)
	pick := lipgloss.LightDark(dark)
	plain, faint, button := pick(lipgloss.Color("235"), lipgloss.Color("252")), pick(lipgloss.Color("243"), lipgloss.Color("245")), pick(lipgloss.Color("252"), lipgloss.Color("237"))
	focus := pick(lipgloss.Color("#5A56E0"), lipgloss.Color("#9E9BFF"))
	s.Focused.Base = s.Focused.Base.BorderStyle(bar).BorderForeground(focus)
	s.Blurred.Base = s.Blurred.Base.BorderStyle(none)
	for _, f := range []*huh.FieldStyles{&s.Focused, &s.Blurred} {
		f.Title = f.Title.Foreground(focus)
		f.Option, f.UnselectedOption = f.Option.Foreground(plain), f.UnselectedOption.Foreground(plain)
		f.BlurredButton = f.BlurredButton.Foreground(plain).Background(button)
		f.FocusedButton = f.FocusedButton.Foreground(lipgloss.Color("#FFFFFF")).Background(pick(lipgloss.Color("#5A56E0"), lipgloss.Color("#6A66E0")))
		f.TextInput.Placeholder = f.TextInput.Placeholder.Foreground(faint)
	}
	return s
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
