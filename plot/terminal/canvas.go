// Package terminal draws the progress of a track in characters: in braille dots, two
// by four a character, or in ASCII. It shows what the picture of package plot
// shows, over the same range. It is pure, and colours nothing: it says what each
// character is a part of.
package terminal

// Role says what a character of a chart is a part of.
type Role int

// The roles, in the order in which they cover each other: the last one wins.
const (
	Blank Role = iota
	Axis
	Target
	Baseline
	Interval
	Candidate
	Champion
	Winner
	Label
)

// Cell is one character of a chart.
type Cell struct {
	Rune rune
	Role Role
}

// braille is the first of the 256 braille patterns (Unicode 2800); a pattern is
// that plus one bit a dot.
const braille = 0x2800

// dotBit is the bit of the dot at column x (0, 1) and row y (0 to 3).
func dotBit(x, y int) rune {
	if y == 3 {
		return rune(0x40 << x)
	}
	return rune(1 << (y + 3*x))
}

// canvas is a grid of cells that dots are set in.
type canvas struct {
	cells [][]Cell
	w, h  int // in characters
	ascii bool
}

func newCanvas(w, h int, ascii bool) *canvas {
	c := &canvas{w: w, h: h, ascii: ascii, cells: make([][]Cell, h)}
	for y := range c.cells {
		c.cells[y] = make([]Cell, w)
		for x := range c.cells[y] {
			c.cells[y][x].Rune = ' '
		}
	}
	return c
}

// dots is the size in dots: characters, where there is no braille.
func (c *canvas) dots() (w, h int) {
	if c.ascii {
		return c.w, c.h
	}
	return 2 * c.w, 4 * c.h
}

// dot sets one dot; y grows downwards. A character has one role: that of the most
// important dot in it.
func (c *canvas) dot(x, y int, role Role) {
	dx, dy := c.dots()
	if x < 0 || y < 0 || x >= dx || y >= dy {
		return
	}
	if c.ascii {
		if at := &c.cells[y][x]; role >= at.Role {
			*at = Cell{asciiMark(role), role}
		}
		return
	}
	at := &c.cells[y/4][x/2]
	if at.Role == Label {
		return
	}
	if at.Rune == ' ' {
		at.Rune = braille
	}
	at.Rune |= dotBit(x%2, y%4)
	at.Role = max(at.Role, role)
}

func asciiMark(r Role) rune {
	switch r {
	case Axis, Target:
		return '.'
	case Baseline:
		return '-'
	case Interval:
		return '|'
	case Candidate:
		return 'o'
	case Champion:
		return '='
	case Winner:
		return '#'
	case Blank, Label:
	}
	return ' '
}

// across draws a horizontal line of dots, each step-th one.
func (c *canvas) across(x0, x1, y, step int, role Role) {
	for x := min(x0, x1); x <= max(x0, x1); x += step {
		c.dot(x, y, role)
	}
}

// down draws a vertical line.
func (c *canvas) down(x, y0, y1 int, role Role) {
	for y := min(y0, y1); y <= max(y0, y1); y++ {
		c.dot(x, y, role)
	}
}

// write puts a text at a character, over what is there.
func (c *canvas) write(x, y int, text string, role Role) {
	if y < 0 || y >= c.h {
		return
	}
	for _, r := range text {
		if x >= 0 && x < c.w {
			c.cells[y][x] = Cell{r, role}
		}
		x++
	}
}
