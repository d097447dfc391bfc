package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// mostSamples is how many runs of a comparison are shown; si itself takes fewer.
const mostSamples = 120

// samplesView is every run of a comparison: in words, and as dots in the order in
// which they were taken, so that a drift of the machine can be seen.
type samplesView struct {
	Before, After         string // what the two sides are
	BeforeText, AfterText string // scores in their order
	Order                 string // b for a run of the earlier tree, a for the later
	More                  string
	Dots                  []dot
	BeforeLine, AfterLine float64 // heights of the medians
	Top, Bottom           string  // scores at the edges
	Chart                 bool
}

// The size of the dot chart in its own units; the page scales it.
const (
	dotsWidth  = 360.0
	dotsHeight = 96.0
	dotsEdge   = 9.0
)

// dot is one run in the chart.
type dot struct {
	X, Y  float64
	After bool
}

func newSamplesView(d Duel, before, after string) samplesView {
	shown, more := capped(finiteOnly(d.Samples), mostSamples)
	v := samplesView{Before: before, After: after, More: more}
	var a, b, order []string
	for _, s := range shown {
		if s.After {
			a, order = append(a, score(s.Score)), append(order, "a")
		} else {
			b, order = append(b, score(s.Score)), append(order, "b")
		}
	}
	v.BeforeText, v.AfterText, v.Order = strings.Join(b, "  "), strings.Join(a, "  "), strings.Join(order, " ")
	v.draw(shown, d.Before, d.After)
	return v
}

func finiteOnly(list []Sample) []Sample {
	return slices.DeleteFunc(slices.Clone(list), func(s Sample) bool { return !finite(s.Score) })
}

func finite(v float64) bool { return !math.IsNaN(v) && math.Abs(v) < 1e300 }

// draw places the dots. Numbers and nothing else reach the chart.
func (v *samplesView) draw(list []Sample, before, after float64) {
	if len(list) < 2 || !finite(before) || !finite(after) {
		return
	}
	low, high := min(before, after), max(before, after)
	for _, s := range list {
		low, high = min(low, s.Score), max(high, s.Score)
	}
	v.Chart, v.Top, v.Bottom = true, score(high), score(low)
	y := func(value float64) float64 {
		if high == low {
			return dotsHeight / 2
		}
		return round(dotsHeight - dotsEdge - (dotsHeight-2*dotsEdge)*(value/2-low/2)/(high/2-low/2))
	}
	for i, s := range list {
		x := dotsEdge + (dotsWidth-2*dotsEdge)*float64(i)/float64(len(list)-1)
		v.Dots = append(v.Dots, dot{round(x), y(s.Score), s.After})
	}
	v.BeforeLine, v.AfterLine = y(before), y(after)
}

func round(v float64) float64 { return math.Round(10*v) / 10 }

// Shape is a dot's outline as an SVG path: a ring for the earlier tree, a diamond
// for the later one, so that print in grey tells them apart.
func (d dot) Shape() string {
	n := func(v float64) string { return strconv.FormatFloat(round(v), 'f', -1, 64) }
	if d.After {
		const r = 4.6
		return fmt.Sprintf("M%s %sl%s %sl-%s %sl-%s -%sz", n(d.X), n(d.Y-r), n(r), n(r), n(r), n(r), n(r), n(r))
	}
	const r = 3.4
	return fmt.Sprintf("M%s %sa%s %s 0 1 0 %s 0a%s %s 0 1 0 -%s 0z", n(d.X-r), n(d.Y), n(r), n(r), n(2*r), n(r), n(r), n(2*r))
}

// Says describes the chart to those who do not see it.
func (v samplesView) Says() string {
	return fmt.Sprintf("%d runs in the order in which they were taken, from %s to %s. %s: %s. %s: %s.",
		len(v.Dots), v.Bottom, v.Top, v.Before, v.BeforeText, v.After, v.AfterText)
}
