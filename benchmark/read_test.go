package benchmark

import (
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"si/internal/proc"
	"si/track"
)

// printed is the input of a run that printed text and exited with 0.
func printed(text string) Input {
	return Input{Stdout: proc.Captured{Head: []byte(text), Tail: []byte(text), Total: int64(len(text))}}
}

type readCase struct {
	name   string
	spec   Spec
	output string
	want   float64
	subs   map[string]float64
	odd    []string
	fault  string // a part of the fault's text, "" for none
	line   string // a part of its line
}

func (c readCase) run(t *testing.T) {
	t.Helper()
	r, fault := Read(c.spec, printed(c.output))
	if c.fault != "" {
		if fault == nil {
			t.Fatalf("read %v, want the fault %q", r, c.fault)
		}
		if fault.Category != track.CategoryParseError || !strings.Contains(fault.What, c.fault) || !strings.Contains(fault.Line, c.line) {
			t.Fatalf("fault %s %q line %q, want %q line %q", fault.Category, fault.What, fault.Line, c.fault, c.line)
		}
		return
	}
	if fault != nil {
		t.Fatalf("fault: %s", fault)
	}
	if r.Score != c.want || !maps.Equal(r.SubScores, c.subs) || !slices.Equal(r.Odd, c.odd) {
		t.Errorf("read %v %v %q, want %v %v %q", r.Score, r.SubScores, r.Odd, c.want, c.subs, c.odd)
	}
}

func TestReadJSON(t *testing.T) {
	spec := Spec{Format: FormatJSON, Metric: "primary"}
	for _, c := range []readCase{
		{name: "plain", output: `{"primary": 12.5}`, want: 12.5},
		{name: "with sub-scores", output: "noise\n{\"primary\": 1e3, \"sub_scores\": {\"a\": 1, \"b\": -2.5}}\n", want: 1000, subs: map[string]float64{"a": 1, "b": -2.5}},
		{name: "null sub-scores", output: `{"primary": 3, "sub_scores": null}`, want: 3},
		{name: "last of several", output: "{\"primary\": 1}\n{\"primary\": 2}\n", want: 2, odd: []string{OddRepeated}},
		{name: "output behind", output: "{\"primary\": 1}\ndone\n", want: 1, odd: []string{OddTrailing}},
		{name: "other objects", output: "{\"log\": 1}\n{\"primary\": 1}\n\n", want: 1},
		{name: "windows line end", output: "{\"primary\": 1}\r\n", want: 1},
		{name: "progress bar", output: "10 %\r90 %\r{\"primary\": 7}\n", want: 7},
		{name: "escaped key", output: `{"prim\u0061ry": 4}`, want: 4},
		{name: "nothing", output: "", fault: "no line of the output"},
		{name: "text", output: "hello\n", fault: "no line of the output", line: "hello"},
		{name: "boolean", output: `{"primary": true}`, fault: "is not a number", line: `true`},
		{name: "string", output: `{"primary": "12"}`, fault: "is not a number"},
		{name: "null", output: `{"primary": null}`, fault: "is not a number"},
		{name: "NaN", output: "{\"primary\": 5}\n{\"primary\": NaN}", fault: "not a JSON object", line: "NaN"},
		{name: "infinite", output: `{"primary": -Infinity}`, fault: "not a JSON object"},
		{name: "overflow", output: `{"primary": 1e999}`, fault: "not a finite number"},
		{name: "string hides a number", output: "{\"primary\": 5}\n{\"primary\": \"x\"}", fault: "is not a number"},
		{name: "key twice", output: `{"primary": 1, "primary": 2}`, fault: "stands twice"},
		{name: "list", output: `[{"primary": 1}]`, fault: "no line of the output"},
		{name: "spread over lines", output: "{\n\"primary\": 1\n}", fault: "on one line"},
		{name: "sub-score not finite", output: `{"primary": 1, "sub_scores": {"a": 1e999}}`, fault: `of "a"`},
		{name: "sub-score text", output: `{"primary": 1, "sub_scores": {"a": "1"}}`, fault: `of "a"`},
		{name: "sub-scores a list", output: `{"primary": 1, "sub_scores": [1]}`, fault: "not an object"},
		{name: "escape codes", output: "{\"primary\": \"\x1b[31m\u202e\xff\"}", fault: "not a JSON object", line: `\x1b[31m\u202e\xff`},
		{name: "cut off", output: `{"primary": 12`, fault: "not a JSON object"},
	} {
		c.spec = spec
		t.Run(c.name, c.run)
	}
}

func TestReadNumber(t *testing.T) {
	spec := Spec{Format: FormatNumber, Metric: "primary"}
	for _, c := range []readCase{
		{name: "plain", output: "12.5\n", want: 12.5},
		{name: "signed with exponent", output: "  -1.5E-3  ", want: -0.0015},
		{name: "after text", output: "building\n3\n", want: 3},
		{name: "last of two", output: "1\n2\n", want: 2, odd: []string{OddRepeated}},
		{name: "text behind", output: "1\nbye\n", want: 1, odd: []string{OddTrailing}},
		{name: "nan behind", output: "1\nnan\n", fault: "not a finite", line: "nan"},
		{name: "inf", output: "+Inf\n", fault: "not a finite"},
		{name: "overflow", output: "1e400\n", fault: "not a finite"},
		{name: "hexadecimal", output: "0x10\n", fault: "one number"},
		{name: "underscore", output: "1_000\n", fault: "one number"},
		{name: "boolean", output: "true\n", fault: "one number", line: "true"},
		{name: "with a unit", output: "12 ms\n", fault: "one number", line: "12 ms"},
		{name: "empty", output: "\n\n", fault: "one number"},
	} {
		c.spec = spec
		t.Run(c.name, c.run)
	}
}

func TestReadMetricLines(t *testing.T) {
	spec := Spec{Format: FormatRegex, Metric: "p95"}
	for _, c := range []readCase{
		{name: "tagged", output: "METRIC p95=12\nMETRIC size=3\n", want: 12, subs: map[string]float64{"size": 3}, odd: []string{OddTrailing}},
		{name: "colon", output: "size: 3 kB\np95: 1.5 ms\n", want: 1.5, subs: map[string]float64{"size": 3}},
		{name: "prose is passed over", output: "note: all well\np95: 2\n", want: 2},
		{name: "twice", output: "p95: 2\np95: 1\n", want: 1, odd: []string{OddRepeated}},
		{name: "unit stuck on", output: "p95: 12ms\n", fault: "is not a number", line: "12ms"},
		{name: "not finite", output: "METRIC p95=nan\n", fault: "not a finite"},
		{name: "other metric not finite", output: "METRIC x=inf\nMETRIC p95=1\n", fault: `"x"`},
		{name: "absent", output: "p50: 1\n", fault: "no line"},
		{name: "own expression", spec: Spec{Regex: `took (?P<value>\S+)s`}, output: "it took 3.5s in all\n", want: 3.5},
		{
			name: "own expression with names", spec: Spec{Regex: `(?P<name>\w+)=(?P<value>[^,\s]+)`},
			output: "p50=1, p95=4\n", want: 4, subs: map[string]float64{"p50": 1},
		},
		{name: "own expression finds text", spec: Spec{Regex: `took (?P<value>\S+)`}, output: "took long\n", fault: "is not a number"},
	} {
		c.spec.Format, c.spec.Metric = spec.Format, spec.Metric
		t.Run(c.name, c.run)
	}
}

func TestReadMetricLineUnitIsBasis(t *testing.T) {
	spec := Spec{Format: FormatRegex, Metric: "p95"}
	ms, _ := Read(spec, printed("p95: 1500 ms\n"))
	s, _ := Read(spec, printed("p95: 1.5 s\n"))
	if Incomparable(ms, ms) != nil {
		t.Error("a reading is not comparable with itself")
	}
	if Incomparable(ms, s) == nil {
		t.Error("seconds passed for milliseconds")
	}
}

func TestReadTooManyMetrics(t *testing.T) {
	var b strings.Builder
	for i := range maxSubScores + 1 {
		b.WriteString("METRIC m" + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + strings.Repeat("y", i/26) + "=1\n")
	}
	b.WriteString("METRIC p95=1\n")
	readCase{spec: Spec{Format: FormatRegex, Metric: "p95"}, output: b.String(), fault: "more than 1000 metrics"}.run(t)
}

func TestReadPassFail(t *testing.T) {
	for code, want := range map[int]float64{0: 1, 1: 0, 2: 0} {
		r, fault := Read(Spec{Format: FormatPassFail}, Input{ExitCode: code})
		if fault != nil || r.Score != want {
			t.Errorf("exit code %d: %v %v, want %v", code, r.Score, fault, want)
		}
	}
}

func TestReadRefusesFailedCommand(t *testing.T) {
	in := printed(`{"primary": 1}`)
	in.ExitCode = 1
	if r, fault := Read(Spec{Format: FormatJSON, Metric: "primary"}, in); fault == nil || fault.Category != track.CategoryLogicError {
		t.Errorf("read %v %v from a command that failed", r, fault)
	}
}

// TestReadLongOutput: the metric is found at either side of what was not kept,
// and a line that the gap has cut is never taken for a whole one.
func TestReadLongOutput(t *testing.T) {
	spec := Spec{Format: FormatNumber, Metric: "primary"}
	log := filepath.Join(t.TempDir(), "log")
	write := func(text string) {
		if err := os.WriteFile(log, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name, whole string
		logMax      int
		want        float64
		odd         []string
		fault       bool
	}{
		{name: "all in the log", whole: "1\n" + strings.Repeat("x\n", 50) + "22\n", logMax: 1000, want: 22, odd: []string{OddRepeated}},
		{name: "the tail goes on", whole: strings.Repeat("x\n", 50) + "22\n", logMax: 90, want: 22},
		{name: "a gap", whole: strings.Repeat("x\n", 50) + "22\n", logMax: 30, want: 22, odd: []string{OddGap}},
		{name: "a cut number at the gap", whole: strings.Repeat("x\n", 50) + "123456789012345678901\ny\n", logMax: 30, fault: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			write(c.whole[:min(len(c.whole), c.logMax)] + "\n[the note at the cap]\n99\n")
			in := Input{Log: log, LogMax: int64(c.logMax), Stdout: proc.Captured{
				Head: []byte(c.whole[:20]), Tail: []byte(c.whole[len(c.whole)-20:]), Total: int64(len(c.whole)),
			}}
			r, fault := Read(spec, in)
			if c.fault != (fault != nil) || r.Score != c.want || !slices.Equal(r.Odd, c.odd) {
				t.Errorf("read %v %q %v, want %v %q", r.Score, r.Odd, fault, c.want, c.odd)
			}
		})
	}
}

func TestReadLongLine(t *testing.T) {
	r, fault := Read(Spec{Format: FormatNumber}, printed(strings.Repeat("7", maxLine+1)+"\n5\n"))
	if fault != nil || r.Score != 5 || !slices.Equal(r.Odd, []string{OddLongLine}) {
		t.Errorf("read %v %q %v", r.Score, r.Odd, fault)
	}
}

func TestMedianOfLargeValues(t *testing.T) {
	if m := median([]float64{math.MaxFloat64, math.MaxFloat64}); m != math.MaxFloat64 {
		t.Errorf("median %v", m)
	}
}

func TestRawText(t *testing.T) {
	for name, whole := range map[string]string{
		"short":  "a\tb\n",
		"binary": strings.Repeat("\x00\xff\x1b", 50000),
		"wide":   strings.Repeat("界", 30000),
		"medium": strings.Repeat("x", maxRaw+1),
	} {
		c := proc.Captured{Head: []byte(whole), Tail: []byte(whole), Total: int64(len(whole))}
		if len(whole) > 64<<10 {
			c.Head, c.Tail = c.Head[:64<<10], c.Tail[len(whole)-64<<10:]
		}
		raw := rawText(c)
		if len(raw) > maxRaw || strings.ContainsAny(raw, "\x00\x1b") || strings.ToValidUTF8(raw, "") != raw {
			t.Errorf("%s: %d bytes, %q…", name, len(raw), raw[:min(len(raw), 20)])
		}
		if name == "short" && raw != whole {
			t.Errorf("short output became %q", raw)
		}
	}
}
