// Package look is how the screen looks: its colours, made for a dark or a light
// background, its lines and its marks. Nothing is told by colour alone, so that it
// can be read without any.
package look

import (
	"image/color"
	"strings"

	"charm.land/lipgloss/v2"
)

// Paint is a style that is put around text. The zero Paint leaves text as it is.
type Paint struct{ before, after string }

// On paints a text on one line.
func (p Paint) On(s string) string {
	if s == "" {
		return ""
	}
	return p.before + s + p.after
}

// paint renders a style once: to render it anew for each of thousands of texts a
// second costs more than all the rest of a frame.
func paint(s lipgloss.Style) Paint {
	before, after, _ := strings.Cut(s.Render("x"), "x")
	return Paint{before, after}
}

// Look is everything that a view needs to know of the terminal.
type Look struct {
	ASCII bool

	Plain, Faint, Strong   Paint
	Good, Bad, Warn, Focus Paint
	Border, Title, Key     Paint
	Chosen                 Paint // the row or match that is chosen
	Marks                  Marks
}

// Marks are the characters that are not words.
type Marks struct {
	Working, Done, Failed, Waiting       string
	Kept, Refused, Up, Down, Even, Arrow string
	Dot, Cut, Rule                       string
	Box                                  Box
}

// Box is what frames are drawn with.
type Box struct{ TopLeft, TopRight, BottomLeft, BottomRight, Across, Down string }

// New makes the look for a background. ASCII is for terminals without box
// characters.
func New(dark, ascii bool) Look {
	pick := lipgloss.LightDark(dark)
	of := func(light, darker string) color.Color { return pick(lipgloss.Color(light), lipgloss.Color(darker)) }
	plain := lipgloss.NewStyle()
	l := Look{
		ASCII:  ascii,
		Faint:  paint(plain.Foreground(of("#6b6b6b", "#9a9a9a"))),
		Strong: paint(plain.Bold(true)),
		Good:   paint(plain.Foreground(of("#0a6b2c", "#5fd787"))),
		Bad:    paint(plain.Foreground(of("#b3261e", "#ff8787"))),
		Warn:   paint(plain.Foreground(of("#8a5a00", "#ffd75f"))),
		Focus:  paint(plain.Foreground(of("#005f9e", "#5fd7ff")).Bold(true)),
		Border: paint(plain.Foreground(of("#a8a8a8", "#5f5f5f"))),
		Title:  paint(plain.Foreground(of("#005f9e", "#87d7ff")).Bold(true)),
		Key:    paint(plain.Foreground(of("#005f9e", "#87d7ff"))),
		Chosen: paint(plain.Reverse(true)),
		Marks:  fine(),
	}
	if ascii {
		l.Marks = coarse()
	}
	return l
}

func fine() Marks {
	return Marks{
		Working: "●", Done: "✓", Failed: "✗", Waiting: "○", Kept: "✓", Refused: "✗", Up: "▲", Down: "▼", Even: "=", Arrow: "→",
		Dot: "·", Cut: "…", Rule: "─",
		Box: Box{"╭", "╮", "╰", "╯", "─", "│"},
	}
}

func coarse() Marks {
	return Marks{
		Working: "*", Done: "+", Failed: "x", Waiting: "o", Kept: "+", Refused: "x", Up: "^", Down: "v", Even: "=", Arrow: ">",
		Dot: "-", Cut: "~", Rule: "-",
		Box: Box{"+", "+", "+", "+", "-", "|"},
	}
}
