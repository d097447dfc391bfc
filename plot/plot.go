// Package plot draws the progress of a track: every candidate's score, the
// champion as a step line, the baseline and the target. It is pure: the same
// data gives the same bytes, and it writes no file. What it is given may be any
// text and any number; what cannot be drawn is left out, never a failure of the
// run that asks for a picture.
package plot

import (
	"bytes"
	"cmp"
	"fmt"
	"image/png"
	"io"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"si/track"
)

// Point is one candidate. Low and High bound its score; a nil Score is a
// candidate that gave none.
type Point struct {
	Iteration int
	Score     *float64
	Low, High *float64
	Winner    bool
	Family    string
	PlanID    string
}

// Step is a new champion: its score from this iteration on.
type Step struct {
	Iteration int
	Score     float64
}

// Data is what a chart shows. Everything may be empty.
type Data struct {
	Title     string // what is improved, in words
	Metric    string
	Direction track.Direction
	Points    []Point
	Champion  []Step // in order of iteration
	Baseline  *float64
	Target    *float64
}

// Format is a file format.
type Format string

// The formats of a chart.
const (
	PNG Format = "png"
	SVG Format = "svg"
)

// The size of a chart.
const (
	width  = 10 * vg.Inch
	height = 5.625 * vg.Inch
)

// DPI is how many dots per inch a PNG has unless somebody wants others: 1440 × 810
// pixels. MinDPI and MaxDPI are the fewest and the most that can be wanted.
const (
	DPI    = 144
	MinDPI = 24
	MaxDPI = 600
)

// Render draws the chart in one format; dpi are the dots per inch of a PNG, [DPI]
// when 0.
func Render(d Data, f Format, dpi int) (data []byte, err error) {
	// The drawing libraries panic on what they cannot do; a picture is never
	// worth the run.
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("draw the chart: %v", r)
		}
	}()
	c, out, err := newCanvas(f, cmp.Or(dpi, DPI))
	if err != nil {
		return nil, err
	}
	faces := newFaces()
	newChart(d, faces).draw(draw.New(c))
	var b bytes.Buffer
	if _, err := out().WriteTo(&b); err != nil {
		return nil, fmt.Errorf("encode the chart as %s: %w", f, err)
	}
	if f == SVG {
		return withFallbackFonts(b.Bytes()), nil
	}
	return b.Bytes(), nil
}

func newCanvas(f Format, dpi int) (vg.CanvasSizer, func() io.WriterTo, error) {
	switch f {
	case PNG:
		c := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi))
		return c, func() io.WriterTo { return quickPNG{c} }, nil
	case SVG:
		c := vgsvg.New(width, height)
		return c, func() io.WriterTo { return c }, nil
	}
	return nil, nil, fmt.Errorf("draw the chart: unknown format %q; want png or svg", f)
}

// quickPNG writes the picture with the quickest compression: it is drawn anew in
// each round, and the best one took a tenth of si's own time for a round.
type quickPNG struct{ *vgimg.Canvas }

func (q quickPNG) WriteTo(w io.Writer) (int64, error) {
	var b bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestSpeed}
	if err := encoder.Encode(&b, q.Image()); err != nil {
		return 0, err
	}
	return b.WriteTo(w)
}

// withFallbackFonts names fonts that other machines have, for the text of an
// SVG, which does not embed its own.
func withFallbackFonts(svg []byte) []byte {
	return bytes.ReplaceAll(svg, []byte("font-family:Liberation Sans;"), []byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif;"))
}
