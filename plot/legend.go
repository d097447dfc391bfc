package plot

import (
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// The legend stands in rows below the chart, so that it covers no candidate.
const (
	rowHeight  = vg.Length(15)
	thumbWidth = vg.Length(18)
	entryGap   = vg.Length(16)
)

// entry is one name of the legend.
type entry struct {
	name  string
	thumb func(c *draw.Canvas, at vg.Point) // drawn around at
	width vg.Length
}

// legend arranges the entries in rows no wider than limit.
func (ch *chart) legend(limit vg.Length) (rows [][]entry) {
	used := limit
	for _, e := range ch.entries() {
		e.name = plain(e.name, ch.small, 150)
		e.width = thumbWidth + ch.small.Width(e.name) + entryGap
		if used+e.width > limit+entryGap {
			rows, used = append(rows, nil), 0
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], e)
		used += e.width
	}
	return rows
}

// entries names what the chart shows and nothing else.
func (ch *chart) entries() (list []entry) {
	has := ch.shown()
	for _, f := range ch.families {
		if !has.family[f] {
			continue
		}
		l := ch.lookOf(f)
		name := strings.ReplaceAll(f, "_", " ")
		if name == "" {
			name = "no family"
		}
		list = append(list, entry{name: name, thumb: func(c *draw.Canvas, at vg.Point) { l.mark(c, at, 4, false) }})
	}
	if has.winner {
		kept := look{fill: grey(0xff), shape: polygon(24, 0)}
		list = append(list, entry{name: "kept (dark rim)", thumb: func(c *draw.Canvas, at vg.Point) { kept.mark(c, at, 4.5, true) }})
	}
	if len(ch.Champion) > 0 {
		list = append(list, entry{name: "champion", thumb: func(c *draw.Canvas, at vg.Point) {
			c.StrokeLines(championLine(), []vg.Point{{X: at.X - 7, Y: at.Y + 3}, {X: at.X, Y: at.Y + 3}, {X: at.X, Y: at.Y - 3}, {X: at.X + 7, Y: at.Y - 3}})
		}})
	}
	if has.interval {
		list = append(list, entry{name: "interval", thumb: func(c *draw.Canvas, at vg.Point) {
			c.StrokeLine2(intervalLine(), at.X, at.Y-5, at.X, at.Y+5)
			c.StrokeLine2(intervalLine(), at.X-2.5, at.Y-5, at.X+2.5, at.Y-5)
			c.StrokeLine2(intervalLine(), at.X-2.5, at.Y+5, at.X+2.5, at.Y+5)
		}})
	}
	if has.under || has.over {
		list = append(list, entry{name: "beyond the range", thumb: func(c *draw.Canvas, at vg.Point) {
			drawBeyond(c, vg.Point{X: at.X, Y: at.Y + 5}, soft(), 1)
		}})
	}
	if has.unscored {
		list = append(list, entry{name: "no score", thumb: func(c *draw.Canvas, at vg.Point) { drawUnscored(c, at, 2.6) }})
	}
	return list
}

// shown is what stands in a chart.
type shown struct {
	family                     map[string]bool
	winner, interval, unscored bool
	under, over                bool // scores beyond the range
}

func (ch *chart) shown() shown {
	has := shown{family: make(map[string]bool)}
	for _, p := range ch.Points {
		if p.Score == nil || !finite(*p.Score) {
			has.unscored = true
			continue
		}
		at := ch.y.at(*p.Score)
		has.family[p.Family] = true
		has.winner = has.winner || p.Winner
		has.interval = has.interval || ch.hasInterval(p)
		has.under, has.over = has.under || at < 0, has.over || at > 1
	}
	return has
}

func (ch *chart) drawLegend(c draw.Canvas, rows [][]entry, top vg.Length) {
	style := ch.small
	style.YAlign = draw.YCenter
	style.Color = ink()
	for i, row := range rows {
		y := top - rowHeight*(vg.Length(i)+0.5)
		x := ch.area.Min.X
		for _, e := range row {
			e.thumb(&c, vg.Point{X: x + 7, Y: y})
			c.FillText(style, vg.Point{X: x + thumbWidth, Y: y}, e.name)
			x += e.width
		}
	}
}
