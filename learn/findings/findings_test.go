package findings

import (
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"si/learn/mistakes"
	"si/track"
)

func event(t *testing.T, round int, kind track.Kind, data any) track.Event {
	t.Helper()
	raw, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	return track.Event{TS: time.Unix(1, 0), Ev: kind, Run: "r1", Round: round, Actor: "si", Data: raw}
}

func journal(events ...track.Event) iter.Seq2[track.Event, error] {
	return func(yield func(track.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func one(t *testing.T, r Round, events ...track.Event) track.Finding {
	t.Helper()
	all := found(t, r, events...)
	if len(all) != 1 {
		t.Fatalf("%d findings: %+v", len(all), all)
	}
	return all[0]
}

func found(t *testing.T, r Round, events ...track.Event) []track.Finding {
	t.Helper()
	all, err := OfRound(r, journal(events...))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func ptr[T any](v T) *T { return &v }

var candidate = track.CandidateEvent{Executor: "executor_a", PlanID: "round_2_planner_a", Commit: "c1", Files: []string{"src/a.go", "src/b/c.go"}}

func TestWhatFailuresProve(t *testing.T) {
	refused := candidate
	refused.Category, refused.Reason = track.CategorySealed, `sealed paths were changed: "bench.sh"`
	edit := track.Plan{PlanID: "round_2_planner_a", SI: &track.PlanMore{Edit: &track.Edit{Path: "config.json", Knob: "config.json:batch.size", Old: "8", New: "64"}}}
	for name, c := range map[string]struct {
		round  Round
		events []track.Event
		want   track.Finding
		claim  string
	}{
		"a sealed path": {
			Round{N: 2},
			[]track.Event{event(t, 2, track.EvCandidate, refused)},
			track.Finding{Area: "src", Signature: "sealed-file-violation-src", Subject: "round_2_planner_a", Commit: "c1"},
			"sealed paths were changed",
		},
		"a time-out": {
			Round{N: 2, Benchmark: "sh bench.sh"},
			[]track.Event{event(t, 2, track.EvCandidate, candidate), event(t, 2, track.EvMeasured, track.Sample{Subject: "executor_a", Commit: "c1", Category: track.CategoryTimeout, Fault: "it ran for 10 s", Log: "logs/x.log"})},
			track.Finding{Area: "src", Signature: "timeout-src", Subject: "round_2_planner_a", Commit: "c1", Command: "sh bench.sh", Output: "logs/x.log"},
			"it ran for 10 s",
		},
		"a value of the tuner's": {
			Round{N: 2, Plans: []track.Plan{edit}},
			[]track.Event{event(t, 2, track.EvCandidate, candidate), event(t, 2, track.EvMeasured, track.Sample{Subject: "executor_a", Category: track.CategoryTimeout})},
			track.Finding{Area: "config.json", Signature: "timeout-config-json-batch-size", Subject: "round_2_planner_a"},
			"Setting batch.size in config.json from 8 to 64: the benchmark",
		},
		"a merge conflict": {
			Round{N: 2},
			[]track.Event{event(t, 2, track.EvCandidate, candidate), event(t, 2, track.EvVerdict, track.VerdictEvent{Executor: "executor_a", PlanID: "round_2_planner_a", Reason: conflict + ` in "src/a.go"`})},
			track.Finding{Area: "src", Signature: "merge-conflict-src", Subject: "round_2_planner_a"},
			`"src/a.go"`,
		},
		"a failed test": {
			Round{N: 2, Guards: map[string]string{"tests": "go test ./..."}, Paths: track.Paths{Root: "/t"}},
			[]track.Event{event(t, 2, track.EvCandidate, candidate), event(t, 2, track.EvGuard, track.GuardEvent{Subject: "executor_a", Guard: "tests", Reason: "exit code 1"})},
			track.Finding{Area: "src", Signature: "guard-tests-src", Subject: "round_2_planner_a", Command: "go test ./...", Output: "logs/round_2/guard_executor_a.log"},
			"exit code 1",
		},
		"a plan that was refused": {
			Round{N: 2},
			[]track.Event{event(t, 2, track.EvPlanReviewed, track.PlanEvent{PlanID: "round_2_planner_a", Hypothesis: "x", Approved: ptr(false), Reason: "H002: data has won three times"})},
			track.Finding{Area: "plans", Signature: "plan-refused-h002", Subject: "round_2_planner_a"},
			"H002: data has won",
		},
		"a change that made it worse": {
			Round{N: 2},
			[]track.Event{event(t, 2, track.EvVerdict, track.VerdictEvent{Executor: "executor_a", PlanID: "round_2_planner_a", Effect: &track.Effect{Value: -0.25, High: ptr(-0.1)}})},
			track.Finding{Area: "repository", Subject: "round_2_planner_a"},
			"worse by 25 %",
		},
		"an agent that was left out": {
			Round{N: 2, Paths: track.Paths{Root: "/t"}},
			[]track.Event{event(t, 2, track.EvAgentSkipped, track.AgentEvent{Role: "planner", ID: "planner_a", Reason: "exit code 3", Log: "/t/logs/p.log"})},
			track.Finding{Area: "planner", Signature: "agent-failed-planner", Subject: "planner_a", Output: "logs/p.log"},
			"exit code 3",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := one(t, c.round, c.events...)
			if got.Proof != "F-1" || !strings.Contains(got.Claim, c.claim) {
				t.Errorf("%+v", got)
			}
			if got.Signature != "" && mistakes.CheckSignature(got.Signature) != nil {
				t.Errorf("the signature %q is none", got.Signature)
			}
			c.want.Proof, c.want.Claim = got.Proof, got.Claim
			if got != c.want {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

func TestWhatIsNoFailure(t *testing.T) {
	for name, e := range map[string]track.Event{
		"a candidate":                  event(t, 2, track.EvCandidate, candidate),
		"another round":                event(t, 1, track.EvGuard, track.GuardEvent{Subject: "executor_a"}),
		"a guard that passed":          event(t, 2, track.EvGuard, track.GuardEvent{Subject: "executor_a", Passed: true}),
		"a guard of the start":         event(t, 2, track.EvGuard, track.GuardEvent{Subject: "start"}),
		"the machine":                  event(t, 2, track.EvMeasured, track.Sample{Subject: "executor_a", Category: track.CategoryInfrastructure}),
		"the champion's run":           event(t, 2, track.EvMeasured, track.Sample{Subject: "champion", Category: track.CategoryTimeout}),
		"a gain":                       event(t, 2, track.EvVerdict, track.VerdictEvent{Executor: "executor_a", Accepted: true}),
		"worse, but within the noise":  event(t, 2, track.EvVerdict, track.VerdictEvent{Executor: "executor_a", Effect: &track.Effect{Value: -0.1, High: ptr(0.1)}}),
		"a plan that was approved":     event(t, 2, track.EvPlanReviewed, track.PlanEvent{Approved: ptr(true)}),
		"a review that said nothing":   event(t, 2, track.EvPlanReviewed, track.PlanEvent{}),
		"an executor that was skipped": event(t, 2, track.EvCandidate, track.CandidateEvent{Executor: "executor_a", Category: track.CategoryInfrastructure}),
	} {
		t.Run(name, func(t *testing.T) {
			if all := found(t, Round{N: 2}, e); len(all) > 0 {
				t.Errorf("%+v", all)
			}
		})
	}
}

// TestFindingsAreNumberedOnce plays the crash between the findings of a round.
func TestFindingsAreNumberedOnce(t *testing.T) {
	events := []track.Event{
		event(t, 1, track.EvFinding, track.Finding{Proof: "F-7", Area: "x"}),
		event(t, 2, track.EvCandidate, candidate),
		event(t, 2, track.EvMeasured, track.Sample{Subject: "executor_a", Category: track.CategoryOOM}),
		event(t, 2, track.EvMeasured, track.Sample{Subject: "executor_a", Category: track.CategoryOOM}), // taken again
		event(t, 2, track.EvGuard, track.GuardEvent{Subject: "executor_a", Guard: "tests"}),
	}
	first := found(t, Round{N: 2}, events...)
	if len(first) != 2 || first[0].Proof != "F-8" || first[1].Proof != "F-9" {
		t.Fatalf("%+v", first)
	}
	events = append(events, event(t, 2, track.EvFinding, first[0]))
	if again := found(t, Round{N: 2}, events...); len(again) != 1 || again[0] != first[1] {
		t.Errorf("after the crash: %+v, want %+v", again, first[1:])
	}
	if n, err := Next(journal(events...)); err != nil || n != 9 {
		t.Errorf("next is %d, %v", n, err)
	}
}

func TestDamageIsLoud(t *testing.T) {
	broken := func(yield func(track.Event, error) bool) { yield(track.Event{}, errors.New("line 3 is no event")) }
	if _, err := OfRound(Round{}, broken); err == nil {
		t.Error("a damaged journal was passed over")
	}
	if _, err := Next(broken); err == nil {
		t.Error("a damaged journal was numbered")
	}
}

func TestSignature(t *testing.T) {
	long := strings.Repeat("deep/", 30)
	for name, c := range map[string]struct{ words, want string }{
		"words and paths":  {"timeout src/Lib_x.go", "timeout-src-lib-x-go"},
		"nothing of use":   {"ü/…", "unnamed"},
		"no hyphens twice": {"a -- b", "a-b"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Signature(c.words); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
	a, b := Signature("timeout", long+"a.go"), Signature("timeout", long+"b.go")
	if a == b || mistakes.CheckSignature(a) != nil || mistakes.CheckSignature(b) != nil {
		t.Errorf("cut: %q and %q", a, b)
	}
}

func TestArea(t *testing.T) {
	for _, c := range []struct {
		files []string
		want  string
	}{
		{nil, "repository"},
		{[]string{"a/b.go"}, "a/b.go"},
		{[]string{"a/b/c.go", "a/bc/d.go"}, "a"},
		{[]string{"a/b", "c/d"}, "repository"},
	} {
		if got := area(c.files); got != c.want {
			t.Errorf("%q is about %q, want %q", c.files, got, c.want)
		}
	}
}

func TestRead(t *testing.T) {
	ids := []string{"K-1", "K-2", "K-33"}
	for name, c := range map[string]struct {
		text string
		want string // verdicts of K-1, K-2, K-33
	}{
		"as it is asked for":      {"done.\nKnowledge: K-1 helped; K-2 unused; K-33 wrong\n", "helped unused wrong"},
		"as JSON":                 {`{"knowledge": {"K-1": "helped", "K-2": "unused"}, "x": 1}`, "helped unused missing"},
		"as a list":               {"- **[K-2]** — `wrong`\n- K-33: unused", "missing wrong unused"},
		"the last counts":         {"K-1 helped\nK-1 wrong", "wrong missing missing"},
		"nothing":                 {"I changed the loop.", "missing missing missing"},
		"another entry":           {"K-3 helped K-331 helped", "missing missing missing"},
		"no word of the contract": {"K-1 helpful, K-2 helpedx", "missing missing missing"},
		"an echo of the question": {Ask(ids), "missing missing missing"},
	} {
		t.Run(name, func(t *testing.T) {
			r := Read(c.text, ids)
			got := []string{string(r.Verdicts["K-1"]), string(r.Verdicts["K-2"]), string(r.Verdicts["K-33"])}
			if strings.Join(got, " ") != c.want || len(r.Verdicts) != 3 || len(r.Claims) > 0 {
				t.Errorf("%v, want %s; claims %+v", got, c.want, r.Claims)
			}
		})
	}
	if Ask(nil) != "" {
		t.Error("who got nothing owes nothing")
	}
}

func TestClaims(t *testing.T) {
	r := Read("text\nFinding: build | the cache must be cold | make -n all\n- Finding: src/a | \x1b[31mred\u200b |\nFinding: no bar\nFinding: x | y | nothing", nil)
	want := []Claim{{"build", "the cache must be cold", "make -n all"}, {"src/a", "red<U+200B>", ""}, {"x", "y", ""}}
	if !slices.Equal(r.Claims, want) {
		t.Errorf("%+v", r.Claims)
	}
	f := want[0].Prove(3, "c1", &Proof{ExitCode: 2, Output: "logs/f3.log"})
	if f.Proof != "F-3" || *f.ExitCode != 2 || f.Output != "logs/f3.log" || f.Command != "make -n all" {
		t.Errorf("%+v", f)
	}
	if f := want[1].Prove(4, "", &Proof{}); f.ExitCode != nil || f.Output != "" {
		t.Errorf("a claim without a command got a proof: %+v", f)
	}
	if many := Read(strings.Repeat("Finding: a | b | c\n", 50), nil); len(many.Claims) != maxClaims {
		t.Errorf("%d claims", len(many.Claims))
	}
}
