package track

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

func ptr(v float64) *float64 { return &v }

func TestParseGoal(t *testing.T) {
	want := Goal{
		Objective: "Make the parser faster.\n\nMemory must not grow.", Metric: "latency_ms",
		Target: ptr(12.5), TargetText: "12.5", Direction: LowerIsBetter,
		InScope: []string{"src/**", "lib/"}, OutScope: []string{"bench.py"},
		Milestones: []Milestone{{"M1", "20", "caching"}}, Phases: []Phase{{"1", "quick wins", "p99 < 30", "active"}},
		Ideas: []string{"vectorise the tokenizer", "cache the table"},
	}
	tidy := `# Goal

## Objective

Make the parser faster.

Memory must not grow.

## Target Metric

- **Metric name**: latency_ms
- **Target value**: 12.5
- **Direction**: lower_is_better

## Scope

### In scope

- src/**
- lib/

### Out of scope

- bench.py

## Milestones

| Milestone | Target | Strategy Focus |
|---|---|---|
| M1 | 20 | caching |

## Phases

| Phase | Focus | Sub-Score Targets | Status |
|---|---|---|---|
| 1 | quick wins | p99 < 30 | active |

## Experiment Ideas

- vectorise the tokenizer
- cache the table
`
	wild := "\ufeff#   GOAL:\r\n####OBJECTIVE ####\r\n  Make the parser faster.\r\n\r\nMemory must not grow.\r\n" +
		"# 2. target   metric:\r\n* **Metric Name:** `latency_ms`\r\n*   Target value :  12.5\r\n<!-- Direction: higher --> Direction : Lower is better\r\n" +
		"##### Scope (files)\r\n* **In Scope:** `src/**`, `lib/` - the library\r\n+ Out of scope:\r\n    1. ./bench.py (the benchmark)\r\n" +
		"## milestones\r\n|milestone|target|strategy focus|\r\n|:-|:-:|-:|\r\n|M1|20|caching|\r\n" +
		"## PHASES\r\n| Status | Phase | Focus | Sub-Score Targets |\r\n|---|---|---|---|\r\n| active | 1 | quick wins | p99 < 30 |\r\n" +
		"## Ideas\r\n* vectorise\r\n  the tokenizer\r\n\r\ncache the table\r\n"
	for name, text := range map[string]string{"tidy": tidy, "wild": wild} {
		got, warnings := ParseGoal([]byte(text))
		if !reflect.DeepEqual(got, want) || len(warnings) > 0 {
			t.Errorf("%s:\ngot  %+v\nwant %+v\n%v", name, got, want, warnings)
		}
	}
	text, err := want.Markdown()
	if err != nil {
		t.Fatal(err)
	}
	if got, warnings := ParseGoal(text); !reflect.DeepEqual(got, want) || len(warnings) > 0 {
		t.Errorf("written and read:\ngot  %+v\nwant %+v\n%v\n%s", got, want, warnings, text)
	}
}

func TestParseGoalWords(t *testing.T) {
	g, warnings := ParseGoal([]byte("Make the parser faster.\nNo new dependencies.\n"))
	if g.Objective != "Make the parser faster.\nNo new dependencies." || len(warnings) > 0 {
		t.Errorf("got %+v, %v", g, warnings)
	}
	g, warnings = ParseGoal([]byte("Objective: faster\nMetric: ms\nTarget: < 1,500 ms\nDirection: minimize\nIn scope: src/, lib/\n"))
	want := Goal{Objective: "faster", Metric: "ms", Target: ptr(1500), TargetText: "< 1,500 ms", Direction: LowerIsBetter, InScope: []string{"src/", "lib/"}}
	if !reflect.DeepEqual(g, want) || len(warnings) > 0 {
		t.Errorf("got %+v, %v", g, warnings)
	}
}

func TestParseGoalWarns(t *testing.T) {
	cases := []struct {
		name, text string
		line       int
		want       string
	}{
		{"unknown heading", "# Goal\n## Objective\nx\n# Budget\n5 h", 4, `"Budget" is none that goal.md has`},
		{"unknown metric field", "## Target Metric\n- Colour: blue", 2, `"- Colour: blue" is not understood`},
		{"direction of both", "## Target Metric\n- Direction: higher or lower", 2, "neither higher_is_better nor"},
		{"target without a number", "## Target Metric\n- Target: v2 of it", 2, "is not a number"},
		{"target in percent", "## Target Metric\n- Target: 95%", 2, "read as the score 95"},
		{"infinite target", "## Target Metric\n- Target: 1e999", 2, "is not a number"},
		{"decimal comma", "## Target Metric\n- Target: 1,5", 2, "is not a number"},
		{"absolute path", "## In scope\n- /etc", 2, "not relative to the repository"},
		{"path that leads out", "## In scope\n- `../x`", 2, "leads out of the repository"},
		{"git's folder", "## In scope\n- a/.GIT/hooks", 2, "git's own folder"},
		{"words for a path", "## In scope\n- the hot loop", 2, "put a path into back-ticks"},
		{"scope without a side", "## Scope\n- src", 2, "neither In scope nor Out of scope"},
		{"no row", "## Milestones\nsome text", 2, "not a row of the table"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, warnings := ParseGoal([]byte(c.text))
			if len(warnings) != 1 || warnings[0].Line != c.line || !strings.Contains(warnings[0].Text, c.want) {
				t.Errorf("got %v, want line %d: %s", warnings, c.line, c.want)
			}
		})
	}
}

func TestGoalScopeForms(t *testing.T) {
	for item, want := range map[string][]string{
		"everything":                 {"**"},
		"the whole repository.":      {"**"},
		".":                          {"**"},
		"`a b.go`, `c`":              {"a b.go", "c"},
		"src/x.go (hot), lib - rest": {"src/x.go", "lib"},
		"./src//x/":                  {"src/x/"},
		"none":                       nil,
		"**/*.go":                    {"**/*.go"},
		"src: the code":              {"src"},
	} {
		g, warnings := ParseGoal([]byte("## In scope\n- " + item))
		if !reflect.DeepEqual(g.InScope, want) || len(warnings) > 0 {
			t.Errorf("%q: got %q, %v, want %q", item, g.InScope, warnings, want)
		}
	}
}

func TestGoalMarkdownEscapes(t *testing.T) {
	want := Goal{
		Objective: "# not a heading\n<!-- not a comment -->\n```\n\\# and this",
		Metric:    "m", Milestones: []Milestone{{"a | b", "", "c"}}, Ideas: []string{"## x <!-- y"},
	}
	text, err := want.Markdown()
	if err != nil {
		t.Fatal(err)
	}
	if got, warnings := ParseGoal(text); !reflect.DeepEqual(got, want) || len(warnings) > 0 {
		t.Errorf("got  %+v\nwant %+v\n%v\n%s", got, want, warnings, text)
	}
}

func TestParseHarness(t *testing.T) {
	h, warnings := ParseHarness([]byte(DefaultHarness()))
	if len(warnings) > 0 || len(h.Rules) != 3 || len(h.Custom) > 0 || len(h.Families) > 0 {
		t.Errorf("default: %+v, %v", h, warnings)
	}
	for _, id := range []string{"H001", "H002", "H003"} {
		if !h.Has(id) {
			t.Errorf("%s is not in the default", id)
		}
	}
	if h.Has("H004") || h.Rules[0].Title != "One hypothesis" || !strings.HasPrefix(h.Rules[0].Text, "A plan states") {
		t.Errorf("got %+v", h.Rules)
	}
	wild := "#rules\n* **H001** — one\n| h002 | streak |\n\n### CUSTOM RULES:\n- No new\n  dependencies\n* keep the API\n" +
		"# custom approach families (ours)\n* `Memory-Layout`: how data lies\n- gpu kernels — fast\n+ simd\n- optimization\n| Family | Why |\n|---|---|\n| cache_lines | x |\n"
	h, warnings = ParseHarness([]byte(wild))
	want := Harness{
		Rules:    []Rule{{ID: "H001", Title: "one"}, {ID: "H002", Title: "streak"}},
		Custom:   []string{"No new\ndependencies", "keep the API"},
		Families: []string{"memory_layout", "gpu_kernels", "simd", "cache_lines"},
	}
	if !reflect.DeepEqual(h, want) || len(warnings) > 0 {
		t.Errorf("got  %+v\nwant %+v\n%v", h, want, warnings)
	}
	if all := h.AllFamilies(); len(all) != 12 || all[8] != "memory_layout" {
		t.Errorf("families %v", all)
	}
}

func TestParseHarnessWarns(t *testing.T) {
	for text, want := range map[string]string{
		"## H001: a\n## H001: b":                             "line 2: the rule H001 stands here a second time",
		"## Custom Rules\n## Weather\nrain":                  `line 2: the heading "Weather"`,
		"## Custom Approach Families\n- 解析":                  "line 2: \"解析\" names no family",
		"## Custom Approach Families\n\nsome words":          "line 3: \"some words\" is not an item",
		"## Custom Approach Families\n- `../../etc`":         "line 2: ",
		"## Custom Approach Families\n- \x1b[31mred: a":      "names no family",
		"## Custom Approach Families\n- " + families(70):     "more than 64 custom families",
		"## Custom Approach Families\n- `" + families(1)[:1]: "line 2: ",
	} {
		_, warnings := ParseHarness([]byte(text))
		if len(warnings) == 0 || !strings.Contains(warnings[0].String(), want) {
			if strings.HasSuffix(text, "`f") {
				continue // an open back-tick is put right
			}
			t.Errorf("%.60q: got %v, want %s", text, warnings, want)
		}
	}
}

func families(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("f" + strings.Repeat("x", i%30) + string(rune('a'+i%26)) + "\n- ")
	}
	return b.String()
}

func TestIdeas(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"<!-- only -->\n", ""},
		{"<!-- a --><!-- b -->\n\n<!--\nc\n-->", ""},
		{"# User Ideas\n<!-- write below -->\n", ""},
		{"<!-- c -->\nuse simd\n\n- and this\n", "use simd\n\n- and this"},
		{"before <!-- c --> after", "before  after"},
		{"one\n<!--\nhidden\n-->\ntwo", "one\ntwo"},
		{"\ufeffx\r\ny\r\n", "x\ny"},
		{"<!-- never closed\nan idea", "<!-- never closed\nan idea"},
		{"# Ideas\nuse simd", "# Ideas\nuse simd"},
	} {
		if got := Ideas([]byte(c.text)); got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}

func TestRemoveIdeas(t *testing.T) {
	cases := []struct{ name, was, now, want string }{
		{"all used", "<!-- c -->\nidea\n", "<!-- c -->\nidea\n", "<!-- c -->\n"},
		{"added below", "<!-- c -->\nidea\n", "<!-- c -->\nidea\nnew\n", "<!-- c -->\nnew\n"},
		{"added above", "<!-- c -->\nidea\n", "<!-- c -->\nnew\nidea\n", "<!-- c -->\nnew\n"},
		{"added between", "a\nb\n", "a\nnew\nb\n", "new\n"},
		{"changed since", "a\nb\n", "a\nb, but better\n", "b, but better\n"},
		{"added once more", "a\n", "a\na\n", "a\n"},
		{"used twice", "a\na\n", "a\na\n", ""},
		{"in one line with a comment", "x <!-- c -->\n", "x <!-- c -->\n", "<!-- c -->\n"},
		{"emptied by the user", "a\n", "<!-- c -->\n", "<!-- c -->\n"},
		{"blocks with equal lines", "```\nold\n```\n", "```\nnew\n```\n```\nold\n```\n", "```\nnew\n```\n"},
		{"windows line ends", "a\r\nb\r\n", "a\r\nb\r\nnew\r\n", "new\r\n"},
		{"a comment added within", "a\nb\n", "a\n<!-- c -->\nb\n", "<!-- c -->\n"},
		{"moved about", "a\nb\nc\n", "c\na\nb\n", "c\n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := RemoveIdeas([]byte(c.now), Ideas([]byte(c.was))); string(got) != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestRemoveIdeasLarge takes the way for files with very many lines.
func TestRemoveIdeasLarge(t *testing.T) {
	var was, now strings.Builder
	for i := range 3000 {
		was.WriteString(strings.Repeat("x", i%97) + "old\n")
		now.WriteString(strings.Repeat("x", i%97) + "old\nnew\n")
	}
	got := RemoveIdeas([]byte(now.String()), Ideas([]byte(was.String())))
	if string(got) != strings.Repeat("new\n", 3000) {
		t.Errorf("%d bytes remain, want %d", len(got), 3000*4)
	}
}

func FuzzParseGoal(f *testing.F) {
	data, err := os.ReadFile("testdata/topic/self-improve/topics/parser/config/goal.md")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte("## Objective\n```\n# x\n<!--"))
	f.Add([]byte("Target: |\n## Phases\n|a\\|b|\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		ParseHarness(data)
		g, warnings := ParseGoal(data)
		for _, w := range warnings {
			if w.Line < 1 {
				t.Errorf("warning without a line: %v", w)
			}
		}
		for _, p := range append(g.InScope, g.OutScope...) {
			if fault := patternFault(p); fault != "" {
				t.Errorf("path %q: %s", p, fault)
			}
		}
		if g.Target != nil && !finite(*g.Target) {
			t.Errorf("target %v", *g.Target)
		}
		if _, err := g.Markdown(); err != nil {
			t.Error(err)
		}
	})
}

func FuzzIdeas(f *testing.F) {
	f.Add([]byte("<!-- c -->\nidea\n"), []byte("new\n"))
	f.Add([]byte("a <!-- b"), []byte("--> c"))
	f.Fuzz(func(t *testing.T, data, more []byte) {
		ideas := Ideas(data)
		if left := Ideas(RemoveIdeas(data, ideas)); left != "" && ideas != "" {
			t.Errorf("%q: %q is left", data, left)
		}
		// What is added behind a finished file stays, whole.
		if strings.Contains(string(data), "<!--") || strings.Contains(string(more), "<!--") || strings.HasPrefix(strings.TrimSpace(string(more)), "#") {
			return
		}
		both := append(append(append([]byte{}, data...), '\n'), more...)
		added := Ideas(more)
		if left := Ideas(RemoveIdeas(both, ideas)); added != "" && ideas != "" && strings.Join(strings.Fields(left), " ") != strings.Join(strings.Fields(added), " ") {
			t.Errorf("%q + %q: %q is left", data, more, left)
		}
	})
}
