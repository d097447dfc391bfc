package staged

import (
	"fmt"
	"time"

	"si/track"
	"si/tui/scene"
)

// Facts are what the documents of the staged track say.
func Facts() scene.Facts {
	return scene.Facts{
		Objective: "Make the parser faster on large files", Metric: "ns/op", Direction: track.LowerIsBetter, Target: Num(300), Max: 20, Place: "/repo",
	}
}

// Won is a journal with one round that was won.
func Won() *Play {
	p := New().Start().Open(1, 412).Plans().Work().Commits(401, 371, 415)
	p.Step(track.StepTournament).Run("screen/champion", "screen", "champion", 411)
	p.Verdict(2, false, "its run of 415 is not ahead of the champion's 411", nil)
	p.Duel("executor_b", 410, 372, 413, 371, 409, 374, 412, 370)
	gain := Effect(0.0961, 0.0883, 0.1032)
	return p.Verdict(1, true, "better than the champion beyond the noise", &gain).Merge(1, 411, 371.5, gain).Close(track.MergeMerged, 371.5)
}

// AtWork is a second round whose executors are at work.
func AtWork() *Play { return Won().Open(2, 371.5).Plans().Work() }

// InDuel is a second round in the middle of a duel.
func InDuel() *Play {
	p := AtWork().Commits(366, 374, 369)
	p.Step(track.StepTournament).Run("screen/champion", "screen", "champion", 371)
	p.Verdict(1, false, "its run of 374 is not ahead of the champion's 371", nil)
	return p.Duel("executor_a", 371, 365, 372, 367, 370, 373, 371, 364)
}

// Ended is a run that was stopped after its second round.
func Ended() *Play {
	p := InDuel()
	near := Effect(0.0121, -0.0010, 0.0250)
	p.Verdict(0, false, "not proved to be better: the noise can explain it", &near)
	p.Verdict(2, false, "not judged: a candidate ahead of it was refused", nil)
	p.Close(track.MergeNoImprovement, 371.5)
	p.Round = 0
	whole := Effect(0.0952, 0.0874, 0.1021)
	return p.Tell(time.Second, track.EvRunEnded, "si", track.Summary{
		Status: track.StatusUserStopped, Reason: "stopped by the user at iteration 3, step research", Iterations: 2, Metric: "ns/op", Direction: track.LowerIsBetter,
		Baseline: Num(412), Best: Num(372.8), Improvement: &whole, Branch: "improve/parser", Start: Commit(0, 0), Champion: Commit(1, 6),
		Kept:    []track.Kept{{Round: 1, PlanID: "round_1_planner_b", Hypothesis: Hypotheses()[1], Commit: Commit(1, 1), Before: 411, After: 371.5, Effect: &whole}},
		Refused: []track.Kept{}, Runs: 28, AgentTasks: 14, Seconds: 1040, Chart: "progress.png", Next: "si run --resume",
	})
}

// Scene folds a journal.
func (p *Play) Scene() *scene.Scene {
	s := scene.New(Facts())
	for _, e := range p.Events {
		s.Apply(e)
	}
	return s
}

// Talk lets every agent at work say and do something.
func Talk(s *scene.Scene, lines int) {
	for i, a := range s.Agents {
		usage := track.Usage{Input: 1000 * int64(i+1), CacheRead: 52_000, Output: 700}
		cost := 0.07 * float64(i+1)
		did := []track.Activity{
			{Kind: "started", Model: "gpt-5-codex"},
			{Kind: "text", Text: "I look at how the scanner reads its "},
			{Kind: "text", Text: "input.\nIt calls ReadByte for each character.\n"},
			{Kind: "tool_start", Tool: "shell", Text: "go test -run '^$' -bench Parse ./parser"},
			{Kind: "tool_output", Text: "BenchmarkParse-2   3021   402113 ns/op\n"},
			{Kind: "tool_end", Tool: "shell", Text: "ok   parser 2.1s"},
			{Kind: "usage", Usage: &usage, CostUSD: &cost},
		}
		for n := range lines {
			did = append(did, track.Activity{Kind: "text", Text: fmt.Sprintf("step %d: read, think, change, measure\n", n+1)})
		}
		if i == 1 {
			did = append(did, track.Activity{Kind: "tool_start", Tool: "edit", Text: "parser/scan.go"})
		}
		if i == 2 {
			did = append(did, track.Activity{Kind: "text", Text: "表を縮めます。\x1b[2J\x1b]0;evil\x07 ready\n"}, track.Activity{Kind: "tool_end", Tool: "shell", Failed: true, Text: "FAIL parser: undefined: table"})
		}
		s.Act(a, did)
	}
}
