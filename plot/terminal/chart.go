package terminal

import (
	"math"
	"strconv"
	"unicode/utf8"

	"si/plot"
)

// Options are the size of a chart in characters, and what the terminal can show.
type Options struct {
	Width, Height int
	ASCII         bool
}

// The smallest chart that says anything, in characters.
const (
	leastWidth  = 16
	leastHeight = 4
)

// Draw draws a chart of exactly Width × Height characters. One that is too small
// for a chart is blank.
func Draw(d plot.Data, o Options) [][]Cell {
	o.Width, o.Height = max(0, o.Width), max(0, o.Height)
	c := newCanvas(o.Width, o.Height, o.ASCII)
	if o.Width < leastWidth || o.Height < leastHeight {
		return c.cells
	}
	ch := &chart{Data: d, canvas: c, axis: plot.NewAxis(d)}
	if ch.axis.Empty() {
		text := "no candidate has been measured yet"
		c.write(max(0, (o.Width-len(text))/2), o.Height/2, text, Label)
		return c.cells
	}
	ch.draw()
	return c.cells
}

type chart struct {
	plot.Data
	*canvas
	axis        plot.Axis
	left        int // characters of the labels of the ticks
	first, last int // rounds
}

func (ch *chart) draw() {
	ticks := ch.axis.Ticks(max(2, ch.h/4))
	for _, t := range ticks {
		ch.left = max(ch.left, utf8.RuneCountInString(t.Label)+1)
	}
	ch.left = min(ch.left, ch.w/3)
	ch.first, ch.last = ch.rounds()
	ch.frame(ticks)
	ch.rule(ch.Target, Target, 4)
	ch.rule(ch.Baseline, Baseline, 2)
	for _, p := range ch.Points {
		ch.interval(p)
	}
	ch.steps()
	ch.points()
}

func (ch *chart) rounds() (first, last int) {
	first, last = 1, 1
	for _, p := range ch.Points {
		first, last = min(first, p.Iteration), max(last, p.Iteration)
	}
	for _, s := range ch.Champion {
		first, last = min(first, s.Iteration), max(last, s.Iteration)
	}
	return max(0, first), last
}

// area is the drawing's own part, in dots: all but the labels at the left and the
// rounds below.
func (ch *chart) area() (x0, x1, y0, y1 int) {
	w, h := ch.dots()
	return ch.left * w / ch.w, w - 1, 0, h - h/ch.h - 1
}

// xAt is the column of a round; part is the place in it, −0.5 to 0.5.
func (ch *chart) xAt(round int, part float64) int {
	x0, x1, _, _ := ch.area()
	span := float64(ch.last-ch.first) + 1.4
	return x0 + int(math.Round((float64(round-ch.first)+0.7+0.62*part)/span*float64(x1-x0)))
}

// yAt is the row of a score, kept inside.
func (ch *chart) yAt(v float64) int {
	_, _, y0, y1 := ch.area()
	at := math.Min(math.Max(ch.axis.At(v), 0), 1)
	return y1 - int(math.Round(at*float64(y1-y0)))
}

func (ch *chart) frame(ticks []plot.Tick) {
	used := -1
	for i := len(ticks) - 1; i >= 0; i-- { // from the top: y grows downwards
		y := ch.yAt(ticks[i].Value)
		row := y
		if !ch.ascii {
			row = y / 4
		}
		if row == used || row >= ch.h-1 {
			continue
		}
		used = row
		label := ticks[i].Label
		if n := utf8.RuneCountInString(label); n < ch.left {
			ch.write(ch.left-1-n, row, label, Label)
		}
	}
	ch.roundNumbers()
}

// roundNumbers writes the rounds below, as many as have room.
func (ch *chart) roundNumbers() {
	free := ch.left
	step := 1 + (ch.last-ch.first)/(4*ch.w) // rounds that share a column have one number
	for n := ch.first; n <= ch.last; n += step {
		text := strconv.Itoa(n)
		x := ch.xAt(n, 0)
		if !ch.ascii {
			x /= 2
		}
		x -= (len(text) - 1) / 2
		if x < free || x+len(text) > ch.w {
			continue
		}
		ch.write(x, ch.h-1, text, Label)
		free = x + len(text) + 2
	}
}

// rule draws a dashed line at a score.
func (ch *chart) rule(v *float64, role Role, step int) {
	if v == nil || !ch.axis.Finite(*v) {
		return
	}
	if at := ch.axis.At(*v); at < 0 || at > 1 {
		return
	}
	x0, x1, _, _ := ch.area()
	ch.across(x0, x1, ch.yAt(*v), step, role)
}

// steps draws the champion: a line that rises where a round had a winner.
func (ch *chart) steps() {
	x0, x1, _, _ := ch.area()
	x, y, known := x0, 0, false
	if ch.Baseline != nil && ch.axis.Finite(*ch.Baseline) {
		y, known = ch.yAt(*ch.Baseline), true
	}
	for _, s := range ch.Champion {
		if !ch.axis.Finite(s.Score) {
			continue
		}
		nx, ny := ch.xAt(s.Iteration, 0), ch.yAt(s.Score)
		if known {
			ch.across(x, nx, y, 1, Champion)
			ch.down(nx, y, ny, Champion)
		}
		x, y, known = nx, ny, true
	}
	if known && len(ch.Champion) > 0 {
		ch.across(x, x1, y, 1, Champion)
	}
}

// points draws the candidates of a round side by side; those without a score stand
// at the bottom, those beyond the range at its edge.
func (ch *chart) points() {
	total, index := map[int]int{}, map[int]int{}
	for _, p := range ch.Points {
		total[p.Iteration]++
	}
	for _, p := range ch.Points {
		i, n := index[p.Iteration], total[p.Iteration]
		index[p.Iteration]++
		part := (float64(i)+0.5)/float64(n) - 0.5
		if p.Score == nil || !ch.axis.Finite(*p.Score) {
			continue
		}
		if p.Winner {
			ch.mark(ch.xAt(p.Iteration, 0), ch.yAt(*p.Score), Winner)
			continue
		}
		ch.mark(ch.xAt(p.Iteration, part), ch.yAt(*p.Score), Candidate)
	}
}

// mark sets a spot: four dots for a winner, two for another candidate, so that they
// differ without a colour.
func (ch *chart) mark(x, y int, role Role) {
	ch.dot(x, y, role)
	if ch.ascii {
		return
	}
	ch.dot(x+1, y, role)
	if role == Winner {
		ch.dot(x, max(0, y-1), role)
		ch.dot(x+1, max(0, y-1), role)
	}
}

func (ch *chart) interval(p plot.Point) {
	if !p.Winner || p.Low == nil || p.High == nil || !ch.axis.Finite(*p.Low) || !ch.axis.Finite(*p.High) {
		return
	}
	low, high := min(*p.Low, *p.High), max(*p.Low, *p.High)
	if ch.axis.At(low) > 1 || ch.axis.At(high) < 0 {
		return
	}
	ch.down(ch.xAt(p.Iteration, 0), ch.yAt(low), ch.yAt(high), Interval)
}
