package clarify_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"si/benchmark"
	"si/loop/clarify"
	"si/loop/survey"
	"si/track"
)

func seen() clarify.Seen {
	return clarify.Seen{
		Report: survey.Report{
			Findings: []survey.Finding{
				{Tool: "go test -bench", File: "a_test.go", Line: 7, Metric: "Split", Format: benchmark.FormatGoBench, Direction: track.LowerIsBetter, Scope: []string{"*.go"}},
				{Tool: "script eval.py", File: "eval.py", Line: 3, Metric: "accuracy", Direction: track.HigherIsBetter, Scope: []string{"spam/**"}},
			},
			Claims: []survey.Claim{{File: "README.md", Line: 4, Text: "45 MB/s on a laptop"}},
			Scope:  []string{"src/**"},
		},
		Files: func(p string) int {
			return map[string]int{"*.go": 3, "spam/**": 4, "src/**": 2, "src/a.go": 1}[p]
		},
	}
}

func TestRules(t *testing.T) {
	whole := clarify.Draft{Objective: "Make the lexer faster", Metric: "Split", Target: "100", InScope: []string{"*.go"}}
	with := func(change func(*clarify.Draft)) clarify.Draft { d := whole; change(&d); return d }
	cases := []struct {
		name    string
		draft   clarify.Draft
		weakest clarify.Dimension
		value   int
		clear   bool
	}{
		{"nothing", clarify.Draft{}, clarify.Objective, 0, false},
		{"whole", whole, clarify.Objective, 100, true},
		{"no thing", with(func(d *clarify.Draft) { d.Objective = "make it faster please" }), clarify.Objective, 50, false},
		{"no direction", with(func(d *clarify.Draft) { d.Objective = "the lexer" }), clarify.Objective, 40, false},
		{"neither", with(func(d *clarify.Draft) { d.Objective = "make it" }), clarify.Objective, 20, false},
		{"another script", with(func(d *clarify.Draft) { d.Objective = "解析器をもっと速く" }), clarify.Objective, 90, true},
		{"no metric", with(func(d *clarify.Draft) { d.Metric = "" }), clarify.Metric, 0, false},
		{"a metric that nobody prints", with(func(d *clarify.Draft) { d.Metric = "beauty" }), clarify.Metric, 60, false},
		{"a metric that tells its direction", with(func(d *clarify.Draft) { d.Metric = "latency_ms" }), clarify.Metric, 85, true},
		{"no target", with(func(d *clarify.Draft) { d.Target = "" }), clarify.Target, 0, false},
		{"a relative target", with(func(d *clarify.Draft) { d.Target = "20 % faster" }), clarify.Target, 50, false},
		{"a target in words", with(func(d *clarify.Draft) { d.Target = "good" }), clarify.Target, 30, false},
		{"a target that is not a number", with(func(d *clarify.Draft) { d.Target = "NaN" }), clarify.Target, 30, false},
		{"a target without an end", with(func(d *clarify.Draft) { d.Target = "-Inf" }), clarify.Target, 30, false},
		{"as far as it goes", with(func(d *clarify.Draft) { d.Target = clarify.AsFarAsItGoes }), clarify.Objective, 100, true},
		{"no scope", with(func(d *clarify.Draft) { d.InScope = nil }), clarify.Scope, 0, false},
		{"a scope of nothing", with(func(d *clarify.Draft) { d.InScope = []string{"lib/**"} }), clarify.Scope, 20, false},
		{"half a scope", with(func(d *clarify.Draft) { d.InScope = []string{"lib/**", "*.go"} }), clarify.Scope, 60, false},
		{"everything", with(func(d *clarify.Draft) { d.InScope = []string{"**"} }), clarify.Scope, 85, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := clarify.Rules(c.draft, seen(), nil)
			w := s.Weakest()
			if w != c.weakest || s[w].Value != c.value || s.Clear() != c.clear {
				t.Errorf("weakest %s at %d, clear %t; %v", w, s[w].Value, s.Clear(), s)
			}
			if s[w].Value < 80 && s[w].Why == "" {
				t.Error("it does not say what is missing")
			}
			if said := c.draft.Of(w); !s.Clear() && said != "" { // what is wrong is quoted, and what is right is said
				if first, _, _ := strings.Cut(said, ", "); !strings.Contains(s[w].Why, strconv.Quote(first)) || !strings.Contains(s[w].Why, ": ") {
					t.Errorf("%q of %q", s[w].Why, said)
				}
			}
		})
	}
}

func TestAmbiguity(t *testing.T) {
	s := clarify.Scores{clarify.Objective: {Value: 80}, clarify.Metric: {Value: 80}, clarify.Target: {Value: 80}, clarify.Scope: {Value: 80}}
	if s.Ambiguity() != 20 || !s.Clear() {
		t.Errorf("ambiguity %d, clear %t", s.Ambiguity(), s.Clear())
	}
	s[clarify.Target] = clarify.Score{Value: 79}
	s[clarify.Scope] = clarify.Score{Value: 100}
	if s.Clear() {
		t.Error("clear although the target is below 80")
	}
}

// TestSaidTwice holds that the rules do not ask for ever: they know few words.
func TestSaidTwice(t *testing.T) {
	d := clarify.Draft{Objective: "Den Zerteiler beschleunigen", Metric: "Güte", Target: "1", InScope: []string{"*.go"}}
	turns := []clarify.Turn{{About: clarify.Objective}, {About: clarify.Objective}, {About: clarify.Metric}, {About: clarify.Metric}}
	if s := clarify.Rules(d, seen(), turns); !s.Clear() {
		t.Errorf("still asked: %v", s)
	}
	if s := clarify.Rules(clarify.Draft{Metric: "x", Target: "1", InScope: []string{"*.go"}}, seen(), turns); s.Clear() {
		t.Error("an empty objective was taken")
	}
}

func TestAnswer(t *testing.T) {
	cases := []struct {
		name  string
		about clarify.Dimension
		text  string
		want  clarify.Draft
	}{
		{"objective", clarify.Objective, "  Make it fast: now ", clarify.Draft{Objective: "Make it fast: now"}},
		{"metric", clarify.Metric, "`ops`", clarify.Draft{Metric: "ops"}},
		{"number", clarify.Target, "< 12.50 ms", clarify.Draft{Target: "12.5"}},
		{"number with underscores", clarify.Target, "1_000_000", clarify.Draft{Target: "1e+06"}},
		{"no number", clarify.Target, "as fast as possible", clarify.Draft{Target: clarify.AsFarAsItGoes}},
		{"relative", clarify.Target, "20 %", clarify.Draft{Target: "20 %"}},
		{"twice", clarify.Target, "2x", clarify.Draft{Target: "2x"}},
		{"infinite", clarify.Target, "1e999", clarify.Draft{Target: "1e999"}},
		{"scope", clarify.Scope, "./src/**, `lib/a b.go`; !src/gen.go\nnot docs", clarify.Draft{InScope: []string{"src/**", "lib/a b.go"}, OutScope: []string{"src/gen.go", "docs"}}},
		{"everything", clarify.Scope, "everything", clarify.Draft{InScope: []string{"**"}}},
		{"all at once", clarify.Objective, "Objective: faster\nMetric: ms\nTarget: 5\nIn scope: src/", clarify.Draft{Objective: "faster", Metric: "ms", Target: "5", InScope: []string{"src/"}}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := clarify.Draft{}.Answer(c.about, c.text)
			if got.Objective != c.want.Objective || got.Metric != c.want.Metric || got.Target != c.want.Target ||
				!slices.Equal(got.InScope, c.want.InScope) || !slices.Equal(got.OutScope, c.want.OutScope) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// TestQuestions holds that each question names what was seen, with file and line.
func TestQuestions(t *testing.T) {
	ask := func(d clarify.Draft) clarify.Question { return clarify.Ask(d, clarify.Rules(d, seen(), nil), seen()) }
	q := ask(clarify.Draft{})
	if q.About != clarify.Objective || !slices.Contains(q.Seen, "README.md:4: 45 MB/s on a laptop") || !slices.Contains(q.Offers, "Make Split faster, as go test -bench measures it") {
		t.Errorf("%+v", q)
	}
	d := clarify.Draft{Objective: "Make the lexer faster"}
	if q = ask(d); q.About != clarify.Metric || q.Offers[0] != "Split" || !strings.HasPrefix(q.Seen[0], "a_test.go:7") {
		t.Errorf("%+v", q)
	}
	d.Metric = "Split"
	if q = ask(d); q.About != clarify.Target || q.Offers[0] != clarify.AsFarAsItGoes {
		t.Errorf("%+v", q)
	}
	d.Target = "3"
	if q = ask(d); q.About != clarify.Scope || q.Offers[0] != "*.go" || q.Seen[0] != "*.go: 3 files" {
		t.Errorf("%+v", q)
	}
}

// TestOffersAreTaken holds that an offer answers its question: else the interview
// would ask again for what it has proposed itself.
func TestOffersAreTaken(t *testing.T) {
	var d clarify.Draft
	for range 4 {
		q := clarify.Ask(d, clarify.Rules(d, seen(), nil), seen())
		d = d.Answer(q.About, q.Offers[0])
	}
	if s := clarify.Rules(d, seen(), nil); !s.Clear() {
		t.Errorf("%+v is not clear: %v", d, s)
	}
}
