package interview_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"si/loop/clarify"
	"si/loop/survey"
	"si/track"
	"si/tui/interview"
)

// TestMain looks for goroutines that are left. The library waits for no command
// when a program ends; those of a blinking cursor end by themselves.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("charm.land/bubbles/v2/cursor.(*Model).Blink.func1"),
		goleak.IgnoreAnyFunction("charm.land/bubbletea/v2.(*Program).execBatchMsg"),
		goleak.IgnoreAnyFunction("charm.land/bubbletea/v2.(*Program).execSequenceMsg"),
		goleak.IgnoreAnyFunction("github.com/charmbracelet/ultraviolet.(*TerminalReader).StreamEvents")) // a key that came after the end
}

// stage is a screen of the interview, and what leads on from it by taking what is
// offered.
type stage struct {
	name string
	sees []string
	on   []string // keys; a name in [ ] is waited for instead of pressed
}

// stages are a whole interview on the Go repository.
func stages() []stage {
	return []stage{
		{"trust", []string{"Do you trust this repository?", "/home/ada/src/lexer", "notes.txt", "bubblewrap"}, []string{"y"}},
		{"objective", []string{"What shall become better?", "README.md:3", "ambiguity"}, []string{"<enter>"}},
		{"metric", []string{"Which number decides?", "lexer_test.go:17"}, []string{"<enter>"}},
		{"target", []string{"When is it good enough?"}, []string{"<enter>"}},
		{"scope", []string{"Which files may be changed?", "files"}, []string{"<enter>"}},
		{"goal", []string{"Is this the goal?"}, []string{"<enter>"}},
		{"choose", []string{"Which benchmark decides?", "./index", "seals", "*_test.go"}, []string{"<enter>"}},
		{"command", []string{"│ Command: runs again", "gobench"}, []string{"<enter>", "[│ How its output]", "<enter>", "[│ Metric, as]", "<enter>", "[│ What is better]", "<enter>"}},
		{"sealed", []string{"│ Sealed", "index/*_test.go"}, []string{"<enter>", "[│ Result files]", "<enter>", "[│ Set-up: builds]", "<enter>", "[│ Must go test ./... pass]", "y"}},
		{"trial", []string{"run 3", "spread 2.00 %", "8 runs, 12 s", "This command runs again and again"}, []string{"<enter>"}},
		{"harness", []string{"Rules of your own"}, []string{"Keep the API.", "<enter>"}},
		{"agents", []string{"Who thinks and edits?", "Claude Code", "not logged in", "built-in tuner"}, []string{"<enter>", "[│ One agent for every role]", "<enter>"}},
		{"size", []string{"│ Plans in a round"}, []string{"<enter>", "[│ Rounds at most]", "<enter>"}},
		{"start", []string{"Start now?", "Keep the API.", "claude; 3 plans in a round"}, []string{"<enter>"}},
	}
}

// take does what leads on from a stage.
func (s *terminal) take(g stage) {
	s.t.Helper()
	for _, k := range g.on {
		if wait, ok := strings.CutPrefix(k, "["); ok {
			s.sees(strings.TrimSuffix(wait, "]"))
			continue
		}
		s.press(k)
	}
}

// TestFromTrustToStart plays a whole interview by taking what is offered.
func TestFromTrustToStart(t *testing.T) {
	w, g := world(t)
	s := play(t, w, 100, 30)
	for _, stage := range stages() {
		s.sees(stage.sees...)
		s.take(stage)
	}
	if out := s.ends(); !out.Start || !out.Finished || out.Left {
		t.Errorf("outcome %+v", out)
	}
	want := "trust\ngoal Make everything faster that go test -bench measures | time of go test -bench | as far as it goes | *.go,index/*.go\n" +
		"benchmark go test -run '^$' -bench . . ./index\nharness\nagents claude\nfinish"
	if got := g.said(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	v := g.v
	if v.BenchmarkFormat != "gobench" || v.PrimaryMetric != "geomean" || v.BenchmarkDirection != "lower_is_better" || len(v.SealedFiles) != 2 ||
		len(v.SI.Guards) != 1 || v.SI.Guards[0].Command != "go test ./..." || v.TargetBranch != "main" {
		t.Errorf("settings %+v", v)
	}
	if !strings.Contains(g.text, "- Keep the API.") || !strings.Contains(g.text, "H003") {
		t.Errorf("harness:\n%s", g.text)
	}
}

// TestLeaveAtEachQuestion leaves at every screen and comes back: what was confirmed is
// kept, nothing of what was open is written, and the next start is at the step that
// was left.
func TestLeaveAtEachQuestion(t *testing.T) {
	closes := map[string]string{"trust": "trust", "goal": "goal", "trial": "benchmark", "harness": "harness", "size": "agents"}
	w, g := world(t)
	all := stages()
	begin := 0 // the first stage of the step that is open
	var want []string
	for i, last := range all {
		s := play(t, w, 100, 30)
		for n, stage := range all[begin:i] {
			s.sees(stage.sees...)
			s.take(stage)
			if gate := closes[stage.name]; gate != "" {
				want, begin = append(want, gate), begin+n+1
			}
		}
		s.sees(last.sees...)
		s.press("<ctrl+c>")
		if out := s.ends(); !out.Left || out.Start || out.Finished {
			t.Errorf("%s: outcome %+v", last.name, out)
		}
		var got []string
		for line := range strings.Lines(g.said()) {
			name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			got = append(got, name)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("left at %s: written %v, want %v\n%s", last.name, got, want, g.said())
		}
		w.Open, w.Goal, w.Settings = gatesOpen()[min(len(want), 4):], g.goal, g.v
		if g.text != "" {
			w.Harness, w.Custom = g.text, []string{"Keep the API."}
		}
	}
}

// TestBackFromEachStep goes back from each screen to the first question and on
// again: the answers are still there.
func TestBackFromEachStep(t *testing.T) {
	w, g := world(t)
	s := play(t, w, 100, 30)
	all := stages()
	for _, stage := range all[:13] {
		s.sees(stage.sees...)
		s.take(stage)
	}
	s.sees("Start now?")
	for _, want := range []string{
		"Who thinks and edits?", "Rules of your own", "│ Command: runs again", "Which benchmark decides?", "Is this the goal?",
		"Which files may be changed?", "When is it good enough?", "Which number decides?", "What shall become better?", "Do you trust this repository?",
	} {
		s.press("<esc>")
		s.sees(want)
	}
	s.press("y")
	s.sees("Is this the goal?", "*.go, index/*.go") // everything is said already
	s.press("<enter>")
	s.sees("Which benchmark decides?")
	s.press("<ctrl+c>")
	s.ends()
	if n := strings.Count(g.said(), "goal Make everything"); n != 2 {
		t.Errorf("the goal was written %d times", n)
	}
}

func TestTrustDeclined(t *testing.T) {
	w, g := world(t)
	s := play(t, w, 80, 24)
	s.sees("Do you trust")
	s.press("<enter>") // no is what enter says
	if out := s.ends(); !out.Declined || !out.Left || g.said() != "distrust" {
		t.Errorf("%+v, %s", out, g.said())
	}
}

// TestNoisyBenchmark wants the user's word: enter alone does not take it.
func TestNoisyBenchmark(t *testing.T) {
	w, g := atBenchmark(t)
	g.trial, g.runs = loud(), 6
	s := play(t, w, 60, 19) // where not every run has a line
	for _, stage := range stages()[6:9] {
		s.sees(stage.sees...)
		s.take(stage)
	}
	s.sees("spread 21.00 %", "17 runs, 67 min", "Take it all the same?")
	s.press("<enter>")
	s.sees("│ Command: runs again")
	if strings.Contains(g.said(), "benchmark") {
		t.Errorf("a noisy benchmark was taken by enter: %s", g.said())
	}
}

// TestBackWhileTheBenchmarkRuns ends the run and comes back to the form.
func TestBackWhileTheBenchmarkRuns(t *testing.T) {
	w, g := atBenchmark(t)
	g.hold = make(chan struct{})
	s := play(t, w, 100, 30)
	for _, stage := range stages()[6:9] {
		s.sees(stage.sees...)
		s.take(stage)
	}
	s.sees("run 3", "esc ends it")
	s.press("<esc>")
	s.sees("│ Command: runs again")
	if strings.Contains(g.said(), "benchmark") {
		t.Error(g.said())
	}
}

// TestLeaveWhileTheBenchmarkRuns waits for the end of what runs.
func TestLeaveWhileTheBenchmarkRuns(t *testing.T) {
	w, g := atBenchmark(t)
	g.hold = make(chan struct{})
	s := play(t, w, 100, 30)
	for _, stage := range stages()[6:9] {
		s.sees(stage.sees...)
		s.take(stage)
	}
	s.sees("run 3")
	s.press("<ctrl+c>")
	if out := s.ends(); !out.Left || strings.Contains(g.said(), "benchmark") {
		t.Errorf("%+v, %s", out, g.said())
	}
}

// TestRefusals shows why a gate did not close, and lets the person mend it.
func TestRefusals(t *testing.T) {
	w, g := world(t)
	g.refuse["goal"] = errors.New("the scope of the goal (*.go) matches no file of main")
	s := play(t, w, 100, 30)
	for _, stage := range stages()[:6] {
		s.sees(stage.sees...)
		s.take(stage)
	}
	s.sees("matches no file of main", "Objective: what shall become better")
	g.mu.Lock()
	delete(g.refuse, "goal")
	g.refuse["benchmark"] = errors.New("the benchmark gives no score on the unchanged repository: exit code 1")
	g.mu.Unlock()
	for _, f := range []string{"Metric: the number", "Target: a score", "Scope: files"} {
		s.press("<enter>")
		s.sees("│ " + f)
	}
	s.press("<enter>")
	s.sees("Is this the goal?")
	for _, stage := range stages()[5:9] {
		s.sees(stage.sees...)
		s.take(stage)
	}
	s.sees("gives no score on the unchanged repository", "r run it again")
	s.press("<enter>")
	s.sees("│ Command: runs again")
}

// builder writes a benchmark in no time.
type builder struct{ err error }

func (b builder) Build(context.Context, clarify.Draft, clarify.Seen) (interview.Built, error) {
	return interview.Built{Branch: "si/benchmark", Finding: survey.Finding{
		Tool: "the builder's", File: "bench/run.sh", Command: "sh bench/run.sh", Format: "json", Metric: "score", Direction: track.HigherIsBetter, Sealed: []string{"bench/run.sh"},
	}}, b.err
}

// TestBuiltBenchmark holds that a benchmark that an agent wrote is offered first and
// measured on the branch that has it, and that another choice leaves that branch.
func TestBuiltBenchmark(t *testing.T) {
	w, g := atBenchmark(t)
	w.Build = builder{}
	s := play(t, w, 100, 30)
	s.sees("Found in the repository", "let the agent write a benchmark")
	s.press("<up>") // round to the last
	s.press("<enter>")
	s.sees("> the builder's: sh bench/run.sh")
	s.press("<enter>")
	s.sees("│ Command: runs again", "sh bench/run.sh", "from si/benchmark")
	s.take(stages()[7])
	s.sees("│ Sealed", "bench/run.sh")
	s.take(stages()[8])
	s.sees("Take it?")
	s.press("<enter>")
	s.sees("Rules of your own")
	if g.v.TargetBranch != "si/benchmark" {
		t.Errorf("measured on %s", g.v.TargetBranch)
	}
}

func TestBuilderFails(t *testing.T) {
	w, _ := atBenchmark(t)
	w.Build = builder{errors.New("the agent is not logged in")}
	s := play(t, w, 100, 30)
	s.sees("Found in the repository")
	s.press("<up>", "<enter>")
	s.sees("the builder failed: the agent is not logged in", "Which benchmark decides?")
}
