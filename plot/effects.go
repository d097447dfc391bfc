package plot

import (
	"bytes"
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Interval is an effect as it is drawn, positive when better. A nil bound is
// open: the bar ends in an arrow.
type Interval struct {
	Value     float64
	Low, High *float64
}

// EffectRow is one change. A nil interval was not measured.
type EffectRow struct {
	Name string
	Then *Interval // when it was kept
	Now  *Interval // of leaving it out of the result
}

// Effects is what a forest plot shows: a row for each change, and one for all of
// them together.
type Effects struct {
	Title   string
	InSigma bool // values are multiples of the noise of one run, not fractions
	Rows    []EffectRow
	Whole   *Interval
	Narrow  bool // for a narrow screen
}

// mostRows bounds the height of a chart.
const mostRows = 60

// The measures of a forest plot.
const (
	effectsWide   = 10 * vg.Inch
	effectsNarrow = 5 * vg.Inch
	effectsHead   = vg.Length(58)
	effectsFoot   = vg.Length(62)
	effectsRow    = vg.Length(44)
)

// RenderEffects draws a forest plot as an SVG: the effect of each change with its
// interval.
func RenderEffects(d Effects) (data []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("draw the chart of effects: %v", r)
		}
	}()
	f := newForest(d, newFaces())
	c := vgsvg.New(f.width, f.height())
	f.draw(draw.New(c))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("encode the chart of effects as svg: %w", err)
	}
	return withFallbackFonts(b.Bytes()), nil
}

// forest is one forest plot under way.
type forest struct {
	Effects
	faces
	width       vg.Length
	left, right vg.Length // of the area
	low, high   float64   // of the range
	unit        float64   // what a value is multiplied by for a label
	more        int       // rows that are left out
}

func newForest(d Effects, f faces) *forest {
	fo := &forest{Effects: d, faces: f, width: effectsWide, unit: 100}
	if d.Narrow {
		fo.width = effectsNarrow
	}
	if d.InSigma {
		fo.unit = 1
	}
	if n := len(d.Rows) - mostRows; n > 0 {
		fo.more, fo.Rows = n, d.Rows[:mostRows]
	}
	fo.left, fo.right = edge, fo.width-edge
	if !d.Narrow {
		fo.left = 0.38 * fo.width
	}
	fo.low, fo.high = fo.span()
	return fo
}

func (f *forest) height() vg.Length {
	rows := len(f.Rows)
	if f.Whole != nil {
		rows++
	}
	return effectsHead + effectsFoot + f.rowHeight()*vg.Length(max(rows, 1))
}

// intervals are all that can be drawn.
func (f *forest) intervals() (list []Interval) {
	add := func(i *Interval) {
		if i != nil && finite(i.Value) {
			list = append(list, *i)
		}
	}
	for _, r := range f.Rows {
		add(r.Then)
		add(r.Now)
	}
	add(f.Whole)
	return list
}

// span is the range of the axis: zero and all values, and their bounds as far as
// they do not squash the values.
func (f *forest) span() (low, high float64) {
	list := f.intervals()
	for _, i := range list {
		low, high = min(low, i.Value), max(high, i.Value)
	}
	reach := high - low
	if reach == 0 || !finite(reach) {
		reach = 1 / f.unit
		low, high = max(low, -1e290), min(high, 1e290)
	}
	from, to := low, high
	for _, i := range list {
		if i.Low != nil && finite(*i.Low) {
			from = min(from, max(*i.Low, low-reach))
		}
		if i.High != nil && finite(*i.High) {
			to = max(to, min(*i.High, high+reach))
		}
	}
	room := 0.05 * max(to-from, reach)
	return from - room, to + room
}

func (f *forest) xAt(v float64) vg.Length {
	at := (v - f.low) / (f.high - f.low)
	return f.left + (f.right-f.left)*vg.Length(math.Min(math.Max(at, 0), 1))
}

func (f *forest) draw(c draw.Canvas) {
	c.SetColor(grey(0xff))
	c.Fill(c.Path())
	room := f.width - 2*edge
	c.FillText(f.title, vg.Point{X: edge, Y: c.Max.Y - 30}, plain(f.Title, f.title, room))
	sub := "more to the right is better; a bar is the range that the runs allow"
	if f.more > 0 {
		sub += fmt.Sprintf("; %d more are not drawn", f.more)
	}
	c.FillText(f.sub, vg.Point{X: edge, Y: c.Max.Y - 47}, plain(sub, f.sub, room))
	f.axis(c)
	y := c.Max.Y - effectsHead - f.rowHeight()/2
	for _, r := range f.Rows {
		f.row(c, r.Name, y, f.label)
		f.bar(&c, r.Then, y+f.lift(r), thenLook())
		f.bar(&c, r.Now, y-7-f.drop(), nowLook())
		y -= f.rowHeight()
	}
	if f.Whole != nil {
		top := y + f.rowHeight()/2
		c.StrokeLine2(draw.LineStyle{Color: soft(), Width: vg.Points(0.7)}, edge, top, f.right, top)
		bold := f.label
		bold.Font = f.title.Font
		bold.Font.Size = f.label.Font.Size
		f.row(c, "all together", y, bold)
		f.bar(&c, f.Whole, y-f.drop(), wholeLook())
	}
	f.marksLegend(c)
}

// rowHeight leaves room for a name above the bars where the chart is narrow.
func (f *forest) rowHeight() vg.Length { return effectsRow + f.drop() }

// drop is how far bars stand below the middle of their row.
func (f *forest) drop() vg.Length {
	if f.Narrow {
		return 8
	}
	return 0
}

// lift moves the upper bar of a row that has two.
func (f *forest) lift(r EffectRow) vg.Length {
	if r.Now == nil {
		return -f.drop()
	}
	return 6 - f.drop()
}

// row writes the name: at the left, or above the bars where it is narrow.
func (f *forest) row(c draw.Canvas, name string, y vg.Length, style draw.TextStyle) {
	style.YAlign = draw.YCenter
	if f.Narrow {
		name = plain(name, style, f.width-2*edge)
		c.SetColor(grey(0xff)) // the grid ends where the name stands
		back := vg.Rectangle{Min: vg.Point{X: edge - 2, Y: y + 9}, Max: vg.Point{X: edge + 2 + style.Width(name), Y: y + 23}}
		c.Fill(back.Path())
		c.FillText(style, vg.Point{X: edge, Y: y + 16}, name)
		return
	}
	c.FillText(style, vg.Point{X: edge, Y: y + textRise}, plain(name, style, f.left-2*edge))
}

// axis draws the grid, the line of no effect and the labels.
func (f *forest) axis(c draw.Canvas) {
	bottom, top := c.Min.Y+effectsFoot, c.Max.Y-effectsHead
	style := f.small
	style.XAlign, style.YAlign = draw.XCenter, draw.YTop
	s := scale{min: f.low * f.unit, max: f.high * f.unit}
	ticks := 7
	if f.Narrow {
		ticks = 5
	}
	list := s.ticks(ticks)
	if len(list) < 2 {
		list = endTicks(s)
	}
	for _, t := range list {
		x := f.xAt(t.value / f.unit)
		line := draw.LineStyle{Color: grid(), Width: vg.Points(0.7)}
		if t.value == 0 {
			line = draw.LineStyle{Color: soft(), Width: vg.Points(1.1)}
		}
		c.StrokeLine2(line, x, bottom, x, top)
		label := t.label
		if t.value > 0 {
			label = "+" + label
		}
		if !f.InSigma {
			label += "%"
		}
		c.FillText(style, vg.Point{X: x, Y: bottom - 5}, label)
	}
	name := f.small
	name.XAlign, name.YAlign = draw.XCenter, draw.YBottom
	unit := "gain, as a share of the score"
	if f.InSigma {
		unit = "gain, as a multiple of the noise of one run"
	}
	c.FillText(name, vg.Point{X: (f.left + f.right) / 2, Y: c.Min.Y + 27}, unit)
}

// endsAt says which ends of a bar go on beyond the range.
func (f *forest) endsAt(i Interval) (low, high float64, openLow, openHigh bool) {
	low, high = f.low, f.high
	openLow, openHigh = true, true
	if i.Low != nil && *i.Low >= f.low {
		low, openLow = *i.Low, false
	}
	if i.High != nil && *i.High <= f.high {
		high, openHigh = *i.High, false
	}
	return min(low, f.high), max(high, f.low), openLow, openHigh
}

// percent writes a value for a label beside a mark.
func (f *forest) percent(v float64) string {
	s := commas(strconv.FormatFloat(v*f.unit, 'f', 1, 64))
	if v > 0 {
		s = "+" + s
	}
	if f.InSigma {
		return s
	}
	return s + "%"
}
