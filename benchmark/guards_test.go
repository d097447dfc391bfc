package benchmark

import (
	"strings"
	"testing"

	"si/track"
)

func TestParseBound(t *testing.T) {
	for text, want := range map[string]Bound{
		"<= +5%":              {Op: "<=", Value: 0.05, Relative: true},
		">=-2%":               {Op: ">=", Value: -0.02, Relative: true},
		"< 300":               {Op: "<", Value: 300},
		"> -1.5e3":            {Op: ">", Value: -1500},
		"<= +5% of baseline":  {Op: "<=", Value: 0.05, Relative: true, Against: "baseline"},
		" <=  + 0 % ":         {},
		"<= +0% of champion ": {Op: "<=", Relative: true, Against: "champion"},
		"":                    {},
		"5%":                  {},
		"<= 5%":               {},
		"<=":                  {},
		"== 3":                {},
		"<= nan":              {},
		"<= +1e999%":          {},
		"<= 300 of baseline":  {},
		"<= +5% of record":    {},
		"=< 3":                {},
	} {
		b, err := ParseBound(text)
		if b != want || (err == nil) != (want.Op != "") {
			t.Errorf("%q: %+v, %v", text, b, err)
		}
		if err == nil {
			if again, err := ParseBound(b.String()); err != nil || again != b {
				t.Errorf("%q is shown as %q, which reads as %+v, %v", text, b, again, err)
			}
		}
	}
}

func FuzzParseBound(f *testing.F) {
	for _, text := range []string{"<= +5%", ">= -2% of baseline", "< 300", "> 1e999", "<=%", "<= +%"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if b, err := ParseBound(text); err == nil && (!finite(b.Value) || b.Op == "") {
			t.Errorf("%q: %+v", text, b)
		}
	})
}

func TestGuardsOf(t *testing.T) {
	s := track.DefaultSettings()
	s.SI.Guards = []track.GuardOption{
		{Command: "make test"},
		{Metric: "size", Bound: "<= +5%", Against: "baseline"},
		{Name: "slow", Metric: "p95", Bound: "<= +2%"},
	}
	guards, err := GuardsOf(s)
	if err != nil || len(guards) != 3 {
		t.Fatal(guards, err)
	}
	if guards[0].Name != "make test" || guards[1].Against != "baseline" || guards[2].Against != "champion" || guards[2].Name != "slow" {
		t.Errorf("%+v", guards)
	}
	s.SI.Guards = []track.GuardOption{
		{},
		{Command: "x", Metric: "y"},
		{Command: "x", Bound: "< 1"},
		{Metric: "y", Bound: "small"},
		{Metric: "y", Bound: "<= +1%", Against: "yesterday"},
		{Metric: "y", Bound: "<= +1% of champion", Against: "baseline"},
	}
	_, err = GuardsOf(s)
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{"guards[0]", "guards[1]", "guards[2]: is a command", "guards[3]", `"yesterday"`, "remove one"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing from: %v", want, err)
		}
	}
}

// sizes are readings whose sub-score "size" has the values.
func sizes(vs ...float64) (rs []Reading) {
	for _, v := range vs {
		rs = append(rs, Reading{Metric: "primary", Score: 1, SubScores: map[string]float64{"size": v}})
	}
	return rs
}

func TestCheckGuard(t *testing.T) {
	for _, c := range []struct {
		name, bound string
		ref, cand   []Reading
		ok          bool
	}{
		{"within", "<= +5%", sizes(100), sizes(105), true},
		{"beyond", "<= +5%", sizes(100), sizes(105.1), false},
		{"drop within", ">= -5%", sizes(100), sizes(95), true},
		{"drop beyond", ">= -5%", sizes(100), sizes(94.9), false},
		{"strict at the limit", "< +5%", sizes(100), sizes(105), false},
		{"strict below it", "> 3", nil, sizes(3.01), true},
		{"absolute", "<= 300", nil, sizes(301), false},
		{"below zero, more", "<= +5%", sizes(-100), sizes(-95), true},
		{"below zero, too much more", "<= +5%", sizes(-100), sizes(-94), false},
		{"reference zero", "<= +5%", sizes(0), sizes(0.001), false},
		{"gone from the candidate", "<= +5%", sizes(1), []Reading{{Metric: "primary"}}, false},
		{"gone from one run", "<= +5%", sizes(1), append(sizes(1), Reading{}), false},
		{"never measured", "<= 3", nil, nil, false},
		{"no reference", "<= +5%", nil, sizes(1), false},
		{"beyond by less than the noise", "<= +2%", sizes(95, 100, 105, 98, 102, 100), sizes(97, 102.5, 108, 100, 104, 103), true},
		{"beyond by more than the noise", "<= +2%", sizes(95, 100, 105, 98, 102, 100), sizes(115, 120, 125, 118, 122, 120), false},
		{"no noise at all", "<= +2%", sizes(100, 100, 100, 100), sizes(102.1, 102.1, 102.1, 102.1), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, err := ParseBound(c.bound)
			if err != nil {
				t.Fatal(err)
			}
			r := CheckGuard(Guard{Name: "g", Metric: "size", Bound: b, Against: "champion"}, c.ref, c.cand)
			if r.OK != c.ok || r.What == "" {
				t.Errorf("%+v", r)
			}
			if f := r.Fault(); (f == nil) != c.ok || (f != nil && f.Category != track.CategoryRegression) {
				t.Errorf("fault %v", f)
			}
		})
	}
}

func TestCheckGuardOnPrimary(t *testing.T) {
	b, _ := ParseBound("<= 10")
	r := []Reading{{Metric: "Sum", Score: 11}}
	for _, metric := range []string{"Sum", "primary"} {
		if CheckGuard(Guard{Metric: metric, Bound: b}, nil, r).OK {
			t.Errorf("%s: 11 passed for <= 10", metric)
		}
	}
}

func TestCheckRegression(t *testing.T) {
	reading := func(subs map[string]float64) []Reading { return []Reading{{Metric: "Sum", Score: 1, SubScores: subs}} }
	ref := reading(map[string]float64{"Sum": 10, "a": 100, "x:MB/s": 50, "x:B/op": 64})
	for _, c := range []struct {
		name   string
		dir    track.Direction
		guards []Guard
		cand   map[string]float64
		want   []string
	}{
		{"all as before", track.HigherIsBetter, nil, ref[0].SubScores, nil},
		{"the primary is the duel's", track.HigherIsBetter, nil, map[string]float64{"Sum": 1, "a": 100, "x:MB/s": 50, "x:B/op": 64}, nil},
		{"drop at the threshold", track.HigherIsBetter, nil, map[string]float64{"Sum": 10, "a": 95, "x:MB/s": 50, "x:B/op": 64}, nil},
		{"drop", track.HigherIsBetter, nil, map[string]float64{"Sum": 10, "a": 94, "x:MB/s": 50, "x:B/op": 64}, []string{"a is 94"}},
		{"rise where lower is better", track.LowerIsBetter, nil, map[string]float64{"Sum": 10, "a": 106, "x:MB/s": 50, "x:B/op": 64}, []string{"a is 106"}},
		{"drop where lower is better", track.LowerIsBetter, nil, map[string]float64{"Sum": 10, "a": 10, "x:MB/s": 50, "x:B/op": 64}, nil},
		{"known units", track.LowerIsBetter, nil, map[string]float64{"Sum": 10, "a": 100, "x:MB/s": 40, "x:B/op": 64}, []string{"x:MB/s is 40"}},
		{"known units, up", track.HigherIsBetter, nil, map[string]float64{"Sum": 10, "a": 100, "x:MB/s": 50, "x:B/op": 80}, []string{"x:B/op is 80"}},
		{"a guard has it", track.HigherIsBetter, []Guard{{Metric: "a"}}, map[string]float64{"Sum": 10, "a": 5, "x:MB/s": 50, "x:B/op": 64}, nil},
		{"gone", track.HigherIsBetter, nil, map[string]float64{"Sum": 10, "x:MB/s": 50, "x:B/op": 64}, []string{`no metric "a"`}},
		{"new ones are free", track.HigherIsBetter, nil, map[string]float64{"Sum": 10, "a": 100, "x:MB/s": 50, "x:B/op": 64, "new": -1}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := CheckRegression(c.dir, 0.05, c.guards, ref, reading(c.cand))
			if len(got) != len(c.want) {
				t.Fatalf("%q, want %q", got, c.want)
			}
			for i := range got {
				if !strings.Contains(got[i], c.want[i]) {
					t.Errorf("%q, want %q", got, c.want)
				}
			}
		})
	}
}

func TestIncomparable(t *testing.T) {
	base := Reading{Metric: "m", Basis: []string{"a"}, Odd: []string{OddRepeated}}
	for name, c := range map[string]struct {
		r  Reading
		ok bool
	}{
		"same":         {base, true},
		"less odd":     {Reading{Metric: "m", Basis: []string{"a"}}, true},
		"odder":        {Reading{Metric: "m", Basis: []string{"a"}, Odd: []string{OddRepeated, OddTrailing}}, false},
		"other basis":  {Reading{Metric: "m", Basis: []string{"a", "b"}}, false},
		"other metric": {Reading{Metric: "n", Basis: []string{"a"}}, false},
	} {
		if fault := Incomparable(base, c.r); (fault == nil) != c.ok {
			t.Errorf("%s: %v", name, fault)
		}
	}
}
