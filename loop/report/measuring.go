package report

import (
	"strings"

	"si/track"
)

// measuring says how the score was taken, and by which rules it was judged.
func measuring(r Report) []fact {
	b, rules := r.Benchmark, r.Rules
	list := []fact{
		{Name: "Score", Text: orElse(line(b.Metric, titleWidth), "the benchmark's number") + ", " + better(b.Direction)},
		{Name: "Sealed paths", Text: sealed(b.Sealed)},
		{Name: "Noise", Text: noise(r)},
	}
	if rules.MinEffect > 0 {
		list = append(list, fact{Name: "Smallest gain kept", Text: amount(rules.MinEffect, linear(r))})
	}
	if rules.Alpha > 0 && !repeats(rules) {
		list = append(list, fact{Name: "Level of the test", Text: score(rules.Alpha) + " (alpha: how often the test may call a change better that does nothing)"})
	}
	if rules.MaxRuns > 0 {
		list = append(list, fact{Name: "Most runs", Text: count(rules.MaxRuns, "run", "runs") + " of a comparison, both sides together"})
	}
	list = append(list, run(r.Run)...)
	return append(list, place(r)...)
}

func run(r Run) (list []fact) {
	if r.StopReason != "" {
		list = append(list, fact{Name: "Why it ended", Text: line(r.StopReason, lineWidth)})
	}
	if r.BenchmarkRuns > 0 || r.AgentTasks > 0 {
		list = append(list, fact{Name: "Cost", Text: count(r.BenchmarkRuns, "benchmark run", "benchmark runs") + ", " + count(r.AgentTasks, "agent task", "agent tasks")})
	}
	return list
}

// place names branches, commits, machine and versions.
func place(r Report) (list []fact) {
	s := r.Source
	list = append(list, fact{Name: "Start", Text: named(s.Target, s.Start)}, fact{Name: "Result", Text: named(s.Improve, s.Champion)})
	if s.Delivery != "" {
		list = append(list, fact{Name: "For review", Text: named(s.Delivery, s.Tip) + ", one commit for each gain"})
	}
	var machine []string
	for _, part := range []string{line(r.Machine.CPU, titleWidth), line(r.Machine.OS, titleWidth)} {
		if part != "" {
			machine = append(machine, part)
		}
	}
	if r.Machine.Cores > 0 {
		machine = append(machine, count(r.Machine.Cores, "core", "cores"))
	}
	if len(machine) > 0 {
		list = append(list, fact{Name: "Machine", Text: strings.Join(machine, ", ")})
	}
	var versions []string
	shown, more := capped(r.Versions, mostItems)
	for _, v := range shown {
		versions = append(versions, line(v.Name+" "+v.Version, titleWidth))
	}
	if more != "" {
		versions = append(versions, more)
	}
	if len(versions) > 0 {
		list = append(list, fact{Name: "Versions", Text: strings.Join(versions, ", ")})
	}
	return list
}

func named(branch, commit string) string {
	return orElse(line(branch, titleWidth), "unknown branch") + " at " + orElse(line(short(commit), titleWidth), "an unknown commit")
}

func sealed(paths []string) string {
	if len(paths) == 0 {
		return "none: a change could have altered the benchmark itself"
	}
	shown, more := capped(paths, mostItems)
	var list []string
	for _, p := range shown {
		list = append(list, line(p, titleWidth))
	}
	if more != "" {
		list = append(list, more)
	}
	return strings.Join(list, ", ") + " (a change that touches one of them is refused before it is measured)"
}

// repeats reports a benchmark whose runs are compared without a test.
func repeats(r Rules) bool {
	return r.NoiseMode == "deterministic" || r.NoiseMode == "quasi-deterministic"
}

func noise(r Report) string {
	switch r.Rules.NoiseMode {
	case "deterministic":
		return "none: runs of the same tree give the same score to the last bit"
	case "quasi-deterministic":
		return "hardly any: runs of the same tree differ within a fixed tolerance"
	}
	if r.Rules.Sigma <= 0 {
		return "not known"
	}
	if linear(r) {
		return "a run differs from the next by about " + score(r.Rules.Sigma) + " (standard deviation)"
	}
	return "a run differs from the next by about " + share(r.Rules.Sigma) + " (standard deviation)"
}

// linear reports effects in multiples of the noise: scores can be 0 or below.
func linear(r Report) bool {
	if r.Whole != nil {
		return r.Whole.Effect.InSigma
	}
	return len(r.Gains) > 0 && r.Gains[0].Duel.Effect.InSigma
}

func better(d track.Direction) string {
	if d == track.LowerIsBetter {
		return "lower is better"
	}
	return "higher is better"
}
