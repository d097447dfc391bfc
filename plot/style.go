package plot

import (
	"image/color"
	"math"
	"slices"
	"strings"
	"unicode"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"si/track"
)

// faces are the text styles of a chart.
type faces struct{ title, sub, label, small text.Style }

func newFaces() faces {
	handler := text.Plain{Fonts: font.NewCache(liberation.Collection())}
	style := func(size vg.Length, bold bool, c color.Color) text.Style {
		f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
		if bold {
			f.Weight = 3 // bold, as the collection names it
		}
		return text.Style{Color: c, Font: f, Handler: handler, XAlign: draw.XLeft, YAlign: draw.YBottom}
	}
	return faces{
		title: style(15, true, ink()),
		sub:   style(11, false, soft()),
		label: style(10, false, ink()),
		small: style(9, false, soft()),
	}
}

func grey(v uint8) color.Color { return color.NRGBA{v, v, v, 255} }

func ink() color.Color  { return grey(0x22) }
func soft() color.Color { return grey(0x5c) }
func grid() color.Color { return grey(0xe6) }

// look is how a family is drawn: told apart by colour, and by shape when
// printed in grey.
type look struct {
	fill  color.Color
	shape []vg.Point // of radius 1
}

// looks are the looks in the order of track.Families; custom families go on
// from there. The colours are those of Okabe and Ito, which people with colour
// blindness can tell apart, darkened where they are too light for small marks.
func looks() []look {
	rgb := func(r, g, b uint8) color.Color { return color.NRGBA{r, g, b, 255} }
	return []look{
		{rgb(0x00, 0x72, 0xb2), polygon(4, 45)},             // square
		{rgb(0xd5, 0x5e, 0x00), polygon(3, 90)},             // triangle
		{rgb(0x00, 0x9e, 0x73), polygon(4, 0)},              // diamond
		{rgb(0xcc, 0x79, 0xa7), polygon(3, 270)},            // triangle on its tip
		{rgb(0x33, 0x9b, 0xd6), polygon(24, 0)},             // disc
		{rgb(0xe0, 0x95, 0x00), cross(45)},                  // plus
		{rgb(0x6a, 0x51, 0x9e), star()},                     // star
		{rgb(0x77, 0x77, 0x77), cross(0)},                   // cross
		{rgb(0x8c, 0x2d, 0x04), polygon(5, 90)},             // pentagon
		{rgb(0x1b, 0x5e, 0x3a), polygon(6, 0)},              // hexagon
		{rgb(0x9c, 0x9a, 0x00), stretch(polygon(4, 45), 2)}, // bar
	}
}

func polygon(corners int, turn float64) (pts []vg.Point) {
	for i := range corners {
		a := (turn + 360*float64(i)/float64(corners)) * math.Pi / 180
		pts = append(pts, vg.Point{X: vg.Length(math.Cos(a)), Y: vg.Length(math.Sin(a))})
	}
	return pts
}

// cross has arms along the diagonals when turn is 0.
func cross(turn float64) (pts []vg.Point) {
	const arm, notch = 1.12, 0.5
	for i := range 4 {
		a := turn + 45 + 90*float64(i)
		for _, p := range []struct{ r, d float64 }{{notch, -45}, {arm, -20}, {arm, 20}} {
			t := (a + p.d) * math.Pi / 180
			pts = append(pts, vg.Point{X: vg.Length(p.r * math.Cos(t)), Y: vg.Length(p.r * math.Sin(t))})
		}
	}
	return pts
}

func star() (pts []vg.Point) {
	for i := range 10 {
		r := 1.2
		if i%2 == 1 {
			r = 0.5
		}
		a := (90 + 36*float64(i)) * math.Pi / 180
		pts = append(pts, vg.Point{X: vg.Length(r * math.Cos(a)), Y: vg.Length(r * math.Sin(a))})
	}
	return pts
}

func stretch(pts []vg.Point, by vg.Length) []vg.Point {
	for i := range pts {
		pts[i].Y /= by
	}
	return pts
}

// families lists the families of the points in the order of their looks.
func families(points []Point) []string {
	known := track.Families()
	var custom []string
	seen := make(map[string]bool)
	for _, p := range points {
		if !seen[p.Family] && !slices.Contains(known, p.Family) {
			custom = append(custom, p.Family)
		}
		seen[p.Family] = true
	}
	slices.Sort(custom)
	return append(known, custom...)
}

// mark draws a family's shape; a winner has a dark rim.
func (l look) mark(c *draw.Canvas, at vg.Point, radius vg.Length, winner bool) {
	pts := make([]vg.Point, len(l.shape))
	for i, p := range l.shape {
		pts[i] = vg.Point{X: at.X + p.X*radius, Y: at.Y + p.Y*radius}
	}
	c.FillPolygon(l.fill, pts)
	rim := draw.LineStyle{Color: color.White, Width: radius / 8}
	if winner {
		rim = draw.LineStyle{Color: ink(), Width: min(vg.Points(1.1), radius/4)}
	}
	c.StrokeLines(rim, append(pts, pts[0], pts[1]))
}

// plain makes a text of agents and users fit to be drawn: printable, and no
// wider than limit.
func plain(txt string, style text.Style, limit vg.Length) string {
	txt = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) || unicode.IsSpace(r) {
			return r
		}
		return -1
	}, txt)), " ")
	runes := []rune(txt)
	runes = runes[:min(len(runes), 300)]
	if style.Width(string(runes)) <= limit {
		return string(runes)
	}
	for len(runes) > 0 && style.Width(string(runes)+"…") > limit {
		runes = runes[:len(runes)-1]
	}
	return strings.TrimSpace(string(runes)) + "…"
}
