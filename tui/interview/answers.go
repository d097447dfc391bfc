package interview

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"si/loop"
	"si/loop/clarify"
	"si/loop/survey"
	"si/track"
)

// benchAnswers are a benchmark as the form has it: texts that a person edits.
type benchAnswers struct {
	command, format, metric, direction string
	setup                              string // builds once in each new tree; may be empty
	regex, results, sealed             string
	guard                              bool // the project's own tests must pass
	guardLine                          string
}

// ofFinding fills the form in from what was found.
func ofFinding(f survey.Finding, scope []string, tests []survey.Test) benchAnswers {
	a := benchAnswers{
		command: f.Command, format: string(f.Format), metric: f.Metric, direction: string(f.Direction), regex: f.Regex,
		results: strings.Join(f.ResultFiles, ", "), setup: f.Setup, sealed: strings.Join(outside(f.Sealed, scope), "\n"),
	}
	if len(tests) > 0 {
		a.guardLine = tests[0].Command
	}
	return a
}

// outside leaves out what a scope names itself, or holds in a folder. A glob of
// the scope takes no seal away: "*.py" is meant without the benchmark.
func outside(sealed, scope []string) (out []string) {
	for _, p := range sealed {
		named := slices.ContainsFunc(scope, func(s string) bool {
			s = strings.TrimSuffix(strings.TrimSuffix(s, "/**"), "/")
			return s != "" && !strings.ContainsAny(s, "*?[{") && (s == p || strings.HasPrefix(p, s+"/"))
		})
		if !named {
			out = append(out, p)
		}
	}
	return out
}

// ofSettings fills it in from a track that has a benchmark already.
func ofSettings(v track.Settings) benchAnswers {
	a := benchAnswers{
		command: v.BenchmarkCommand, format: v.BenchmarkFormat, metric: v.PrimaryMetric, direction: string(v.BenchmarkDirection),
		setup: v.SI.Setup, regex: v.SI.Benchmark.Regex, results: strings.Join(v.SI.Benchmark.ResultFiles, ", "), sealed: strings.Join(v.SealedFiles, "\n"),
	}
	for _, g := range v.SI.Guards {
		if g.Command != "" {
			a.guard, a.guardLine = true, g.Command
		}
	}
	return a
}

// apply lays the answers over settings.
func (a benchAnswers) apply(v track.Settings, target string) track.Settings {
	v.BenchmarkCommand, v.BenchmarkFormat, v.PrimaryMetric = strings.TrimSpace(a.command), a.format, strings.TrimSpace(a.metric)
	v.BenchmarkDirection, v.SI.Benchmark.Regex = track.Direction(a.direction), ""
	if a.format == "regex" {
		v.SI.Benchmark.Regex = strings.TrimSpace(a.regex)
	}
	v.SI.Setup = strings.TrimSpace(a.setup)
	v.SI.Benchmark.ResultFiles, v.SealedFiles = words(a.results), append([]string{}, words(a.sealed)...)
	v.TargetValue = nil
	if n, ok := clarify.Number(target); ok {
		v.TargetValue = &n
	}
	var guards []track.GuardOption
	for _, g := range v.SI.Guards {
		if g.Command != a.guardLine {
			guards = append(guards, g)
		}
	}
	if a.guard && a.guardLine != "" {
		guards = append(guards, track.GuardOption{Command: a.guardLine})
	}
	v.SI.Guards = guards
	return v
}

// words splits a list that a person wrote, one a line or with commas between.
func words(text string) (out []string) {
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == ',' }) {
		if w = strings.TrimSpace(w); w != "" {
			out = append(out, w)
		}
	}
	return out
}

// ofGoal is a draft of a goal that is there already.
func ofGoal(g track.Goal) clarify.Draft {
	d := clarify.Draft{Objective: g.Objective, Metric: g.Metric, InScope: g.InScope, OutScope: g.OutScope}
	if g.TargetText != "" {
		d = d.Answer(clarify.Target, g.TargetText)
	}
	return d
}

// goalAnswer is a draft for its gate.
func goalAnswer(d clarify.Draft) loop.GoalAnswer {
	return loop.GoalAnswer{Objective: d.Objective, Metric: d.Metric, Target: d.Target, InScope: d.InScope, OutScope: d.OutScope}
}

// customRules is the heading of the rules in words.
var customRules = regexp.MustCompile(`(?im)^#{1,6}[ \t]*custom rules[ \t]*:?[ \t]*$\n?`)

// heading is the next one.
var heading = regexp.MustCompile(`(?m)^#{1,6}[ \t]`)

// harnessText is a harness with these rules in words in place of those it has;
// text is what is there, "" for the default.
func harnessText(text string, rules []string) []byte {
	if text == "" {
		text = track.DefaultHarness()
	}
	body := "\n"
	if len(rules) > 0 {
		body = "\n- " + strings.Join(rules, "\n- ") + "\n\n"
	}
	at := customRules.FindStringIndex(text)
	if at == nil {
		return []byte(strings.TrimRight(text, "\n") + "\n\n## Custom Rules\n" + strings.TrimRight(body, "\n") + "\n")
	}
	rest := text[at[1]:]
	end := len(rest)
	if next := heading.FindStringIndex(rest); next != nil {
		end = next[0]
	}
	return []byte(strings.TrimRight(text[:at[1]], "\n") + "\n" + body + rest[end:])
}

// count reads a whole number of at least one.
func count(text string) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%q is no whole number of 1 or more", strings.TrimSpace(text))
	}
	return n, nil
}
