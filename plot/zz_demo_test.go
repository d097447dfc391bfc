package plot

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"si/track"
)

func demo(rounds, each int, base, gain float64, dir track.Direction) Data {
	r := rand.New(rand.NewPCG(1, 2))
	d := Data{Title: "Make the tokenizer of the parser faster without new dependencies", Metric: "latency_s", Direction: dir, Baseline: &base}
	champ := base
	fams := track.Families()
	for n := 1; n <= rounds; n++ {
		for i := range each {
			v := champ * (1 + 0.1*r.NormFloat64())
			p := Point{Iteration: n, Family: fams[r.IntN(len(fams))], Score: &v}
			lo, hi := v*0.97, v*1.03
			p.Low, p.High = &lo, &hi
			if r.IntN(15) == 0 {
				v *= 20
				lo, hi = v*0.97, v*1.03
			}
			if r.IntN(12) == 0 {
				p.Score, p.Low, p.High = nil, nil, nil
			}
			if i == 0 && r.IntN(3) == 0 {
				v = champ * gain
				lo, hi = v*0.97, v*1.03
				p.Score, p.Low, p.High, p.Winner = &v, &lo, &hi, true
				champ = v
				d.Champion = append(d.Champion, Step{n, v})
			}
			d.Points = append(d.Points, p)
		}
	}
	return d
}

func TestDemo(t *testing.T) {
	t1, t2 := 0.0012, 4.0e6
	a := demo(24, 3, 0.003, 0.9, track.LowerIsBetter)
	a.Target = &t1
	b := demo(20, 4, 2_000_000, 1.08, track.HigherIsBetter)
	b.Metric = "ops_per_s"
	b.Target = &t2
	b.Points[5].Family = "simd_kernels"
	c := demo(500, 8, 50, 0.998, track.LowerIsBetter)
	g := demo(30, 3, 40, 0.6, track.LowerIsBetter)
	one := 3.5
	eq := Data{Title: "All equal", Metric: "m", Baseline: &one, Points: []Point{{Iteration: 1, Score: &one, Family: "data"}, {Iteration: 2, Score: &one, Family: "data"}}}
	ov := math.MaxFloat64
	huge := Data{Title: "Huge \x1b[31m <b>&", Metric: "m", Baseline: &one, Points: []Point{{Iteration: 1, Score: &ov}}}
	for name, d := range map[string]Data{"small": a, "large": b, "many": c, "log": g, "empty": {}, "one": {Points: eq.Points[:1]}, "equal": eq, "huge": huge} {
		for _, f := range []Format{PNG, SVG} {
			data, err := Render(d, f)
			if err != nil {
				t.Error(name, err)
			}
			os.WriteFile("/tmp/plotout/"+name+"."+string(f), data, 0o644)
		}
	}
}
