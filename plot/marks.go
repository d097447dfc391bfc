package plot

import (
	"image/color"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

func targetColor() color.Color { return color.NRGBA{0x1a, 0x7f, 0x37, 255} }

// champion draws the step line from the baseline to the last champion.
func (ch *chart) champion(c draw.Canvas) {
	var pts []vg.Point
	level, known := 0.0, false
	if ch.Baseline != nil && finite(*ch.Baseline) {
		level, known = *ch.Baseline, true
		pts = append(pts, vg.Point{X: ch.area.Min.X, Y: ch.yAt(level)})
	}
	for _, s := range ch.Champion {
		if !finite(s.Score) {
			continue
		}
		x := ch.xAt(float64(s.Iteration))
		if known {
			pts = append(pts, vg.Point{X: x, Y: ch.yAt(level)})
		}
		level, known = s.Score, true
		pts = append(pts, vg.Point{X: x, Y: ch.yAt(level)})
	}
	if len(ch.Champion) == 0 || !known {
		return
	}
	pts = append(pts, vg.Point{X: ch.area.Max.X, Y: ch.yAt(level)})
	c.StrokeLines(championLine(), pts)
}

func championLine() draw.LineStyle {
	return draw.LineStyle{Color: ink(), Width: vg.Points(1.8)}
}

// candidates draws the winners, or all others.
func (ch *chart) candidates(c *draw.Canvas, winners bool) {
	total, index := make(map[int]int), make(map[int]int)
	for _, p := range ch.Points {
		total[p.Iteration]++
	}
	for _, p := range ch.Points {
		// The candidates of a round stand side by side, in their order.
		i, n := index[p.Iteration], total[p.Iteration]
		index[p.Iteration]++
		x := ch.xAt(float64(p.Iteration) + ch.spread*((float64(i)+0.5)/float64(n)-0.5))
		if p.Winner {
			x = ch.xAt(float64(p.Iteration)) // on the corner of the step line
		}
		if p.Winner == winners {
			ch.candidate(c, p, x)
		}
	}
}

func (ch *chart) candidate(c *draw.Canvas, p Point, x vg.Length) {
	if p.Score == nil || !finite(*p.Score) {
		drawUnscored(c, vg.Point{X: x, Y: ch.area.Min.Y + 6}, 0.65*ch.radius)
		return
	}
	ch.interval(c, p, x)
	l := ch.lookOf(p.Family)
	radius := ch.radius
	if p.Winner {
		radius *= 1.4
	}
	at := ch.y.at(*p.Score)
	y := ch.yAt(*p.Score)
	switch {
	case at > 1:
		drawBeyond(c, vg.Point{X: x, Y: ch.area.Max.Y}, l.fill, ch.radius/4)
	case at < 0:
		drawBeyond(c, vg.Point{X: x, Y: ch.area.Min.Y + 2}, l.fill, -ch.radius/4)
	default:
		l.mark(c, vg.Point{X: x, Y: y}, radius, p.Winner)
	}
}

// hasInterval says whether a bar is drawn for p: of very many candidates, only
// for the winners.
func (ch *chart) hasInterval(p Point) bool {
	return p.Low != nil && p.High != nil && finite(*p.Low) && finite(*p.High) && (p.Winner || len(ch.Points) <= many)
}

// interval draws the bounds of a score as a bar.
func (ch *chart) interval(c *draw.Canvas, p Point, x vg.Length) {
	if !ch.hasInterval(p) {
		return
	}
	low, high := min(*p.Low, *p.High), max(*p.Low, *p.High)
	if ch.y.at(low) > 1 || ch.y.at(high) < 0 {
		return
	}
	c.StrokeLine2(intervalLine(), x, ch.yAt(low), x, ch.yAt(high))
	for _, v := range []float64{low, high} {
		if len(ch.Points) > many {
			break // the caps would run into each other
		}
		if at := ch.y.at(v); at >= 0 && at <= 1 { // no cap where the bar goes on
			c.StrokeLine2(intervalLine(), x-2.5, ch.yAt(v), x+2.5, ch.yAt(v))
		}
	}
}

func intervalLine() draw.LineStyle {
	return draw.LineStyle{Color: grey(0x9a), Width: vg.Points(0.9)}
}

func (ch *chart) lookOf(family string) look {
	return ch.looks[slices.Index(ch.families, family)%len(ch.looks)]
}

// drawBeyond marks a score beyond the range: an arrow at the edge that points to
// where it is, up when size is positive.
func drawBeyond(c *draw.Canvas, at vg.Point, fill color.Color, size vg.Length) {
	line := draw.LineStyle{Color: fill, Width: vg.Points(1.3) * max(size, -size)}
	c.StrokeLines(line, []vg.Point{{X: at.X - 3.4*size, Y: at.Y - 4*size}, at, {X: at.X + 3.4*size, Y: at.Y - 4*size}})
	c.StrokeLine2(line, at.X, at.Y, at.X, at.Y-9*size)
}

// drawUnscored marks a candidate without a score, above the axis.
func drawUnscored(c *draw.Canvas, at vg.Point, r vg.Length) {
	line := draw.LineStyle{Color: grey(0x8a), Width: vg.Points(1)}
	c.StrokeLine2(line, at.X-r, at.Y-r, at.X+r, at.Y+r)
	c.StrokeLine2(line, at.X-r, at.Y+r, at.X+r, at.Y-r)
}
