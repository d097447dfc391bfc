package benchmark

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func recorded(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// near compares with what was worked out by hand from a recording.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }

func TestReadGoBench(t *testing.T) {
	const mem, two = "gobench/count5_benchmem.txt", "gobench/cpu1_2_two_packages.txt"
	for _, c := range []struct {
		name, file, metric string
		want               float64
		metricName         string
		samples            int
		basis              []string
		fault              string
	}{
		{name: "name alone", file: mem, metric: "Sum/n=100", want: 105.5, metricName: "Sum/n=100", samples: 5, basis: []string{"Sum/n=100 × 5"}},
		{name: "as go test prints it", file: mem, metric: "BenchmarkSum/n=100-2", want: 105.5, metricName: "Sum/n=100", samples: 5, basis: []string{"Sum/n=100 × 5"}},
		{name: "unit", file: mem, metric: "Append:B/op", want: 1016, metricName: "Append:B/op", samples: 5, basis: []string{"Append:B/op × 5"}},
		{name: "own unit", file: mem, metric: "Append:items", want: 50, metricName: "Append:items", samples: 5, basis: []string{"Append:items × 5"}},
		{name: "tidied unit", file: mem, metric: "Sum/n=100:sec/op", want: 105.5e-9, metricName: "Sum/n=100:sec/op", samples: 5, basis: []string{"Sum/n=100:sec/op × 5"}},
		{
			name: "mean", file: mem, metric: "geomean", want: math.Cbrt(105.5 * 3126.9999999999995 * 677.7), metricName: "geomean:ns/op",
			basis: []string{"Append × 5", "Sum/n=100 × 5", "Sum/n=4000 × 5"},
		},
		{
			name: "nothing named", file: mem, metric: "primary", want: math.Cbrt(105.5 * 3126.9999999999995 * 677.7), metricName: "geomean:ns/op",
			basis: []string{"Append × 5", "Sum/n=100 × 5", "Sum/n=4000 × 5"},
		},
		{name: "two numbers of processors", file: two, metric: "Append-2", want: 338.2, metricName: "Append-2", basis: []string{"Append-2 × 1"}},
		{name: "ambiguous by processors is told by suffix", file: two, metric: "Append", want: 1060, metricName: "Append", basis: []string{"Append × 1"}},
		{name: "two packages", file: two, metric: "example.com/sums/sub.Sum-2", want: 0.692, metricName: "Sum-2", basis: []string{"Sum-2 × 1"}},
		{name: "mean of a unit that has a zero", file: mem, metric: "geomean:allocs/op", fault: "not above 0"},
		{name: "unknown", file: mem, metric: "Sort", fault: "there are Sum/n=100"},
		{name: "unknown unit", file: mem, metric: "geomean:miles", fault: "no benchmark of the output has miles"},
		{name: "benchmark that prints", file: "gobench/prints_itself.txt", metric: "Noisy", fault: "no line of go test"},
		{name: "benchmark that prints, verbose", file: "gobench/prints_verbose.txt", metric: "Noisy", want: 70.10, metricName: "Noisy", basis: []string{"Noisy × 1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, fault := Read(Spec{Format: FormatGoBench, Metric: c.metric}, printed(recorded(t, c.file)))
			if c.fault != "" {
				if fault == nil || !strings.Contains(fault.String(), c.fault) {
					t.Fatalf("fault %v, want %q", fault, c.fault)
				}
				return
			}
			if fault != nil {
				t.Fatal(fault)
			}
			if !near(r.Score, c.want) || r.Metric != c.metricName || len(r.Samples) != c.samples || !slices.Equal(r.Basis, c.basis) {
				t.Errorf("read %q %v, %d samples, %q", r.Metric, r.Score, len(r.Samples), r.Basis)
			}
		})
	}
}

func TestReadGoBenchMangled(t *testing.T) {
	for _, c := range []struct{ name, output, fault string }{
		{"not finite", "BenchmarkA 1 NaN ns/op\n", "not a finite"},
		{"infinite", "BenchmarkA 1 +Inf ns/op\n", "not a finite"},
		{"mean with an unreadable line", "BenchmarkA 1 5 ns/op\nBenchmarkB-2 loading\n", "cannot be read"},
		{"very long line", "BenchmarkA 1 5 ns/op" + strings.Repeat(" ", 70000) + "\n", "no line of go test"},
		{"none", "PASS\n", "no line of go test"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if r, fault := Read(Spec{Format: FormatGoBench, Metric: "geomean"}, printed(c.output)); fault == nil || !strings.Contains(fault.What, c.fault) {
				t.Errorf("read %v, fault %v", r, fault)
			}
		})
	}
}

// TestGoBenchSameNameInTwoPackages: neither hides the other.
func TestGoBenchSameNameInTwoPackages(t *testing.T) {
	out := "pkg: a\nBenchmarkX 1 5 ns/op\npkg: b\nBenchmarkX 1 7 ns/op\n"
	r, fault := Read(Spec{Format: FormatGoBench, Metric: "b.X"}, printed(out))
	if fault != nil || r.Score != 7 || r.SubScores["a.X"] != 5 {
		t.Errorf("read %v %v %v", r.Score, r.SubScores, fault)
	}
	if _, fault := Read(Spec{Format: FormatGoBench, Metric: "X"}, printed(out)); fault == nil || !strings.Contains(fault.What, "several") {
		t.Errorf("fault %v", fault)
	}
}

// TestBasisShowsExtraRuns: a candidate that prints more benchmark lines than
// the baseline would shift the median.
func TestBasisShowsExtraRuns(t *testing.T) {
	spec := Spec{Format: FormatGoBench, Metric: "X"}
	base, _ := Read(spec, printed("BenchmarkX 1 5 ns/op\nBenchmarkX 1 5 ns/op\n"))
	cand, _ := Read(spec, printed("BenchmarkX 1 5 ns/op\nBenchmarkX 1 5 ns/op\nBenchmarkX 1 1 ns/op\n"))
	if Incomparable(base, base) != nil || Incomparable(base, cand) == nil {
		t.Error("an extra line was not noticed")
	}
}

func TestReadHyperfine(t *testing.T) {
	for _, c := range []struct {
		file, metric string
		want         float64
		samples      int
		subs         []string
		fault        string
	}{
		{file: "two_1.20.json", metric: "list", want: 0.00088642300000000, samples: 6, subs: []string{"list", "seq"}},
		{file: "two_1.20.json", metric: "list:mean", want: 0.0012784998333333333, subs: []string{"list", "seq"}},
		{file: "two_1.15.json", metric: "seq:max", want: -1, subs: []string{"list", "seq"}},
		{file: "parameter_1.15.json", metric: "seq 1 2000", want: 0.0017862560000000002, samples: 4, subs: []string{"seq 1 10", "seq 1 2000"}},
		{file: "stdout_1.20.txt", metric: "primary", want: 0.001694519, samples: 3, subs: []string{"seq 1 100"}},
		{file: "failing_1.15.json", metric: "primary", fault: "exit code 3"},
		{file: "failing_1.20.json", metric: "primary", fault: "exit code 3"},
		{file: "two_1.20.json", metric: "seq:speed", fault: "there are list, seq"},
	} {
		t.Run(c.file+" "+c.metric, func(t *testing.T) {
			text := recorded(t, "hyperfine/"+c.file)
			r, fault := Read(Spec{Format: FormatHyperfine, Metric: c.metric}, printed(text))
			if c.fault != "" {
				if fault == nil || !strings.Contains(fault.What, c.fault) {
					t.Fatalf("fault %v, want %q", fault, c.fault)
				}
				return
			}
			if fault != nil {
				t.Fatal(fault)
			}
			if c.want < 0 { // the largest of the recorded times
				c.want = slices.Max(mustRead(t, Spec{Format: FormatHyperfine, Metric: "seq"}, text).Samples)
			}
			if !near(r.Score, c.want) || len(r.Samples) != c.samples || !slices.Equal(subNames([]Reading{r}), c.subs) || r.Odd != nil {
				t.Errorf("read %v, %d samples, %v, %q", r.Score, len(r.Samples), r.SubScores, r.Odd)
			}
		})
	}
}

func mustRead(t *testing.T, spec Spec, text string) Reading {
	t.Helper()
	r, fault := Read(spec, printed(text))
	if fault != nil {
		t.Fatal(fault)
	}
	return r
}

func TestReadDocumentMangled(t *testing.T) {
	for _, c := range []struct{ name, output, fault string }{
		{"nothing", "", "no JSON document"},
		{"cut off", `{"results": [{"command": "a", "times": [1`, "no JSON document"},
		{"not finite", `{"results": [{"command": "a", "median": 1e999}]}`, "finite"},
		{"NaN", "{\"results\": [\n{\"command\": \"a\", \"median\": NaN}]}", "no JSON document"},
		{"another tool's", `{"benchmarks": []}`, "holds no benchmark"},
		{"text for a list", `{"results": "none"}`, "not hyperfine's JSON"},
		{"no name", `{"results": [{"median": 1}]}`, "no command"},
		{"two of one name", `{"results": [{"command": "a", "median": 1}, {"command": "a", "median": 2}]}`, "two benchmarks are called a"},
		{"a text among the times", `{"results": [{"command": "a", "median": 1, "times": [1, "2"]}]}`, "not a number"},
		{"killed run", `{"results": [{"command": "a", "median": 1, "exit_codes": [0, null]}]}`, "signal"},
		{"no median", `{"results": [{"command": "a", "mean": 1}]}`, "no finite median"},
		{"null result", `{"results": [null]}`, "no command"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if r, fault := Read(Spec{Format: FormatHyperfine, Metric: "primary"}, printed(c.output)); fault == nil || !strings.Contains(fault.What, c.fault) {
				t.Errorf("read %v, fault %v, want %q", r, fault, c.fault)
			}
		})
	}
}

func TestReadPytest(t *testing.T) {
	for file, want := range map[string]float64{"3.4.1.json": -1, "5.3.1.json": 0.0002595570001631131} {
		t.Run(file, func(t *testing.T) {
			text := recorded(t, "pytest/"+file)
			r := mustRead(t, Spec{Format: FormatPytest, Metric: "test_large"}, text)
			full := mustRead(t, Spec{Format: FormatPytest, Metric: "test_speed.py::test_large"}, text)
			if want < 0 {
				want = median(full.Samples)
			}
			if !near(r.Score, want) || full.Score != r.Score || len(r.Samples) != 5 || r.Metric != "test_speed.py::test_large" {
				t.Errorf("read %q %v, %d samples; by its full name %v", r.Metric, r.Score, len(r.Samples), full.Score)
			}
			ops := mustRead(t, Spec{Format: FormatPytest, Metric: "test_speed.py::test_large:ops"}, text)
			mean := mustRead(t, Spec{Format: FormatPytest, Metric: "test_large:mean"}, text)
			if !near(ops.Score, 1/mean.Score) {
				t.Errorf("%v operations a second at a mean of %v s", ops.Score, mean.Score)
			}
			all := mustRead(t, Spec{Format: FormatPytest, Metric: "primary"}, text)
			if len(all.Basis) != 2 || len(all.SubScores) != 2 {
				t.Errorf("the mean is of %q, sub-scores %v", all.Basis, all.SubScores)
			}
		})
	}
}

// criterionTree copies a recording to where criterion writes it.
func criterionTree(t *testing.T, version string) string {
	t.Helper()
	dir := t.TempDir()
	target := filepath.Join(dir, "target", "criterion")
	if err := os.MkdirAll(target, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(target, os.DirFS(filepath.Join("testdata", "criterion", version))); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestReadCriterion(t *testing.T) {
	for _, version := range []string{"0.5", "0.7"} {
		t.Run(version, func(t *testing.T) {
			in := Input{Dir: criterionTree(t, version)}
			read := func(metric string) Reading {
				r, fault := Read(Spec{Format: FormatCriterion, Metric: metric}, in)
				if fault != nil {
					t.Fatal(fault)
				}
				return r
			}
			small, large := read("sum small"), read("sums/by/4000")
			if version == "0.7" && (small.Score != 30.830896113653438 || read("sum small:mean").Score != 30.394679691986227) {
				t.Errorf("median %v, mean %v", small.Score, read("sum small:mean").Score)
			}
			if large.Score < 10*small.Score {
				t.Errorf("4000 numbers take %v ns, 100 take %v ns", large.Score, small.Score)
			}
			if got, want := subNames([]Reading{small}), []string{"sum small", "sums/by/1000", "sums/by/4000"}; !slices.Equal(got, want) {
				t.Errorf("sub-scores %q", got)
			}
			if all := read("primary"); len(all.Basis) != 3 {
				t.Errorf("the mean is of %q", all.Basis)
			}
			if _, fault := Read(Spec{Format: FormatCriterion, Metric: "other"}, in); fault == nil {
				t.Error("an unknown benchmark was read")
			}
			in.Since = time.Now().Add(time.Hour)
			if _, fault := Read(Spec{Format: FormatCriterion, Metric: "primary"}, in); fault == nil || !strings.Contains(fault.What, "older than the run") {
				t.Errorf("files of an earlier run were read: %v", fault)
			}
		})
	}
}

// TestCriterionWithoutIDs: a user's pattern may leave benchmark.json out.
func TestCriterionWithoutIDs(t *testing.T) {
	dir := criterionTree(t, "0.7")
	spec := Spec{Format: FormatCriterion, Metric: "sums/by/1000", ResultFiles: []string{"target/criterion/sums/*/*/new/estimates.json"}}
	if r, fault := Read(spec, Input{Dir: dir}); fault != nil || len(r.SubScores) != 2 {
		t.Errorf("read %v %v", r, fault)
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"gobench/count5_benchmem.txt", "gobench/prints_itself.txt", "hyperfine/two_1.20.json", "hyperfine/stdout_1.20.txt", "pytest/5.3.1.json"} {
		data, err := os.ReadFile(filepath.Join("testdata", filepath.FromSlash(name)))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, text := range []string{
		`{"primary": 1, "sub_scores": {"a": 2}}`, "{\"primary\": NaN}", "1e308\n-1e309\n", "METRIC primary=1\nprimary: 2 ms\n",
		"BenchmarkA-8 1 1e999 ns/op\n", "BenchmarkA 1 5 MB/s 7 ns/op\nUnit ns/op better=lower\n", "{\n{\n{\n", "\xff\x00\r\n{\"primary\":1}", "",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, format := range []Format{FormatJSON, FormatNumber, FormatGoBench, FormatHyperfine, FormatPytest, FormatRegex} {
			r, fault := Read(Spec{Format: format, Metric: "primary"}, printed(string(data)))
			if fault != nil {
				if fault.What == "" || len(fault.Line) > 12*maxQuoted || !bytes.Equal(bytes.ToValidUTF8([]byte(fault.Line), nil), []byte(fault.Line)) {
					t.Errorf("%s: bad fault %q %q", format, fault.What, fault.Line)
				}
				continue
			}
			if !finite(r.Score) {
				t.Errorf("%s: score %v", format, r.Score)
			}
			for name, v := range r.SubScores {
				if !finite(v) {
					t.Errorf("%s: sub-score %q %v", format, name, v)
				}
			}
		}
	})
}

func FuzzCriterion(f *testing.F) {
	for _, name := range []string{"benchmark.json", "estimates.json"} {
		data, err := os.ReadFile(filepath.Join("testdata", "criterion", "0.7", "sum small", "new", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"median": null}`))
	f.Add([]byte(`{"median": {"point_estimate": 1e999}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := &suite{usual: "median"}
		if fault := addCriterion(s, "x", resultFile{"x/new/estimates.json", data}); fault != nil {
			return
		}
		if r, fault := s.reading("primary"); fault == nil && !finite(r.Score) {
			t.Errorf("score %v", r.Score)
		}
	})
}
