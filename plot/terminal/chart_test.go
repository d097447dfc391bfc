package terminal

import (
	"math"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"si/plot"
	"si/track"
)

func num(v float64) *float64 { return &v }

func evening() plot.Data {
	return plot.Data{
		Metric: "ops", Direction: track.HigherIsBetter, Baseline: num(100), Target: num(190),
		Points: []plot.Point{
			{Iteration: 1, Score: num(98)},
			{Iteration: 1, Score: num(120), Low: num(112), High: num(128), Winner: true},
			{Iteration: 1},
			{Iteration: 2, Score: num(118)},
			{Iteration: 2, Score: num(121)},
			{Iteration: 3, Score: num(160), Low: num(150), High: num(172), Winner: true},
			{Iteration: 5, Score: num(158)},
			{Iteration: 5, Score: num(9000)},
		},
		Champion: []plot.Step{{Iteration: 1, Score: 120}, {Iteration: 3, Score: 160}},
	}
}

func text(cells [][]Cell) string {
	var b strings.Builder
	for _, row := range cells {
		for _, c := range row {
			b.WriteRune(c.Rune)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestDraw(t *testing.T) {
	for name, o := range map[string]Options{
		"braille": {Width: 60, Height: 14}, "ascii": {Width: 60, Height: 14, ASCII: true}, "small": {Width: 24, Height: 6},
	} {
		t.Run(name, func(t *testing.T) { golden.RequireEqual(t, []byte(text(Draw(evening(), o)))) })
	}
	t.Run("nothing", func(t *testing.T) {
		golden.RequireEqual(t, []byte(text(Draw(plot.Data{}, Options{Width: 50, Height: 5}))))
	})
}

// TestEverySize: each size gives so many characters, whatever the numbers.
func TestEverySize(t *testing.T) {
	odd := evening()
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, -1, 1e308, 5e-324, -1e308} {
		odd.Points = append(odd.Points, plot.Point{Iteration: -3, Score: num(v), Low: num(v), High: num(-v), Winner: true})
		odd.Champion = append(odd.Champion, plot.Step{Iteration: 1 << 30, Score: v})
		odd.Baseline, odd.Target = num(v), num(-v)
		for _, d := range []plot.Data{odd, {Points: odd.Points[len(odd.Points)-1:]}} {
			for w := -1; w < 40; w += 3 {
				for h := -1; h < 12; h++ {
					for _, ascii := range []bool{false, true} {
						got := Draw(d, Options{Width: w, Height: h, ASCII: ascii})
						if len(got) != max(0, h) {
							t.Fatalf("%d × %d: %d rows", w, h, len(got))
						}
						for _, row := range got {
							if len(row) != max(0, w) {
								t.Fatalf("%d × %d: a row of %d", w, h, len(row))
							}
						}
					}
				}
			}
		}
	}
}

// TestDots: the dots of a character lie where the braille patterns have them.
func TestDots(t *testing.T) {
	want := [4][2]rune{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}
	for y := range 4 {
		for x := range 2 {
			if got := dotBit(x, y); got != want[y][x] {
				t.Errorf("dot %d, %d is %#x, want %#x", x, y, got, want[y][x])
			}
		}
	}
}
