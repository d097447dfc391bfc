package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"si/track"
)

func ptr(v float64) *float64 { return &v }

// campaign is a made-up track: rounds of candidates around the champion, of
// which each third round wins.
func campaign(rounds, each int, base, gain float64, dir track.Direction) Data {
	r := rand.New(rand.NewPCG(1, 2))
	d := Data{Title: "Make the parser faster", Metric: "latency_s", Direction: dir, Baseline: &base}
	families := append(track.Families(), "simd_kernels")
	champion := base
	for n := 1; n <= rounds; n++ {
		for i := range each {
			p := Point{Iteration: n, Family: families[r.IntN(len(families))], Score: ptr(champion * (1 + 0.05*r.NormFloat64()))}
			if i == 0 && n%3 == 0 {
				champion *= gain
				p.Score, p.Winner = ptr(champion), true
				d.Champion = append(d.Champion, Step{n, champion})
			}
			p.Low, p.High = ptr(*p.Score*0.98), ptr(*p.Score*1.02)
			d.Points = append(d.Points, p)
		}
	}
	return d
}

// texts are the words of an SVG, in their order.
func texts(t *testing.T, svg []byte) (list []string) {
	t.Helper()
	dec := xml.NewDecoder(bytes.NewReader(svg))
	for in := false; ; {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatalf("the SVG is not well-formed: %v", err)
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			in = tok.Name.Local == "text"
		case xml.CharData:
			if text := strings.TrimSpace(string(tok)); in && text != "" {
				list = append(list, text)
			}
		}
	}
}

func render(t *testing.T, d Data, f Format) []byte {
	t.Helper()
	data, err := Render(d, f, 0)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestTexts(t *testing.T) {
	small := campaign(9, 2, 0.003, 0.9, track.LowerIsBetter)
	small.Target = ptr(0.002)
	large := campaign(9, 2, 2_000_000, 1.1, track.HigherIsBetter)
	large.Metric, large.Target = "ops_per_s", ptr(9_000_000)
	beyond := campaign(6, 2, 10, 0.9, track.LowerIsBetter)
	beyond.Points = append(beyond.Points, Point{Iteration: 6, Score: ptr(900), Family: "data"}, Point{Iteration: 6, Family: "data"})
	cases := []struct {
		name string
		d    Data
		want []string
		not  []string
	}{
		{
			"small values", small,
			[]string{"Make the parser faster", "latency_s 0.003 → 0.002187, 27.1 % lower (lower is better)", "round", "latency_s", "baseline 0.003", "best 0.002187", "target 0.002", "0.00200", "0.00300", "champion", "interval", "kept (dark rim)", "simd kernels"},
			[]string{"beyond the range", "no score"},
		},
		{
			"large values", large,
			[]string{"ops_per_s 2,000,000 → 2,662,000, 33.1 % higher (higher is better)", "baseline 2,000,000", "target 9,000,000 ↑", "2,200,000"},
			nil,
		},
		{"an outlier and a failure", beyond, []string{"beyond the range", "no score", "baseline 10"}, []string{"500", "800"}},
		{"two decades and more", campaign(30, 2, 40, 0.5, track.LowerIsBetter), []string{"latency_s (log scale)", "0.1", "1", "10"}, nil},
		{"nothing", Data{}, []string{"Progress", "score, higher is better", "no candidate has been measured yet"}, []string{"champion", "0.2"}},
		{"one candidate", Data{Points: []Point{{Iteration: 1, Score: ptr(3), Family: "data"}}}, []string{"data", "3.00"}, []string{"champion"}},
		{"all equal", Data{Baseline: ptr(3.5), Points: []Point{{Iteration: 1, Score: ptr(3.5)}, {Iteration: 2, Score: ptr(3.5)}}}, []string{"score 3.5 → 3.5, no gain yet (higher is better)", "no family", "3.5"}, nil},
		{"all zero", Data{Baseline: ptr(0), Points: []Point{{Iteration: 1, Score: ptr(0)}}}, []string{"baseline 0", "0.0"}, nil},
		{"hostile texts", Data{Title: "a\x1b[31m <b>&\n\xff" + strings.Repeat("w", 500), Metric: "\x00m", Points: []Point{{Score: ptr(1), Family: "<script>"}}}, []string{"<script>", "m"}, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := texts(t, render(t, c.d, SVG))
			for _, want := range c.want {
				if !slices.Contains(got, want) {
					t.Errorf("%q is missing in %q", want, got)
				}
			}
			for _, not := range c.not {
				if slices.Contains(got, not) {
					t.Errorf("%q is in %q", not, got)
				}
			}
		})
	}
}

func TestPNG(t *testing.T) {
	data := render(t, campaign(6, 2, 3, 0.9, track.LowerIsBetter), PNG)
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if b := img.Bounds(); b.Dx() != 1440 || b.Dy() != 810 {
		t.Errorf("%d × %d pixels, want 1440 × 810", b.Dx(), b.Dy())
	}
	colors := make(map[string]bool)
	for y := 0; y < 810; y += 3 {
		for x := 0; x < 1440; x += 3 {
			r, g, b, _ := img.At(x, y).RGBA()
			colors[fmt.Sprint(r, g, b)] = true
		}
	}
	if len(colors) < 20 {
		t.Errorf("%d colours: the picture is empty", len(colors))
	}
}

func TestSameBytes(t *testing.T) {
	d := campaign(6, 3, 3, 0.9, track.LowerIsBetter)
	for _, f := range []Format{PNG, SVG} {
		if !bytes.Equal(render(t, d, f), render(t, d, f)) {
			t.Errorf("%s: the same data gives other bytes", f)
		}
	}
}

func TestUnknownFormat(t *testing.T) {
	if _, err := Render(Data{}, "gif", 0); err == nil || !strings.Contains(err.Error(), "png or svg") {
		t.Errorf("got %v", err)
	}
}

// TestHostileNumbers draws what no benchmark should give.
func TestHostileNumbers(t *testing.T) {
	values := []float64{
		0, 1, 1 + 1e-15, math.MaxFloat64, -1e300, 1e300, 1e-300, math.NaN(), math.Inf(-1),
	}
	for _, a := range values {
		for _, b := range values {
			d := Data{
				Baseline: &a, Target: &b, Champion: []Step{{1, b}, {math.MaxInt32, a}},
				Points: []Point{{Iteration: -5, Score: &a, Low: &b, High: &a}, {Iteration: 1, Score: &b, Winner: true}},
			}
			svg := render(t, d, SVG)
			if bytes.Contains(svg, []byte("NaN")) || bytes.Contains(svg, []byte("Inf")) {
				t.Errorf("%v and %v: coordinates that are no numbers", a, b)
			}
		}
	}
}

func TestLargeCampaign(t *testing.T) {
	svg := render(t, campaign(500, 8, 50, 0.999, track.LowerIsBetter), SVG) // 500 rounds of 8 candidates
	if len(svg) > 4<<20 {
		t.Errorf("%d bytes", len(svg))
	}
	if got := texts(t, svg); !slices.Contains(got, "500") || slices.Contains(got, "501") {
		t.Errorf("the rounds are labelled %q", got)
	}
}

// TestOutlierDoesNotSquash wants the way from the baseline to the best to fill
// the chart whatever one candidate scored.
func TestOutlierDoesNotSquash(t *testing.T) {
	d := campaign(9, 2, 10, 0.9, track.LowerIsBetter)
	want := newScale(d)
	d.Points = append(d.Points, Point{Iteration: 9, Score: ptr(1e6)}, Point{Iteration: 9, Score: ptr(-1e6)})
	if got := newScale(d); got != want {
		t.Errorf("the range is %+v with an outlier, %+v without", got, want)
	}
	if at := want.at(10); at < 0.6 || at > 1 {
		t.Errorf("the baseline lies at %v, want near the top when lower is better", at)
	}
	if at := want.at(d.Champion[len(d.Champion)-1].Score); at < 0 || at > 0.4 {
		t.Errorf("the best lies at %v, want near the bottom when lower is better", at)
	}
}

func TestTicks(t *testing.T) {
	cases := []struct {
		s    scale
		want string
	}{
		{scale{min: 0.0011, max: 0.0031}, "0.0015 0.0020 0.0025 0.0030"},
		{scale{min: 1.9e6, max: 3e6}, "2,000,000 2,200,000 2,400,000 2,600,000 2,800,000 3,000,000"},
		{scale{min: -2, max: 2}, "−2 −1 0 1 2"},
		{scale{min: 0, max: 12.4}, "0.0 2.5 5.0 7.5 10.0"},
		{scale{min: 1e-9, max: 3.1e-9}, "1e-9 1.5e-9 2e-9 2.5e-9 3e-9"},
		{scale{min: 1e12, max: 2e12}, "1e12 1.2e12 1.4e12 1.6e12 1.8e12 2e12"},
		{scale{min: 0.05, max: 3000, log: true}, "0.1 1 10 100 1,000"},
		{scale{min: 100, max: 100.001}, "100.0000 100.0002 100.0004 100.0006 100.0008 100.0010"},
	}
	for _, c := range cases {
		var labels []string
		for _, tick := range c.s.ticks(6) {
			labels = append(labels, tick.label)
			if at := c.s.at(tick.value); at < -1e-6 || at > 1+1e-6 {
				t.Errorf("%v: the tick %s lies at %v", c.s, tick.label, at)
			}
		}
		if got := strings.Join(labels, " "); got != c.want {
			t.Errorf("%+v: got %s, want %s", c.s, got, c.want)
		}
	}
}

func TestFamiliesKeepTheirLook(t *testing.T) {
	one := newChart(Data{Points: []Point{{Family: "data"}}}, newFaces())
	many := newChart(Data{Points: []Point{{Family: "zz"}, {Family: "aa"}, {Family: "data"}}}, newFaces())
	if one.lookOf("data").fill != many.lookOf("data").fill {
		t.Error("a family's colour depends on the others")
	}
	seen := make(map[string]bool)
	for _, f := range many.families {
		key := fmt.Sprint(many.lookOf(f).shape)
		if seen[key] {
			t.Errorf("%s has the shape of another family: in grey they are the same", f)
		}
		seen[key] = true
	}
}

func TestFromRecords(t *testing.T) {
	s := track.DefaultSettings()
	s.BenchmarkDirection, s.PrimaryMetric = track.LowerIsBetter, "ms"
	effect := &track.Effect{Value: 0.1, Low: ptr(0.05), High: ptr(0.15), Runs: 8}
	d := FromRecords("t", s, ptr(100), []track.RawRecord{
		{Iteration: 2, PlanID: "c", BenchmarkScore: ptr(81), SI: &track.RawMore{Effect: effect}},
		{Iteration: 1, PlanID: "a", BenchmarkScore: ptr(90), IsWinner: true, SI: &track.RawMore{Effect: effect}},
		{Iteration: 1, PlanID: "b"},
	})
	if len(d.Champion) != 1 || d.Champion[0] != (Step{1, 90}) || d.Metric != "ms" {
		t.Errorf("got %+v", d)
	}
	near := func(p *float64, want float64) bool { return p != nil && math.Abs(*p-want) < 1e-9 }
	if p := d.Points[0]; p.PlanID != "a" || !near(p.Low, 85) || !near(p.High, 95) {
		t.Errorf("the first point is %+v, want 85 to 95", p)
	}
	if p := d.Points[2]; p.PlanID != "c" || !near(p.Low, 76.5) || !near(p.High, 85.5) {
		t.Errorf("the last point is %+v, want 76.5 to 85.5", p)
	}
}
