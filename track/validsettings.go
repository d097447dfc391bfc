package track

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
)

// maxAgents bounds the planners of a round.
const maxAgents = 64

// Faults names every fault of the settings. Bounds of guards and patterns of
// formats are read by who uses them.
func (s *Settings) Faults() []string {
	f := &faults{}
	f.atLeast("number_of_agents", s.NumberOfAgents, 1)
	f.atMost("number_of_agents", s.NumberOfAgents, maxAgents)
	f.atLeast("number_of_max_critics", s.NumberOfMaxCritics, 1)
	if s.TopicSlug != "" {
		f.name("topic_slug", s.TopicSlug)
	}
	f.branch("target_branch", s.TargetBranch)
	f.command("benchmark_command", s.BenchmarkCommand)
	oneOf(f, "benchmark_format", s.BenchmarkFormat, Formats()...)
	oneOf(f, "benchmark_direction", s.BenchmarkDirection, HigherIsBetter, LowerIsBetter)
	f.text("primary_metric", s.PrimaryMetric)
	f.atLeast("max_iterations", s.MaxIterations, 1)
	f.number("plateau_threshold", s.PlateauThreshold.Value)
	f.atLeast("plateau_window", s.PlateauWindow, 1)
	f.score("target_value", s.TargetValue)
	for i, p := range s.SealedFiles {
		f.path(fmt.Sprintf("sealed_files[%d]", i), p)
	}
	f.number("regression_threshold", s.RegressionThreshold)
	f.atLeast("circuit_breaker_threshold", s.CircuitBreakerThreshold, 1)
	f.within("si", func() { s.SI.check(f) })
	return f.all()
}

// branch wants a name that git does not take for an option or a path elsewhere.
func (f *faults) branch(field, name string) {
	bad := func(r rune) bool {
		return unicode.IsControl(r) || unicode.IsSpace(r) || strings.ContainsRune(`~^:?*[\`, r)
	}
	switch {
	case name == "":
		f.add(field, "missing")
	case strings.HasPrefix(name, "-") || strings.HasPrefix(name, "/") || strings.Contains(name, "..") || strings.Contains(name, "@{") || strings.ContainsFunc(name, bad):
		f.add(field, "%q is no branch name", clip(name, 60))
	}
}

func (f *faults) command(field, value string) {
	f.size(field, value)
	f.utf8(field, value)
}

func (o *Options) check(f *faults) {
	f.within("agents", func() {
		f.number("wall_seconds", o.Agents.WallSeconds)
		f.number("idle_seconds", o.Agents.IdleSeconds)
		f.variables("env", o.Agents.Env)
		if o.Agents.WaitHours != -1 {
			f.number("wait_hours", o.Agents.WaitHours)
		}
	})
	f.within("measure", func() { o.Measure.check(f) })
	for i, p := range o.Benchmark.ResultFiles {
		f.path(fmt.Sprintf("benchmark.result_files[%d]", i), p)
	}
	for i, g := range o.Guards {
		f.within(fmt.Sprintf("guards[%d]", i), func() { g.check(f) })
	}
	f.command("setup_command", o.Setup)
	for i, l := range o.Links {
		f.path(fmt.Sprintf("linked_paths[%d].path", i), l.Path)
		optional(f, fmt.Sprintf("linked_paths[%d].mode", i), l.Mode, "copy", "link")
	}
	optional(f, "runner_files", o.RunnerFiles, "warn", "strict")
	optional(f, "benchmark.time_unit", o.Benchmark.TimeUnit, "s", "ms", "us", "ns", "none")
	f.within("validation", func() { o.Validation.check(f) })
	for name, v := range map[string]float64{
		"review.wall_seconds": o.Skills.Review.WallSeconds, "stale_days": o.Skills.StaleDays, "archive_days": o.Skills.ArchiveDays,
		"interval_hours": o.Skills.IntervalHours, "idle_hours": o.Skills.IdleHours,
	} {
		f.number("skills."+name, v)
	}
	f.atLeast("skills.review.min_tool_calls", o.Skills.Review.MinToolCalls, 0)
	f.atLeast("learn.retro_every", o.Learn.RetroEvery, 0)
	f.atLeast("learn.brief_budget", o.Learn.Budget, 0)
	optional(f, "learn.judge", o.Learn.Judge, "agent", "count")
	optional(f, "sandbox", o.Sandbox, "auto", "off")
	for name, paths := range map[string][]string{"hidden_paths": o.HiddenPaths, "agents.writable": o.Agents.Writable, "agents.readable": o.Agents.Readable} {
		for i, p := range paths {
			if !filepath.IsAbs(p) {
				f.add(fmt.Sprintf("%s[%d]", name, i), "%q is not an absolute path", clip(p, 60))
			}
		}
	}
	f.atLeast("limits.processes", o.Limits.Processes, 0)
	f.atLeast("limits.memory_mb", o.Limits.MemoryMB, 0)
	f.atLeast("limits.file_mb", o.Limits.FileMB, 0)
	optional(f, "isolation", o.Isolation, "clone", "worktree")
	f.atLeast("max_file_mb", o.MaxFileMB, 0)
	f.atLeast("min_free_disk_mb", o.MinFreeDiskMB, 0)
	f.number("budget.wall_hours", o.Budget.WallHours)
	f.atLeast("budget.benchmark_runs", o.Budget.BenchmarkRuns, 0)
	f.within("budget", func() { o.Budget.check(f) })
}

func (b *BudgetOptions) check(f *faults) {
	f.number("cost_usd", b.CostUSD)
	f.number("round.cost_usd", b.Round.CostUSD)
	f.number("task.cost_usd", b.Task.CostUSD)
	f.atLeast("tokens", int(b.Tokens), 0)
	f.atLeast("round.tokens", int(b.Round.Tokens), 0)
	f.atLeast("task.tokens", int(b.Task.Tokens), 0)
	f.atLeast("task.steps", b.Task.Steps, 0)
	f.atLeast("task.repeats", b.Task.Repeats, -1)
	for _, over := range []struct {
		field        string
		task, within float64
	}{
		{"task.cost_usd", b.Task.CostUSD, b.Round.CostUSD},
		{"task.cost_usd", b.Task.CostUSD, b.CostUSD},
		{"round.cost_usd", b.Round.CostUSD, b.CostUSD},
		{"task.tokens", float64(b.Task.Tokens), float64(b.Round.Tokens)},
		{"task.tokens", float64(b.Task.Tokens), float64(b.Tokens)},
		{"round.tokens", float64(b.Round.Tokens), float64(b.Tokens)},
	} {
		if over.within > 0 && over.task > over.within {
			f.add(over.field, "%v is more than the %v that it is a part of: no agent could start", over.task, over.within)
		}
	}
}

func (v *Validation) check(f *faults) {
	f.command("command", v.Command)
	optional(f, "format", v.Format, Formats()...)
	optional(f, "direction", v.Direction, HigherIsBetter, LowerIsBetter)
	f.atLeast("runs", v.Runs, 0)
	for i, p := range v.ResultFiles {
		f.path(fmt.Sprintf("result_files[%d]", i), p)
	}
}

func (m *MeasureOptions) check(f *faults) {
	optional(f, "launcher.kind", m.Launcher.Kind, "local", "slurm", "command")
	f.number("launcher.queue_hours", m.Launcher.Queue)
	optional(f, "rebuild", m.Rebuild, "tree", "block")
	f.number("max_load", m.MaxLoad)
	optional(f, "selection", m.Selection, "duel", "seed")
	if f.number("alpha", m.Alpha); m.Alpha >= 0.5 {
		f.add("alpha", "%v is not below 0.5", m.Alpha)
	}
	f.number("min_effect", m.MinEffect)
	f.number("target", m.Target)
	f.atLeast("max_runs", m.MaxRuns, 0)
	f.number("timeout_seconds", m.TimeoutSeconds)
	f.atLeast("warmup", m.Warmup, 0)
	f.atLeast("canary_every", m.CanaryEvery, -1)
	f.variables("env", m.Env)
	for i, p := range m.Keep {
		f.path(fmt.Sprintf("keep[%d]", i), strings.TrimPrefix(p, "~/"))
	}
}

func (g *GuardOption) check(f *faults) {
	switch {
	case g.Command == "" && g.Metric == "":
		f.add("command", "missing: a guard has a command, or a metric with a bound")
	case g.Command != "" && g.Metric != "":
		f.add("metric", "a guard has either a command or a metric")
	case g.Metric != "" && g.Bound == "":
		f.add("bound", "missing: such as \"<= +5%%\"")
	}
	f.command("command", g.Command)
	optional(f, "against", g.Against, "champion", "baseline")
}

func (f *faults) variables(field string, names []string) {
	for i, n := range names {
		if n == "" || strings.ContainsAny(n, "=\x00") {
			f.add(fmt.Sprintf("%s[%d]", field, i), "%q is not the name of a variable", clip(n, 60))
		}
	}
}
