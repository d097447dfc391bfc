package main

import (
	"image"
	"image/color"
	"math"
)

// byHand draws what fonts have in other sizes than a cell's, or not at all: braille,
// the lines of boxes, and the marks of the screen. It returns false for the rest.
func (p *painter) byHand(box image.Rectangle, r rune, fg color.Color) bool {
	x, y := float64(box.Min.X), float64(box.Min.Y)
	w, h := float64(cellW), float64(cellH)
	mid, half := x+w/2, y+h/2
	switch {
	case r >= 0x2800 && r <= 0x28ff:
		p.braille(box, r-0x2800, fg)
		return true
	case p.line(box, r, fg):
		return true
	}
	switch r {
	case '✓':
		p.stroke(fg, 1.7, x+1.5, half+1, x+4, half+4, x+9, half-4.5)
	case '✗':
		p.stroke(fg, 1.7, x+2, half-3.5, x+8, half+3.5)
		p.stroke(fg, 1.7, x+8, half-3.5, x+2, half+3.5)
	case '●':
		p.disc(fg, mid, half, 0, 3.9)
	case '○':
		p.disc(fg, mid, half, 2.6, 3.9)
	case '▲':
		p.triangle(fg, mid, half-4, 1)
	case '▼':
		p.triangle(fg, mid, half+4, -1)
	default:
		return false
	}
	return true
}

// braille draws the dots of a pattern: bit 0 to 2 and 6 on the left, 3 to 5 and 7
// on the right, from top to bottom.
func (p *painter) braille(box image.Rectangle, bits rune, fg color.Color) {
	for i, at := range [8][2]int{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}, {0, 3}, {1, 3}} {
		if bits&(1<<i) != 0 {
			p.disc(fg, float64(box.Min.X)+2.5+5*float64(at[0]), float64(box.Min.Y)+2.5+5*float64(at[1]), 0, 1.6)
		}
	}
}

// line draws the lines that boxes are made of, so that they meet.
func (p *painter) line(box image.Rectangle, r rune, fg color.Color) bool {
	x, y := float64(box.Min.X), float64(box.Min.Y)
	cx, cy := x+cellW/2, y+cellH/2
	arms := map[rune][4]bool{ // left, right, up, down
		'─': {true, true, false, false}, '│': {false, false, true, true},
		'╭': {false, true, false, true}, '╮': {true, false, false, true}, '╰': {false, true, true, false}, '╯': {true, false, true, false},
		'┌': {false, true, false, true}, '┐': {true, false, false, true}, '└': {false, true, true, false}, '┘': {true, false, true, false},
		'├': {false, true, true, true}, '┤': {true, false, true, true}, '┬': {true, true, false, true}, '┴': {true, true, true, false}, '┼': {true, true, true, true},
	}
	a, ok := arms[r]
	if !ok {
		return false
	}
	for i, end := range [4][2]float64{{x, cy}, {x + cellW, cy}, {cx, y}, {cx, y + cellH}} {
		if a[i] {
			p.stroke(fg, 1.2, cx, cy, end[0], end[1])
		}
	}
	return true
}

// stroke draws a line through points, with soft edges.
func (p *painter) stroke(c color.Color, width float64, points ...float64) {
	for i := 0; i+3 < len(points); i += 2 {
		x0, y0, x1, y1 := points[i], points[i+1], points[i+2], points[i+3]
		p.soft(c, math.Min(x0, x1)-2, math.Min(y0, y1)-2, math.Max(x0, x1)+2, math.Max(y0, y1)+2, func(x, y float64) float64 {
			dx, dy := x1-x0, y1-y0
			t := math.Max(0, math.Min(1, ((x-x0)*dx+(y-y0)*dy)/(dx*dx+dy*dy)))
			return width/2 - math.Hypot(x-x0-t*dx, y-y0-t*dy)
		})
	}
}

// disc draws a ring between two radii, a disc when the inner one is 0.
func (p *painter) disc(c color.Color, cx, cy, inner, outer float64) {
	p.soft(c, cx-outer-1, cy-outer-1, cx+outer+1, cy+outer+1, func(x, y float64) float64 {
		d := math.Hypot(x-cx, y-cy)
		if inner == 0 {
			return outer - d
		}
		return math.Min(outer-d, d-inner)
	})
}

// triangle draws one with its tip at a point, which shows up or down.
func (p *painter) triangle(c color.Color, cx, tip, down float64) {
	p.soft(c, cx-5, tip-9, cx+5, tip+9, func(x, y float64) float64 {
		at := (y - tip) * down
		return math.Min(math.Min(at, 8-at), at*0.52-math.Abs(x-cx))
	})
}

// soft paints the pixels of an area by how far they lie inside a shape.
func (p *painter) soft(c color.Color, x0, y0, x1, y1 float64, inside func(x, y float64) float64) {
	for y := int(y0); y <= int(y1)+1; y++ {
		for x := int(x0); x <= int(x1)+1; x++ {
			if share := inside(float64(x)+0.5, float64(y)+0.5) + 0.5; share > 0 {
				p.mix(x, y, c, math.Min(1, share))
			}
		}
	}
}

func (p *painter) mix(x, y int, c color.Color, share float64) {
	if !image.Pt(x, y).In(p.img.Bounds()) {
		return
	}
	old := p.img.RGBAAt(x, y)
	r, g, b, _ := c.RGBA()
	part := func(from uint8, to uint32) uint8 { return uint8(float64(from)*(1-share) + float64(to>>8)*share) }
	p.img.SetRGBA(x, y, color.RGBA{part(old.R, r), part(old.G, g), part(old.B, b), 0xff})
}

func (p *painter) frame(box image.Rectangle, c color.Color) {
	x0, y0, x1, y1 := float64(box.Min.X), float64(box.Min.Y), float64(box.Max.X), float64(box.Max.Y)
	p.stroke(c, 1, x0, y0, x1, y0, x1, y1, x0, y1, x0, y0)
}
