package plot

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// effectLook is how one kind of effect is drawn: told apart by colour, and by
// shape when printed in grey.
type effectLook struct {
	look
	name string
}

func thenLook() effectLook {
	return effectLook{look{color.NRGBA{0x00, 0x72, 0xb2, 255}, polygon(4, 45)}, "when it was kept"}
}

func nowLook() effectLook {
	return effectLook{look{color.NRGBA{0xd5, 0x5e, 0x00, 255}, polygon(4, 0)}, "what leaving it out costs"}
}

func wholeLook() effectLook {
	return effectLook{look{grey(0x22), polygon(24, 0)}, "all together"}
}

// bar draws an interval and its value.
func (f *forest) bar(c *draw.Canvas, i *Interval, y vg.Length, l effectLook) {
	if i == nil || !finite(i.Value) {
		return
	}
	low, high, openLow, openHigh := f.endsAt(*i)
	line := draw.LineStyle{Color: l.fill, Width: vg.Points(1.5)}
	c.StrokeLine2(line, f.xAt(low), y, f.xAt(high), y)
	f.end(c, line, f.xAt(low), y, openLow, 1)
	f.end(c, line, f.xAt(high), y, openHigh, -1)
	at := vg.Point{X: f.xAt(i.Value), Y: y}
	l.mark(c, at, 4.2, false)
	style := f.small
	style.YAlign, style.Color = draw.YCenter, ink()
	label := f.percent(i.Value)
	x := f.xAt(high) + 6
	if x+style.Width(label) > f.right {
		x = f.xAt(low) - 8 - style.Width(label)*wider
	}
	if x < f.left { // the bar fills the row
		x, y = at.X+6, y+6
	}
	c.FillText(style, vg.Point{X: x, Y: y + textRise}, label)
}

// end draws the cap of a bar, or an arrow where it goes on; inward is the
// direction of the bar.
func (f *forest) end(c *draw.Canvas, line draw.LineStyle, x, y vg.Length, open bool, inward vg.Length) {
	if !open {
		c.StrokeLine2(line, x, y-3, x, y+3)
		return
	}
	c.StrokeLines(line, []vg.Point{{X: x + 4*inward, Y: y - 3}, {X: x, Y: y}, {X: x + 4*inward, Y: y + 3}})
}

// wider is room for letters of a page, whose font can be wider than the one that texts
// are measured in.
const wider = 1.12

// marksLegend names the marks that are drawn.
func (f *forest) marksLegend(c draw.Canvas) {
	style := f.small
	style.YAlign, style.Color = draw.YCenter, ink()
	then, now := false, false
	for _, r := range f.Rows {
		then, now = then || r.Then != nil, now || r.Now != nil
	}
	x, y := f.left, c.Min.Y+14
	for _, e := range []struct {
		shown bool
		look  effectLook
	}{{then, thenLook()}, {now, nowLook()}, {f.Whole != nil, wholeLook()}} {
		if !e.shown {
			continue
		}
		e.look.mark(&c, vg.Point{X: x + 5, Y: y}, 4.2, false)
		c.FillText(style, vg.Point{X: x + 14, Y: y + textRise}, e.look.name)
		x += 14 + style.Width(e.look.name)*wider + entryGap
	}
}
