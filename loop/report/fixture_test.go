package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"si/plot"
	"si/track"
)

func ptr(v float64) *float64 { return &v }

func measuredEffect(value, low, high, p float64, runs int) track.Effect {
	return track.Effect{Value: value, Low: &low, High: &high, P: &p, Runs: runs}
}

// duelOf makes the runs of a comparison: blocks in a random order that is always
// the same.
func duelOf(seed uint64, before, gain float64, e track.Effect) Duel {
	r := rand.New(rand.NewPCG(seed, 1))
	d := Duel{Effect: e, Before: before, After: math.Round(1000*before*(1-gain)) / 1000}
	for len(d.Samples) < e.Runs {
		block := []bool{true, false, true, false}
		if len(d.Samples) == 0 {
			block = append(block, block...)
		}
		r.Shuffle(len(block), func(i, j int) { block[i], block[j] = block[j], block[i] })
		for _, after := range block {
			middle := d.Before
			if after {
				middle = d.After
			}
			d.Samples = append(d.Samples, Sample{After: after, Score: float64(int(100*middle*(1+0.011*r.NormFloat64()))) / 100})
		}
	}
	d.Samples = d.Samples[:e.Runs]
	return d
}

// rich is a night's work with each kind of result in it.
func rich(t *testing.T) Report {
	t.Helper()
	whole := duelOf(9, 1843.2, 0.196, measuredEffect(0.196, 0.183, 0.211, 0.00021, 16))
	return Report{
		Title: "Make the parser of shelf faster", Goal: richGoal, Repository: "shelf",
		Benchmark: Benchmark{
			Command: "go test -run '^$' -bench Parse -count 3 ./parser", Metric: "geomean:ns/op",
			Direction: track.LowerIsBetter, Sealed: []string{"**/*_test.go", "parser/testdata/", "go.mod"},
		},
		Source: Source{
			Target: "main", Improve: "improve/faster-parser", Delivery: "deliver/faster-parser",
			Start: commitID(1), Champion: commitID(2), Tip: commitID(3),
		},
		Run: Run{
			Started: time.Date(2026, 11, 30, 21, 4, 0, 0, time.UTC), Ended: time.Date(2026, 12, 1, 5, 41, 0, 0, time.UTC), Rounds: 12,
			StopReason: "3 rounds in a row brought less than 0.5%", BenchmarkRuns: 214, AgentTasks: 97,
		},
		Whole: &whole,
		Rules: Rules{
			Alpha: 0.01, MinEffect: 0.005, MaxRuns: 24, NoiseMode: "noisy", Sigma: 0.0113,
			ErrorRate: "a change that does nothing is kept in at most 1 of 100 rounds",
		},
		Gains: richGains(),
		Refused: Refused{
			Total: 29, Counts: []Count{{"no gain", 17}, {"real but too small", 3}, {"benchmark_error", 4}, {"sealed_file_violation", 2}, {"guard failed", 2}, {"merge_conflict", 1}},
			Near: []Candidate{
				{Round: 4, Executor: "executor_a", PlanID: "round_4_planner_a", Hypothesis: "Pool the nodes of the tree, so that the collector has less to do", Effect: effectPtr(0.0041, 0.0012, 0.0077, 0.004, 24), Reason: "real but too small: +0.41 % is below the smallest gain that is kept, 0.50 %"},
				{Round: 9, Executor: "executor_c", PlanID: "round_9_planner_c", Hypothesis: "Branch on the most frequent token first", Effect: effectPtr(0.011, -0.004, 0.026, 0.031, 24), Reason: "not proved: 24 runs are spent"},
			},
			Ideas: []Candidate{
				{Round: 3, Executor: "executor_b", PlanID: "round_3_planner_b", Hypothesis: "Read input in blocks of 64 KiB", Effect: nil, Reason: "conflicts with round 3's winner in parser/reader.go"},
			},
		},
		NotEnforced: []string{"nothing is sandboxed: agents and the benchmark run with your rights and your network; seals, your checkout and your refs are protected by checks"},
		Warnings:    []string{"runs of the same tree spread over 5.4 %: the user accepted that at set-up (--accept-noise)"},
		Machine:     Machine{OS: "Linux 6.1, x86-64", CPU: "AMD Ryzen 7 5800X 8-Core Processor", Cores: 8},
		Versions:    []Version{{"si", "0.4.0"}, {"git", "2.43.0"}, {"go", "1.26.0"}},
		Progress:    progress(t),
	}
}

const richGoal = `# Goal

Make the parser of shelf faster on the inputs in parser/testdata.

- Metric: geomean of ns/op, lower is better
- Target: as far as it goes
- In scope: parser/`

func effectPtr(value, low, high, p float64, runs int) *track.Effect {
	e := measuredEffect(value, low, high, p, runs)
	return &e
}

func commitID(n int) string { return strings.Repeat(fmt.Sprintf("%x%x9c4e", n, n+3), 7)[:40] }

func richGains() []Gain {
	diff := strings.Join([]string{
		"diff --git a/parser/scan.go b/parser/scan.go", "index 8d1c8b6..f1a2e3d 100644", "--- a/parser/scan.go", "+++ b/parser/scan.go",
		"@@ -41,9 +41,11 @@ func (s *scanner) next() token {", " \tfor s.pos < len(s.buf) {", "-\t\tr, size := utf8.DecodeRune(s.buf[s.pos:])", "-\t\tif unicode.IsSpace(r) {",
		"+\t\tc := s.buf[s.pos]", "+\t\tif c < utf8.RuneSelf && space[c] {", "+\t\t\ts.pos++", "+\t\t\tcontinue", "+\t\t}", " \t\t\treturn s.word()", " \t}", "",
	}, "\n")
	long := "diff --git a/parser/table.go b/parser/table.go\nnew file mode 100644\n--- /dev/null\n+++ b/parser/table.go\n@@ -0,0 +1,900 @@\n"
	for i := range 900 {
		long += fmt.Sprintf("+\t{%d, %q, kindOf(%d)},\n", i, strings.Repeat("x", i%17), i%7)
	}
	return []Gain{
		{
			Round: 1, Executor: "executor_b", PlanID: "round_1_planner_b", Family: "algorithm", Commit: commitID(4), Merge: commitID(5),
			Hypothesis: "Skip blanks by a table of 256 bits instead of decoding each rune: most input is ASCII",
			Files:      []File{{Path: "parser/scan.go", Added: 5, Removed: 2}, {Path: "parser/scan_ascii.go", Added: 21}}, Diff: []byte(diff),
			Duel:      duelOf(1, 1843.2, 0.110, measuredEffect(0.110, 0.097, 0.124, 0.00029, 12)),
			SubScores: []SubScore{{"ParseSmall:ns/op", ptr(812.5), ptr(731.2)}, {"ParseLarge:ns/op", ptr(4181), ptr(3620)}, {"ParseEmpty:ns/op", nil, ptr(3.1)}},
			Guards:    []Guard{{Name: "go test ./...", Passed: true}}, Validation: &track.Validated{Before: 2210, After: 1988, Runs: 8},
			LeftOut: LeftOut{Worth: WorthReal, Effect: effectPtr(0.097, 0.081, 0.113, 0.0003, 12), Reason: "without it the champion is worse"},
		},
		{
			Round: 2, Executor: "executor_a", PlanID: "round_2_planner_a", Family: "caching", Merge: commitID(6),
			Hypothesis: "Keep the last header that was parsed",
			Files:      []File{{Path: "parser/header.go", Added: 14, Removed: 1}}, Diff: []byte("--- a/parser/header.go\n+++ b/parser/header.go\n@@ -1 +1 @@\n-old\n+new\n"),
			Duel:     duelOf(2, 1640, 0.031, measuredEffect(0.031, 0.008, 0.052, 0.006, 20)),
			Warnings: []string{"critic: the benchmark parses the same header again and again; real input may not"},
			LeftOut:  LeftOut{Worth: WorthRides, Effect: effectPtr(0.001, -0.006, 0.009, 0.44, 16), Reason: "without it the champion is as good: a gain of 0.50 % has become implausible"},
		},
		{
			Round: 5, Executor: "executor_c", PlanID: "round_5_planner_c", Family: "data_structure", Commit: commitID(7), Merge: commitID(8),
			Hypothesis: "Look kinds up in a table that is made once, in the place of the chain of comparisons that grew with each kind that was added since the first version of the parser was written, and keep it beside the scanner so that one cache line holds what a token needs",
			Files:      []File{{Path: "parser/table.go", Added: 900}, {Path: "parser/kind.go", Added: 3, Removed: 88}, {Path: "parser/testdata/kinds.bin", Binary: true}}, Diff: []byte(long), DiffCut: false,
			Duel:    duelOf(3, 1589, 0.055, measuredEffect(0.055, 0.041, 0.071, 0.0011, 16)),
			Guards:  []Guard{{Name: "go test ./...", Passed: true}, {Name: "binary_size <= +5% of baseline", Passed: true, Reason: "+1.2 %"}},
			LeftOut: LeftOut{Worth: WorthBuiltOn, Reason: "later gains change the same lines of parser/kind.go, so it cannot be left out alone"},
		},
		{
			Round: 8, Executor: "executor_a", PlanID: "round_8_planner_a", Family: "micro_optimization", Commit: commitID(9), Merge: commitID(10),
			Hypothesis: "Make the token 24 bytes in the place of 40",
			Files:      []File{{Path: "parser/kind.go", Added: 8, Removed: 8}}, Diff: []byte("@@ -1,2 +1,2 @@\n-\tpos int\n+\tpos int32\n"),
			Duel:    duelOf(4, 1502, 0.019, track.Effect{Value: 0.019, Low: ptr(0.006), P: ptr(0.0074), Runs: 24}),
			LeftOut: LeftOut{Worth: WorthUndecided, Effect: effectPtr(0.012, -0.003, 0.027, 0.08, 24), Reason: "the runs do not tell: 24 runs are spent"},
		},
	}
}

// progress is a chart as the track has it.
func progress(t *testing.T) []byte {
	t.Helper()
	base := 1843.2
	d := plot.Data{Title: "Make the parser of shelf faster", Metric: "geomean:ns/op", Direction: track.LowerIsBetter, Baseline: &base}
	r := rand.New(rand.NewPCG(7, 7))
	champion, wins := base, map[int]float64{1: 1640, 2: 1589, 5: 1502, 8: 1473}
	for n := 1; n <= 12; n++ {
		for i := range 3 {
			p := plot.Point{Iteration: n, Family: track.Families()[r.IntN(4)], Score: ptr(champion * (1.02 + 0.03*r.NormFloat64()))}
			if won, ok := wins[n]; ok && i == 1 {
				champion, p.Score, p.Winner = won, ptr(won), true
				d.Champion = append(d.Champion, plot.Step{Iteration: n, Score: won})
			}
			d.Points = append(d.Points, p)
		}
	}
	svg, err := plot.Render(d, plot.SVG, 0)
	if err != nil {
		t.Fatal(err)
	}
	return svg
}

// empty is a run that kept nothing.
func empty() Report {
	return Report{
		Title: "Make the parser of shelf faster", Repository: "shelf",
		Benchmark: Benchmark{Command: "./bench.sh", Metric: "primary", Direction: track.HigherIsBetter},
		Source:    Source{Target: "main", Improve: "improve/faster-parser", Start: commitID(1), Champion: commitID(1)},
		Run:       Run{Rounds: 3, StopReason: "3 rounds in a row without a winner", BenchmarkRuns: 31},
		Rules:     Rules{Alpha: 0.01, NoiseMode: "deterministic", ErrorRate: "the benchmark repeats exactly, so a change that does nothing is never kept"},
		Refused:   Refused{Total: 7, Counts: []Count{{"no gain", 7}}},
	}
}

// evil is in each text of the hostile report.
const evil = "</script></style><img src=x onerror=alert(1)>\x1b[31m\x1b]8;;http://evil.example/\x07\u202egpj.exe\u2066 [click](javascript:alert(1)) ![i](http://evil.example/i.png) **b** _i_ `c` ```` www.evil.example @everyone #1 | $x$ \xff\x00 {{.Title}} &lt;b&gt; -->"

// hostile has it everywhere, and sizes that no honest run has.
func hostile() Report {
	r := Report{
		Title: "# " + evil, Goal: evil + "\n```\n# not the end\n~~~\n<h1>x</h1>", Repository: evil,
		Benchmark:   Benchmark{Command: evil, Setup: evil, Metric: evil, Direction: track.Direction(evil), Sealed: []string{evil}},
		Source:      Source{Target: evil, Improve: evil, Delivery: "--output=/etc/x;$(reboot)'`id`", Start: "日" + evil, Champion: evil, Tip: evil},
		Run:         Run{Rounds: -1, StopReason: evil, BenchmarkRuns: -5},
		WholeWhy:    evil,
		Rules:       Rules{Alpha: 0.2, ErrorRate: evil, NoiseMode: evil},
		Refused:     Refused{Total: 1, Counts: []Count{{evil, 1}}, Near: []Candidate{{PlanID: evil, Hypothesis: evil, Reason: evil}}, Ideas: []Candidate{{Executor: evil, Hypothesis: evil, Reason: evil}}},
		NotEnforced: []string{evil}, Warnings: []string{evil},
		Machine: Machine{OS: evil, CPU: evil}, Versions: []Version{{evil, evil}}, Checks: []Check{{evil, evil}},
		Progress: []byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script href="http://evil.example/x.js">alert(1)</script><image href="http://evil.example/i.png"/></svg>`),
	}
	g := Gain{
		Executor: evil, PlanID: evil, Hypothesis: "1. " + evil + "\n# " + evil, Family: evil, Commit: evil, Merge: evil,
		Files: []File{{Path: evil, Added: -3}}, Diff: []byte("+" + evil + "\n+````````\n-" + strings.Repeat("x", 1<<20) + "\n"),
		Duel:      Duel{Effect: track.Effect{Value: -0.3}, Before: 0, After: -1, Samples: []Sample{{Score: 1e308}, {Score: -1e308}, {After: true, Score: 2}}},
		SubScores: []SubScore{{evil, ptr(0), ptr(-0.5)}}, Guards: []Guard{{Name: evil, Reason: evil}},
		Warnings: []string{evil}, LeftOut: LeftOut{Worth: Worth(evil), Reason: evil},
	}
	r.Gains = []Gain{g}
	return r
}
