package interview_test

import (
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// TestMain looks for goroutines that are left. The library waits for no command
// when a program ends; those of a blinking cursor end by themselves.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("charm.land/bubbles/v2/cursor.(*Model).Blink.func1"),
		goleak.IgnoreAnyFunction("charm.land/bubbletea/v2.(*Program).execBatchMsg"),
		goleak.IgnoreAnyFunction("charm.land/bubbletea/v2.(*Program).execSequenceMsg"))
}

// TestFromTrustToStart plays a whole interview by taking what is offered.
func TestFromTrustToStart(t *testing.T) {
	w, g := world(t, "go-lexer")
	s := play(t, w, 100, 30)
	s.sees("Do you trust this repository?", "/home/ada/src/lexer", "notes.txt", "bubblewrap")
	s.press("y")
	s.sees("What shall become better?", "README.md:3", "ambiguity")
	s.press("<enter>")
	s.sees("Which number decides?", "lexer_test.go:17")
	s.press("<enter>")
	s.sees("When is it good enough?")
	s.press("<enter>")
	s.sees("Which files may be changed?", "3 files")
	s.press("<enter>")
	s.sees("Is this the goal?")
	s.press("<enter>")
	s.sees("Which benchmark decides?", "go test -run '^$' -bench . . ./index", "seals", "*_test.go")
	s.press("<enter>")
	s.sees("Command: runs again and again", "gobench")
	s.through("How its output", "Metric, as", "What is better", "Sealed")
	s.sees("index/*_test.go")
	s.through("Result files", "Must go test ./... pass")
	s.press("y")
	s.sees("run 3", "spread 2.00 %", "8 runs, 12 s", "This command runs again and again")
	s.press("<enter>")
	s.sees("Rules of your own")
	s.press("Keep the API.", "<enter>")
	s.sees("Who thinks and edits?", "Claude Code", "not logged in", "built-in tuner")
	s.through("One agent for every role", "Plans in a round", "Rounds at most")
	s.press("<enter>")
	s.sees("Start now?", "Keep the API.", "claude; 3 plans in a round")
	s.press("<enter>")
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
