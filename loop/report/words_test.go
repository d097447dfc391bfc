package report

import (
	"math"
	"strings"
	"testing"

	"si/track"
)

func TestHeadline(t *testing.T) {
	with := func(e track.Effect) Report { return Report{Gains: make([]Gain, 2), Whole: &Duel{Effect: e}} }
	for _, c := range []struct {
		name   string
		r      Report
		want   string
		proved bool
	}{
		{"proved", with(measuredEffect(0.123, 0.101, 0.14, 0.001, 16)), "The result is 12.3% better than the start: between 10.1% and 14.0%.", true},
		{"half open", with(track.Effect{Value: 0.123, Low: ptr(0.101)}), "The result is 12.3% better than the start: at least 10.1%.", true},
		{"exact", with(measuredEffect(0.5, 0.5, 0.5, 0, 4)), "The result is 50.0% better than the start, and repeats exactly.", true},
		{"zero is possible", with(measuredEffect(0.01, -0.002, 0.02, 0.1, 24)), "A whole gain is not proved: start and result differ by +1.00% (-0.20% to +2.00%).", false},
		{"no bound", with(track.Effect{Value: 0.01}), "A whole gain is not proved: start and result differ by +1.00% (no bound found).", false},
		{"zero is the bound", with(measuredEffect(0.01, 0, 0.02, 0.1, 24)), "A whole gain is not proved: start and result differ by +1.00% (0.00% to +2.00%).", false},
		{"worse", with(measuredEffect(-0.1, -0.2, -0.05, 1, 24)), "The result is worse than the start: -10.0% (-20.0% to -5.00%).", false},
		{"in multiples of the noise", with(track.Effect{Value: 3.14, Low: ptr(2), High: ptr(4), InSigma: true}), "The result is 3.1 × noise better than the start: between 2.0 × noise and 4.0 × noise.", true},
		{"not measured", Report{Gains: make([]Gain, 1), WholeWhy: "the machine slept."}, "1 change was kept for what each gained alone. How much better the result is than the start was not measured: the machine slept.", false},
		{"nothing", Report{Run: Run{Rounds: 1}, Refused: Refused{Total: 1}}, "Nothing was kept: the 1 change that was tried in 1 round did not prove to be better than what was there.", false},
		{"nothing tried", Report{Run: Run{Rounds: 2}}, "Nothing was kept: no change was tried in 2 rounds.", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, proved := headline(c.r); got != c.want || proved != c.proved {
				t.Errorf("got %q, %t\nwant %q, %t", got, proved, c.want, c.proved)
			}
		})
	}
}

func TestEffects(t *testing.T) {
	for _, c := range []struct {
		e    *track.Effect
		want string
	}{
		{nil, "not measured"},
		{&track.Effect{Value: 12}, "+1200% (no bound found)"},
		{&track.Effect{Value: 0.00001, High: ptr(0.02)}, "+0.00% (at most +2.00%)"},
		{&track.Effect{Value: -0.00001, Low: ptr(0.1)}, "0.00% (at least +10.0%)"},
		{&track.Effect{Value: 2, Low: ptr(-1), High: ptr(4), InSigma: true}, "+2.0 × noise (-1.0 to +4.0)"},
		{&track.Effect{Value: math.NaN()}, "unknown (no bound found)"},
	} {
		if got := effect(c.e); got != c.want {
			t.Errorf("effect(%+v) = %q, want %q", c.e, got, c.want)
		}
	}
}

func TestEachWorthHasItsWords(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range worths() {
		for _, words := range []string{w.word(), "many " + w.many(2), w.meaning()} {
			if seen[words] {
				t.Errorf("%q of %s is another's too", words, w)
			}
			seen[words] = true
		}
		if w.tone() == "good" != (w == WorthReal || w == WorthNeeded) {
			t.Errorf("%s has the tone %s", w, w.tone())
		}
	}
	if got := Worth("what is this").word(); got != "not measured" {
		t.Errorf("an unknown verdict reads %q", got)
	}
}

func TestLeftOutIsCountedAndCautious(t *testing.T) {
	gains := []Gain{{LeftOut: LeftOut{Worth: WorthReal}}, {LeftOut: LeftOut{Worth: WorthReal}}, {LeftOut: LeftOut{Worth: WorthRides}}}
	f := leftOutFact(gains)
	if want := "showed: 2 are real, 1 rides along. 'si deliver --only-real' leaves off what is worth nothing."; !strings.HasSuffix(f.Text, want) || !f.Caution {
		t.Errorf("got %+v, want a caution that ends in %q", f, want)
	}
	if f := leftOutFact(gains[:2]); f.Caution {
		t.Errorf("all gains are real, and yet %+v", f)
	}
}

func TestCommandsAreQuoted(t *testing.T) {
	r := rich(t)
	r.Source.Delivery = "--output=x; rm -rf '~'"
	r.Source.Start, r.Gains[0].PlanID = "$(id)", "a`id`"
	for _, c := range checks(r) {
		for _, bad := range []string{" --output", " $(id)", " a`id`", "; rm -rf '~'"} {
			if strings.Contains(c.Command, bad) {
				t.Errorf("%s: %s", c.What, c.Command)
			}
		}
	}
	for in, want := range map[string]string{"improve/a_b-1.2": "improve/a_b-1.2", "-x": "x", "": "''", "a'b": `'a'\''b'`, "a\x1b[31m b": "'a b'"} {
		if got := quoted(in); got != want {
			t.Errorf("quoted(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestDiffs(t *testing.T) {
	long := strings.Repeat("+a\n", 2*diffLinesOne)
	for _, c := range []struct {
		name  string
		g     Gain
		lines int
		note  string
	}{
		{"none", Gain{}, 0, "The change itself is not in this report."},
		{"short", Gain{Diff: []byte("+a\n-b\n")}, 2, ""},
		{"long", Gain{Diff: []byte(long)}, diffLinesOne, "Cut: 600 of 1200 lines are shown, the last one perhaps in part."},
		{"cut before", Gain{Diff: []byte("+a\n"), DiffCut: true}, 1, "Cut: the first 1 lines are shown, the last one perhaps in part."},
		{"a wide line", Gain{Diff: []byte(strings.Repeat("x", 1000))}, 1, "Lines of more than 400 characters are cut."},
		{"a line of a megabyte", Gain{Diff: []byte(strings.Repeat("é", 1<<19))}, 1, "Cut: 1 of 1 lines are shown, the last one perhaps in part."},
		{"carriage returns", Gain{Diff: []byte("+a\r\n+b\rc\n")}, 3, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDiffView(c.g, 1)
			if len(d.Lines) != c.lines || d.Note != c.note {
				t.Errorf("%d lines and %q, want %d and %q", len(d.Lines), d.Note, c.lines, c.note)
			}
			for _, l := range d.Lines {
				if n := len([]rune(l.Text)); n > diffLineWidth+1 {
					t.Errorf("a line has %d characters", n)
				}
			}
		})
	}
	// The first lines of a file's diff are told from added and removed ones.
	kinds := ""
	for _, l := range newDiffView(Gain{Diff: []byte("diff --git a b\nindex 1\n--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n z")}, 1).Lines {
		kinds += l.Kind + " "
	}
	if want := "file file file file hunk del add same "; kinds != want {
		t.Errorf("kinds %q, want %q", kinds, want)
	}
}

func TestDotsStandInOrder(t *testing.T) {
	v := newSamplesView(Duel{Before: 10, After: 8, Samples: []Sample{{Score: 10}, {After: true, Score: 8}, {Score: math.NaN()}, {After: true, Score: 9}}}, "start", "result")
	if v.Order != "b a a" || v.BeforeText != "10" || v.AfterText != "8  9" || !v.Chart {
		t.Fatalf("got %+v", v)
	}
	want := []dot{{9, 9, false}, {180, 87, true}, {351, 48, true}}
	for i, d := range v.Dots {
		if d != want[i] {
			t.Errorf("dot %d at %+v, want %+v", i, d, want[i])
		}
	}
	if v.BeforeLine != 9 || v.AfterLine != 87 || v.Top != "10" || v.Bottom != "8" {
		t.Errorf("lines at %v and %v from %s to %s", v.BeforeLine, v.AfterLine, v.Bottom, v.Top)
	}
	for _, d := range []Duel{{}, {Samples: []Sample{{Score: 1}}}, {Before: math.Inf(1), Samples: make([]Sample, 3)}} {
		if newSamplesView(d, "a", "b").Chart {
			t.Errorf("%+v has a chart", d)
		}
	}
	if v := newSamplesView(Duel{Before: 1, After: 1, Samples: []Sample{{Score: 1}, {After: true, Score: 1}}}, "a", "b"); v.Dots[0].Y != dotsHeight/2 {
		t.Errorf("equal scores stand at %v, want in the middle", v.Dots[0].Y)
	}
}

func TestAFailedGuardIsACaution(t *testing.T) {
	if f := guardFact(Guard{Name: "go test", Reason: "2 failed"}); !f.Caution || f.Text != "go test: failed, 2 failed" {
		t.Errorf("got %+v", f)
	}
	if f := guardFact(Guard{Name: "go test", Passed: true}); f.Caution || f.Text != "go test: passed" {
		t.Errorf("got %+v", f)
	}
}
