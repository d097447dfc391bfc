package plot

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

func effectsTexts(t *testing.T, d Effects) []string {
	t.Helper()
	svg, err := RenderEffects(d)
	if err != nil {
		t.Fatal(err)
	}
	return texts(t, svg)
}

func TestEffectsTexts(t *testing.T) {
	whole := &Interval{Value: 0.2, Low: ptr(0.18), High: ptr(0.22)}
	rows := []EffectRow{
		{Name: "1  Cache", Then: &Interval{Value: 0.11, Low: ptr(0.1), High: ptr(0.12)}, Now: &Interval{Value: 0.09, Low: ptr(0.08), High: ptr(0.1)}},
		{Name: "2  Skip", Then: &Interval{Value: 0.03, Low: ptr(0.01)}},
	}
	many := Effects{}
	for i := range mostRows + 5 {
		many.Rows = append(many.Rows, EffectRow{Name: fmt.Sprint(i), Then: &Interval{Value: 0.01}})
	}
	for _, c := range []struct {
		name      string
		d         Effects
		want, not []string
	}{
		{
			"all kinds",
			Effects{Title: "Effects", Rows: rows, Whole: whole},
			[]string{"Effects", "1 Cache", "2 Skip", "+11.0%", "+9.0%", "+3.0%", "+20.0%", "0%", "+10%", "all together", "when it was kept", "what leaving it out costs", "gain, as a share of the score"},
			nil,
		},
		{"narrow", Effects{Rows: rows, Whole: whole, Narrow: true}, []string{"1 Cache", "+11.0%", "0%"}, nil},
		{"nothing left out", Effects{Rows: rows[1:]}, []string{"when it was kept"}, []string{"what leaving it out costs", "all together"}},
		{"multiples of the noise", Effects{InSigma: true, Rows: []EffectRow{{Name: "a", Then: &Interval{Value: 3.1}}}}, []string{"+3.1", "gain, as a multiple of the noise of one run"}, []string{"+3.1%"}},
		{"worse", Effects{Rows: []EffectRow{{Name: "a", Then: &Interval{Value: -0.05}}}}, []string{"−5.0%", "0%"}, nil},
		{"many rows", many, []string{"59", "more to the right is better; a bar is the range that the runs allow; 5 more are not drawn"}, []string{"60"}},
		{"hostile", Effects{Title: "<script>\x1b[31m\xff", Rows: []EffectRow{{Name: "]]>&<b>" + strings.Repeat("w", 999)}}}, []string{"<script>[31m\ufffd"}, nil},
		{"nothing", Effects{}, nil, []string{"when it was kept", "all together"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := effectsTexts(t, c.d)
			for _, w := range c.want {
				if !slices.Contains(got, w) {
					t.Errorf("no text %q in %q", w, got)
				}
			}
			for _, w := range c.not {
				if slices.Contains(got, w) {
					t.Errorf("a text %q in %q", w, got)
				}
			}
		})
	}
}

func TestEffectsOfAnyNumbers(t *testing.T) {
	values := []float64{0, 0.01, -3, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64, 1e300, 5e-324}
	for _, v := range values {
		for _, w := range values {
			for _, narrow := range []bool{false, true} {
				d := Effects{Narrow: narrow, Whole: &Interval{Value: v, Low: ptr(w), High: ptr(v)}, Rows: []EffectRow{{Then: &Interval{Value: w, Low: ptr(v)}, Now: &Interval{Value: 0.01, High: ptr(w)}}}}
				svg, err := RenderEffects(d)
				if err != nil {
					t.Fatalf("%v and %v: %v", v, w, err)
				}
				for _, bad := range []string{"NaN", "Inf"} {
					if bytes.Contains(svg, []byte(bad)) {
						t.Errorf("%v and %v: the chart has %s", v, w, bad)
					}
				}
			}
		}
	}
}

// A wide bar does not squash the others: it ends in an arrow.
func TestEffectsRange(t *testing.T) {
	f := newForest(Effects{Rows: []EffectRow{{Then: &Interval{Value: 0.02, Low: ptr(-9), High: ptr(9)}}, {Then: &Interval{Value: 0.05, Low: ptr(0.04), High: ptr(0.06)}}}}, newFaces())
	if f.low < -0.07 || f.high > 0.13 || f.low > 0 || f.high < 0.06 {
		t.Errorf("the range is %v to %v, want about -0.05 to 0.1", f.low, f.high)
	}
	_, _, openLow, openHigh := f.endsAt(*f.Rows[0].Then)
	if !openLow || !openHigh {
		t.Error("a bar beyond the range has no arrows")
	}
	if low, high, openLow, openHigh := f.endsAt(*f.Rows[1].Then); low != 0.04 || high != 0.06 || openLow || openHigh {
		t.Errorf("a bar within the range goes from %v (%t) to %v (%t)", low, openLow, high, openHigh)
	}
}

func TestEffectsAreTheSameAgain(t *testing.T) {
	d := Effects{Title: "a", Rows: []EffectRow{{Name: "b", Then: &Interval{Value: 1}}}}
	a, err := RenderEffects(d)
	if err != nil {
		t.Fatal(err)
	}
	b, err := RenderEffects(d)
	if err != nil || !bytes.Equal(a, b) {
		t.Errorf("two charts of the same effects differ (%v)", err)
	}
}
