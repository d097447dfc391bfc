package tui

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"si/track"
)

func event(t *testing.T, kind track.Kind, round int, data any) track.Event {
	t.Helper()
	raw, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	return track.Event{TS: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Ev: kind, Run: "r", Round: round, Actor: "si", Data: raw}
}

func ptr(v float64) *float64 { return &v }

func TestSentences(t *testing.T) {
	yes := true
	for want, e := range map[string]track.Event{
		"round 2 of at most 5, from 0123456789, champion at 12.5":           event(t, track.EvRoundStarted, 2, track.RoundStarted{Base: "0123456789abc", Best: ptr(12.5), Max: 5}),
		"planner_b has no other plan: planner_a takes what there is":        event(t, track.EvNothing, 1, track.AgentEvent{ID: "planner_b", Reason: "no other plan: planner_a takes what there is"}),
		"plan of planner_a approved":                                        event(t, track.EvPlanReviewed, 1, track.PlanEvent{Planner: "planner_a", Approved: &yes}),
		"plan of planner_a rejected: H002":                                  event(t, track.EvPlanReviewed, 1, track.PlanEvent{Planner: "planner_a", Reason: "H002"}),
		"check of executor_a: 3 in 0.50 s":                                  event(t, track.EvMeasured, 1, track.Sample{Purpose: "check", Subject: "executor_a", Score: ptr(3), Wall: 0.5}),
		"check of executor_a gave no score (timeout): too long":             event(t, track.EvMeasured, 1, track.Sample{Purpose: "check", Subject: "executor_a", Category: track.CategoryTimeout, Fault: "too long"}),
		"executor_a accepted: better (+10.00% [+8.00%, ∞])":                 event(t, track.EvVerdict, 1, track.VerdictEvent{Executor: "executor_a", Accepted: true, Reason: "better", Effect: &track.Effect{Value: 0.1, Low: ptr(0.08)}}),
		"executor_b gives no candidate: sealed":                             event(t, track.EvCandidate, 1, track.CandidateEvent{Executor: "executor_b", Reason: "sealed"}),
		"executor_b committed 0123456789: a, b, c and 2 more; warning: odd": event(t, track.EvCandidate, 1, track.CandidateEvent{Executor: "executor_b", Commit: "0123456789abc", Files: []string{"a", "b", "c", "d", "e"}, Warnings: []string{"odd"}}),
		"": event(t, track.EvStepEnded, 1, track.StepEvent{Step: track.StepResearch}),
	} {
		if got := Sentence(e); got != want {
			t.Errorf("%s: %q, want %q", e.Ev, got, want)
		}
	}
}

// TestPlainLinesAreClean: what agents wrote moves no cursor and starts no line.
func TestPlainLinesAreClean(t *testing.T) {
	var out bytes.Buffer
	p := NewPlain(&out)
	p.Event(event(t, track.EvAgentFailed, 1, track.AgentEvent{ID: "planner_a", Reason: "\x1b[2J\x1b[Hgone\nforged line\r\x07"}))
	p.Event(event(t, track.EvPlanReady, 1, track.PlanEvent{Planner: "planner_a", Hypothesis: strings.Repeat("x", 1<<20)}))
	p.Event(track.Event{Ev: track.EvMeasured, Data: json.RawMessage(`{"score": "no number"`)})
	p.Event(track.Event{Ev: "a_kind_of_next_year"})
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d lines: %q", len(lines), lines)
	}
	for _, l := range lines {
		if strings.ContainsAny(l, "\x1b\x07\r") || len(l) > 4200 {
			t.Errorf("%d bytes: %.80q", len(l), l)
		}
	}
}

func TestJSONLinesAreTheEvents(t *testing.T) {
	var out bytes.Buffer
	e := event(t, track.EvMeasured, 3, track.Sample{Key: "check/executor_a", Raw: "two\nlines"})
	NewJSON(&out).Event(e)
	var got track.Event
	if strings.Count(out.String(), "\n") != 1 || json.Unmarshal(out.Bytes(), &got) != nil || got.Round != 3 || string(got.Data) != string(e.Data) {
		t.Errorf("%q", out.String())
	}
}

func TestScoresFitAllSizes(t *testing.T) {
	for v, want := range map[float64]string{0.003: "0.003", 2000000: "2000000", 1234567.8: "1234568", 12.3456789: "12.3457", 0: "0", -5: "-5", 1e18: "1e+18"} {
		if got := Score(v); got != want {
			t.Errorf("Score(%g) = %q, want %q", v, got, want)
		}
	}
}

func TestSummary(t *testing.T) {
	var out bytes.Buffer
	err := Summary(&out, track.Summary{
		Status: track.StatusPlateau, Iterations: 7, Baseline: ptr(10), Best: ptr(12), Branch: "improve/x", Champion: "0123456789abc", Chart: "/c.png", Next: "git diff",
		Improvement: &track.Effect{Value: 0.2, Low: ptr(0.15), High: ptr(0.25), Runs: 12},
		Kept:        []track.Kept{{Round: 2, Commit: "fedcba9876543", Hypothesis: "Use a map\x1b[31m", Before: 10, After: 12, Effect: &track.Effect{Value: 0.2}, Reason: "unseen by\x1b[31m the clock"}},
		Refused:     []track.Kept{{Round: 1, Hypothesis: "Sleep less", Reason: "refused: not better"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"=== Self-Improvement Loop Complete ===\nStatus: plateau\nIterations: 7\nBest Score: 12 (baseline: 10)\nImprovement: +2 (+20.00% [+15.00%, +25.00%], start against champion, measured afresh in 12 runs)\n",
		"round 2  fedcba9876  +20.00% [−∞, ∞]  10 → 12  Use a map\n           unseen by the clock\n",
		"round 1  Sleep less  refused: not better\n",
		"Next: git diff\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the summary lacks %q:\n%s", want, out.String())
		}
	}
}
