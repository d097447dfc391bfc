// Package staged makes journals for the tests of the screen: a small loop, told
// event by event, with a clock of its own.
package staged

import (
	"encoding/json"
	"fmt"
	"time"

	"si/track"
)

// Begin is when a staged loop starts.
func Begin() time.Time { return time.Date(2026, 3, 4, 22, 10, 0, 0, time.UTC) }

// Play is a journal under way.
type Play struct {
	Events []track.Event
	At     time.Time
	Round  int
}

// New begins a journal.
func New() *Play { return &Play{At: Begin()} }

// Tell appends an event, some time after the one before.
func (p *Play) Tell(after time.Duration, kind track.Kind, actor string, data any) *Play {
	raw, err := json.Marshal(data)
	if err != nil {
		panic(err) // a test gave it
	}
	p.At = p.At.Add(after)
	p.Events = append(p.Events, track.Event{TS: p.At, Ev: kind, Run: "0123456789abcdef", Round: p.Round, Actor: actor, Data: raw})
	return p
}

// Num is a number that can be absent.
func Num(v float64) *float64 { return &v }

// Letters name the agents of a round.
func Letters() []string { return []string{"a", "b", "c"} }

// Start tells the begin of a run.
func (p *Play) Start() *Play {
	p.Tell(0, track.EvRunStarted, "si", track.RunStarted{Version: "0.1.0", Root: "/repo/.omc/self-improve/topics/default", Repo: "/repo", Branch: "improve/parser"})
	return p.Tell(0, track.EvWarning, "si", track.Note{Text: "sandbox: landlock; everything is enforced"})
}

// Open tells the begin of a round.
func (p *Play) Open(round int, best float64) *Play {
	p.Round = round
	return p.Tell(time.Second, track.EvRoundStarted, "si", track.RoundStarted{
		Base: fmt.Sprintf("%040d", round), Best: Num(best), Max: 20, Baseline: Num(412),
	})
}

// Step tells the begin of a step.
func (p *Play) Step(s track.Step) *Play {
	return p.Tell(200*time.Millisecond, track.EvStepStarted, "si", track.StepEvent{Step: s})
}

// Done tells the end of a step.
func (p *Play) Done(s track.Step, seconds float64) *Play {
	return p.Tell(0, track.EvStepEnded, "si", track.StepEvent{Step: s, Seconds: seconds})
}

// Agent tells that an agent starts.
func (p *Play) Agent(role, id string) *Play {
	return p.Tell(100*time.Millisecond, track.EvAgentStarted, id, track.AgentEvent{Role: role, ID: id, Backend: "codex", Attempt: 1})
}

// Leave tells that an agent is done, and what it cost.
func (p *Play) Leave(role, id string, seconds float64) *Play {
	spent := &track.Spent{Usage: &track.Usage{Input: 21_000, CacheRead: 180_000, Output: 3_400}, CostUSD: Num(0.21), Tools: 17}
	return p.Tell(time.Second, track.EvAgentEnded, id, track.AgentEvent{Role: role, ID: id, Backend: "codex", Attempt: 1, Seconds: seconds, Spent: spent})
}

// Hypotheses are what the planners of a round want to try.
func Hypotheses() []string {
	return []string{
		"Reading the input in blocks of 64 KiB instead of by lines makes the parser faster.",
		"A table of 256 entries instead of the switch over character classes saves branches.",
		"字句解析器の表を小さくすると、キャッシュに収まる。 Smaller tables fit into the cache.",
	}
}

// Plans tells the steps up to the reviewed plans.
func (p *Play) Plans() *Play {
	p.Step(track.StepResearch).Agent("researcher", "researcher").Leave("researcher", "researcher", 41).Done(track.StepResearch, 41)
	p.Step(track.StepPlanning)
	families := []string{"infrastructure", "optimization", "architecture"}
	for i, l := range Letters() {
		p.Agent("planner", "planner_"+l)
		p.Tell(time.Second, track.EvPlanReady, "planner_"+l, track.PlanEvent{
			PlanID: fmt.Sprintf("round_%d_planner_%s", p.Round, l), Planner: "planner_" + l, Hypothesis: Hypotheses()[i], Family: families[i],
		})
		p.Leave("planner", "planner_"+l, 63)
	}
	p.Done(track.StepPlanning, 71).Step(track.StepCriticReview)
	yes := true
	for i, l := range Letters() {
		p.Tell(time.Second, track.EvPlanReviewed, "critic", track.PlanEvent{
			PlanID: fmt.Sprintf("round_%d_planner_%s", p.Round, l), Planner: "planner_" + l, Hypothesis: Hypotheses()[i], Family: families[i], Approved: &yes,
		})
	}
	return p.Done(track.StepCriticReview, 25)
}

// Work tells that executors are at work.
func (p *Play) Work() *Play {
	p.Step(track.StepExecution)
	for _, l := range Letters() {
		p.Agent("executor", "executor_"+l)
	}
	return p
}

// Commits tells that the executors are done, and the checks of what they committed.
func (p *Play) Commits(scores ...float64) *Play {
	for i, l := range Letters() {
		id := "executor_" + l
		p.Tell(20*time.Second, track.EvCandidate, id, track.CandidateEvent{
			Executor: id, PlanID: fmt.Sprintf("round_%d_planner_%s", p.Round, l), Commit: Commit(p.Round, i), Tree: "t", Files: []string{"parser/scan.go"},
		})
		p.Leave("executor", id, 190)
		p.Run("check/"+id, "check", id, scores[i])
	}
	return p.Done(track.StepExecution, 240)
}

// Commit is the commit of a candidate.
func Commit(round, i int) string { return fmt.Sprintf("%08d%032d", i+1, round) }

// Run tells one run of the benchmark.
func (p *Play) Run(key, purpose, subject string, score float64) *Play {
	return p.Tell(4*time.Second, track.EvMeasured, "benchmark", track.Sample{Key: key, Purpose: purpose, Subject: subject, Score: Num(score), Wall: 3.8})
}

// Duel tells the runs of a duel, in turn, the champion first.
func (p *Play) Duel(executor string, scores ...float64) *Play {
	for i, v := range scores {
		subject := "champion"
		if i%2 == 1 {
			subject = executor
		}
		p.Run(fmt.Sprintf("duel/%s/noisy/%d", executor, i+1), "duel", subject, v)
	}
	return p
}

// Verdict tells what was decided.
func (p *Play) Verdict(i int, accepted bool, reason string, effect *track.Effect) *Play {
	id := "executor_" + Letters()[i]
	return p.Tell(time.Second, track.EvVerdict, "si", track.VerdictEvent{
		Executor: id, PlanID: fmt.Sprintf("round_%d_planner_%s", p.Round, Letters()[i]), Accepted: accepted, Reason: reason, Effect: effect,
	})
}

// Merge tells that a candidate was merged.
func (p *Play) Merge(i int, before, after float64, effect track.Effect) *Play {
	id := "executor_" + Letters()[i]
	return p.Tell(0, track.EvMerged, "si", track.Merged{
		Executor: id, PlanID: fmt.Sprintf("round_%d_planner_%s", p.Round, Letters()[i]), Commit: Commit(p.Round, i), Merge: Commit(p.Round, i+5),
		Before: before, After: after, Effect: effect,
	})
}

// Close tells the end of a round.
func (p *Play) Close(status track.MergeStatus, best float64) *Play {
	p.Done(track.StepTournament, 95).Step(track.StepRecording).Done(track.StepRecording, 0.3)
	return p.Tell(time.Second, track.EvRoundEnded, "si", track.RoundEnded{Status: status, Best: Num(best), Seconds: 480})
}

// Effect is an effect with its interval.
func Effect(value, low, high float64) track.Effect {
	return track.Effect{Value: value, Low: Num(low), High: Num(high), P: Num(0.001), Runs: 24}
}
