package main

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"strings"
	"unicode/utf8"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/gomonobold"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// The size of a character in pixels, and where its baseline lies.
const (
	cellW    = 10
	cellH    = 20
	baseline = 15
	fontSize = 16.6
	margin   = 8
)

// painter draws one screen.
type painter struct {
	img         *image.RGBA
	plain, bold font.Face
	fg, bg      color.Color
}

// Draw makes a PNG of a screen: lines of text with colours.
func Draw(text string, light bool) ([]byte, error) {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	w, h := 1, len(lines)
	for _, l := range lines {
		w = max(w, ansi.StringWidth(l))
	}
	if w > 1000 || h > 1000 {
		return nil, fmt.Errorf("a screen of %d × %d is larger than 1000 × 1000", w, h)
	}
	emu := vt.NewEmulator(w, h)
	_, _ = emu.WriteString("\x1b[?7l" + strings.Join(lines, "\r\n")) // its Write cannot fail
	p, err := newPainter(w, h, light)
	if err != nil {
		return nil, err
	}
	for y := range h {
		for x := range w {
			if c := emu.CellAt(x, y); c != nil {
				p.cell(x, y, c)
			}
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, p.img); err != nil {
		return nil, fmt.Errorf("encode the picture: %w", err)
	}
	return b.Bytes(), nil
}

func newPainter(w, h int, light bool) (*painter, error) {
	p := &painter{img: image.NewRGBA(image.Rect(0, 0, w*cellW+2*margin, h*cellH+2*margin)), fg: grey(0xd4), bg: color.RGBA{0x17, 0x19, 0x1f, 0xff}}
	if light {
		p.fg, p.bg = grey(0x1c), grey(0xfc)
	}
	draw.Draw(p.img, p.img.Bounds(), image.NewUniform(p.bg), image.Point{}, draw.Src)
	for _, f := range []struct {
		data []byte
		face *font.Face
	}{{gomono.TTF, &p.plain}, {gomonobold.TTF, &p.bold}} {
		parsed, err := opentype.Parse(f.data)
		if err == nil {
			*f.face, err = opentype.NewFace(parsed, &opentype.FaceOptions{Size: fontSize, DPI: 72, Hinting: font.HintingFull})
		}
		if err != nil {
			return nil, fmt.Errorf("load the font: %w", err)
		}
	}
	return p, nil
}

func grey(v uint8) color.Color { return color.RGBA{v, v, v, 0xff} }

// cell draws one character and what lies behind it.
func (p *painter) cell(x, y int, c *uv.Cell) {
	fg, bg := p.fg, p.bg
	if c.Style.Fg != nil {
		fg = c.Style.Fg
	}
	if c.Style.Bg != nil {
		bg = c.Style.Bg
	}
	if c.Style.Attrs&uv.AttrReverse != 0 {
		fg, bg = bg, fg
	}
	if c.Style.Attrs&uv.AttrFaint != 0 {
		fg = between(fg, bg)
	}
	box := image.Rect(0, 0, max(1, c.Width)*cellW, cellH).Add(image.Pt(margin+x*cellW, margin+y*cellH))
	if c.Width > 0 {
		draw.Draw(p.img, box, image.NewUniform(bg), image.Point{}, draw.Src)
	}
	// Marks that combine with the first character are left out.
	if r, size := utf8.DecodeRuneInString(c.Content); size > 0 && r != ' ' {
		p.glyph(box, r, fg, c.Style.Attrs&uv.AttrBold != 0)
	}
}

func between(a, b color.Color) color.Color {
	ar, ag, ab, _ := a.RGBA()
	br, bg, bb, _ := b.RGBA()
	return color.RGBA{uint8((ar + br) >> 9), uint8((ag + bg) >> 9), uint8((ab + bb) >> 9), 0xff}
}

// glyph draws a character: dots, lines and ticks by hand, the rest by the font.
func (p *painter) glyph(box image.Rectangle, r rune, fg color.Color, bold bool) {
	if p.byHand(box, r, fg) {
		return
	}
	face := p.plain
	if bold {
		face = p.bold
	}
	if _, ok := face.GlyphAdvance(r); !ok {
		p.frame(box.Inset(2), fg)
		return
	}
	d := font.Drawer{Dst: p.img, Src: image.NewUniform(fg), Face: face, Dot: fixed.P(box.Min.X, box.Min.Y+baseline)}
	d.DrawString(string(r))
}
