package efficacy

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"si/internal/durable"
	"si/learn/evidence"
	"si/learn/mistakes"
	"si/learn/place"
)

var noon = time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC)

func day(n int) time.Time { return noon.AddDate(0, 0, n) }

// world is a repository in which run n began on day n; the mistake happened in the
// runs of hits, an hour after their begin.
func world(t *testing.T, runs int, hits ...int) place.Place {
	t.Helper()
	top := t.TempDir()
	if err := os.MkdirAll(filepath.Join(top, ".si/knowledge"), 0o755); err != nil {
		t.Fatal(err)
	}
	entry := "entries:\n  - {id: K-1, kind: gotcha, text: link it, confidence: 1, provenance: [{source: MISTAKES.md, reference: broken}]}\n"
	if err := os.WriteFile(filepath.Join(top, ".si/knowledge/a.yaml"), []byte(entry), 0o644); err != nil {
		t.Fatal(err)
	}
	p, err := place.Open(&durable.Store{}, top)
	if err != nil {
		t.Fatal(err)
	}
	for n := range runs {
		record(t, p, evidence.Line{Run: &evidence.Run{ID: fmt.Sprint("run", n), Track: "default", At: day(n)}})
	}
	for _, n := range hits {
		e := mistakes.Entry{Title: "t", What: "w", Cause: "c", Consequence: "c", Prevention: "p", Signature: "broken", Initiative: "default", Actor: "executor", Proof: fmt.Sprintf("F-%d", n+1)}
		_, err := mistakes.Add(t.Context(), p, mistakes.New{Entry: e, Run: fmt.Sprint("run", n), At: day(n).Add(time.Hour), Create: true})
		if err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func record(t *testing.T, p place.Place, lines ...evidence.Line) {
	t.Helper()
	if err := evidence.Append(p, lines...); err != nil {
		t.Fatal(err)
	}
}

func deliver(t *testing.T, p place.Place, run int, after time.Duration) {
	t.Helper()
	record(t, p, evidence.Line{Delivery: &evidence.Delivery{Run: fmt.Sprint("run", run), Round: 1, Agent: "planner_a", ID: "K-1", Verdict: "helped", At: day(run).Add(after)}})
}

func TestMeasure(t *testing.T) {
	for name, c := range map[string]struct {
		runs      int
		hits      []int
		delivered int
		after     time.Duration
		want      Line
	}{
		"it helps":                                 {10, []int{0, 1, 2, 3}, 5, time.Minute, Line{RunsBefore: 5, HitsBefore: 4, RunsAfter: 5, Outcome: Helps}},
		"it changed nothing":                       {10, []int{0, 2, 5, 7}, 5, time.Minute, Line{RunsBefore: 5, HitsBefore: 2, RunsAfter: 5, HitsAfter: 2, Outcome: NoChange, Advice: Retire}},
		"too few runs since":                       {7, []int{0, 1}, 4, time.Minute, Line{RunsBefore: 4, HitsBefore: 2, RunsAfter: 3, Outcome: TooEarly}},
		"nothing to compare with":                  {6, []int{3}, 0, time.Minute, Line{RunsAfter: 6, HitsAfter: 1, Outcome: Unseen}},
		"before the delivery of its run":           {10, []int{0, 5}, 5, 2 * time.Hour, Line{RunsBefore: 5, HitsBefore: 1, RunsAfter: 5, Outcome: Helps}},
		"after the delivery, in the same run":      {10, []int{0, 5}, 5, time.Minute, Line{RunsBefore: 5, HitsBefore: 1, RunsAfter: 5, HitsAfter: 1, Outcome: NoChange, Advice: Retire}},
		"it happened outside of known runs only":   {10, []int{99}, 5, time.Minute, Line{RunsBefore: 5, RunsAfter: 5, Outcome: Unseen}},
		"delivered and never seen before or since": {10, nil, 5, time.Minute, Line{}},
	} {
		t.Run(name, func(t *testing.T) {
			p := world(t, c.runs, c.hits...)
			deliver(t, p, c.delivered, c.after)
			lines, err := Measure(p)
			if err != nil {
				t.Fatal(err)
			}
			if c.hits == nil {
				if len(lines) > 0 {
					t.Errorf("%+v", lines)
				}
				return
			}
			got := lines[0]
			c.want.Signature, c.want.Remedy, c.want.Since, c.want.P = "broken", "K-1", day(c.delivered).Add(c.after), got.P
			if len(lines) != 1 || got != c.want {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

// TestLawNeedsAMechanism is a rule that changed nothing.
func TestLawNeedsAMechanism(t *testing.T) {
	p := world(t, 10, 0, 6, 7)
	record(t, p, evidence.Line{Law: &evidence.Law{Signature: "broken", At: day(4)}})
	lines, err := Measure(p)
	if err != nil || len(lines) != 1 || lines[0].Remedy != ByLaw || lines[0].Advice != Mechanism || lines[0].HitsAfter != 2 {
		t.Errorf("%+v, %v", lines, err)
	}
}

func TestFisher(t *testing.T) {
	for _, c := range []struct {
		hitsBefore, before, hitsAfter, after int
		want                                 float64
	}{
		{5, 5, 0, 5, 1.0 / 252},          // 1 way of 252
		{4, 5, 1, 5, 26.0 / 252},         // 1 + 25
		{3, 4, 1, 4, 17.0 / 70},          // 1 + 16: the lady tasting tea
		{0, 5, 0, 5, 1}, {1, 0, 1, 5, 1}, // nothing to tell
	} {
		if got := fisher(c.hitsBefore, c.before, c.hitsAfter, c.after); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
