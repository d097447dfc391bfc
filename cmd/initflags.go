package cmd

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"si/benchmark"
	"si/track"
)

func (o *initOptions) addGoalFlags(f *pflag.FlagSet) {
	f.BoolVar(&o.trust, "trust", false, "yes: run agents and the benchmark command in this repository")
	f.BoolVar(&o.yes, "yes", false, "accept what would be asked, but never trust")
	f.StringVar(&o.goalFile, "goal-file", "", "a goal.md to take as it is")
	f.StringVar(&o.harnessFile, "harness-file", "", "a harness.md to take as it is")
	f.StringVar(&o.objective, "objective", "", "what to improve, in a sentence")
	f.StringVar(&o.target, "target", "", "the score to reach; without one, as far as it goes")
	f.StringSliceVar(&o.scope, "scope", nil, "paths and globs that may be changed")
	f.StringSliceVar(&o.outOfScope, "out-of-scope", nil, "paths and globs that may not be changed")
	f.StringVar(&o.branch, "target-branch", "", "branch that improve/… starts from (default: the one you are on)")
	f.IntVar(&o.agentsN, "agents", 0, "planners and executors in a round (default 3)")
	f.IntVar(&o.rounds, "max-iterations", 0, "rounds at most (default 50)")
	f.StringVar(&o.plateau, "plateau-threshold", "", "smallest gain that counts, as a number or a percentage (default 0.5%)")
	f.IntVar(&o.breaker, "circuit-breaker", 0, "rounds without a winner that end the loop (default 3)")
	f.Uint64Var(&o.seed, "seed", 0, "seed of every random order (default: drawn)")
}

func (o *initOptions) addBenchmarkFlags(f *pflag.FlagSet) {
	f.StringVar(&o.benchmark, "benchmark", "", "the benchmark command, run by the shell")
	f.StringVar(&o.format, "format", "", "how its output is read: "+strings.Join(track.Formats(), ", ")+" (default json)")
	f.StringVar(&o.regex, "regex", "", "for --format regex: an expression with the named group \"value\"")
	f.StringVar(&o.metric, "metric", "", "the metric's name in the output")
	f.StringVar(&o.direction, "direction", "", "higher_is_better (default) or lower_is_better")
	f.StringSliceVar(&o.sealed, "sealed", nil, "paths, folders/ and globs that no candidate may touch")
	f.StringArrayVar(&o.guards, "guard", nil, `a command that must pass, or "metric: <= +5%"; may be repeated`)
	f.StringVar(&o.setup, "setup", "", "command that prepares a fresh checkout, run once for each")
	f.StringSliceVar(&o.links, "link", nil, "untracked paths that a checkout needs; copied (path) or linked (path:link)")
	f.StringSliceVar(&o.resultFiles, "result-file", nil, "file that the benchmark writes its result to")
	f.BoolVar(&o.resultFD, "result-fd", false, "the benchmark writes its result to descriptor 3, not to standard output")
	f.StringVar(&o.selection, "selection", "", `how winners are chosen: the duel, or "seed" for the original rule`)
	f.BoolVar(&o.noCanary, "no-canary", false, "do not check that the benchmark looks at what may be changed")
	f.BoolVar(&o.acceptNoise, "accept-noise", false, "go on with a benchmark whose runs spread over 5 % or more")
}

// apply lays the flags that were given over v.
func (o *initOptions) apply(v *track.Settings) (changed bool, err error) {
	set := func(flag string, do func() error) {
		if err == nil && o.flags.Changed(flag) {
			changed = true
			err = do()
		}
	}
	text := func(flag string, value string, field *string) {
		set(flag, func() error { *field = value; return nil })
	}
	text("benchmark", o.benchmark, &v.BenchmarkCommand)
	text("format", o.format, &v.BenchmarkFormat)
	text("metric", o.metric, &v.PrimaryMetric)
	text("regex", o.regex, &v.SI.Benchmark.Regex)
	text("setup", o.setup, &v.SI.Setup)
	text("selection", o.selection, &v.SI.Measure.Selection)
	set("no-canary", func() error {
		v.SI.Measure.CanaryEvery = 0
		if o.noCanary {
			v.SI.Measure.CanaryEvery = -1
		}
		return nil
	})
	set("format", func() error { return oneOf("format", o.format, track.Formats()) })
	set("selection", func() error { return oneOf("selection", o.selection, []string{"", "duel", "seed"}) })
	set("direction", func() error {
		v.BenchmarkDirection = track.Direction(o.direction)
		return oneOf("direction", o.direction, []string{string(track.HigherIsBetter), string(track.LowerIsBetter)})
	})
	set("sealed", func() error { v.SealedFiles = o.sealed; return nil })
	set("result-file", func() error { v.SI.Benchmark.ResultFiles = o.resultFiles; return nil })
	set("result-fd", func() error { v.SI.Benchmark.ResultFD = o.resultFD; return nil })
	set("agents", func() error { v.NumberOfAgents = o.agentsN; return positive("agents", o.agentsN) })
	set("max-iterations", func() error { v.MaxIterations = o.rounds; return positive("max-iterations", o.rounds) })
	set("circuit-breaker", func() error { v.CircuitBreakerThreshold = o.breaker; return positive("circuit-breaker", o.breaker) })
	set("seed", func() error { v.SI.Seed = o.seed; return nil })
	set("target", func() (err error) { v.TargetValue, err = targetIn(o.target); return err })
	set("agent", func() error { v.SI.Agents.Default = o.agents.agent; return nil })
	set("agent-for", func() error { v.SI.Agents.Roles = o.agents.agentFor; return nil })
	set("guard", func() (err error) { v.SI.Guards, err = guardOptions(o.guards); return err })
	set("link", func() error { v.SI.Links = linkOptions(o.links); return nil })
	set("plateau-threshold", func() error {
		t, err := track.ParseThreshold(o.plateau)
		if err != nil {
			return usagef("--plateau-threshold: %w", err)
		}
		v.PlateauThreshold = t
		return nil
	})
	return changed, err
}

// oneOf refuses a flag's value that is none of those it can have.
func oneOf(flag, value string, values []string) error {
	if slices.Contains(values, value) {
		return nil
	}
	return usagef("--%s %q is none of %s", flag, value, strings.Join(slices.DeleteFunc(slices.Clone(values), func(v string) bool { return v == "" }), ", "))
}

func positive(flag string, n int) error {
	if n < 1 {
		return usagef("--%s %d: at least 1 is needed", flag, n)
	}
	return nil
}

// noTarget is how a goal says that there is no number to reach.
const noTarget = "as far as it goes"

// targetIn reads a target: a number, or nothing for as far as it goes.
func targetIn(text string) (*float64, error) {
	text = strings.TrimSpace(text)
	if text == "" || text == noTarget {
		return nil, nil
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
		return nil, usagef("--target %q is no finite number; leave it out for %q", text, noTarget)
	}
	return &n, nil
}

// guardOptions reads "metric: <= +5%" as a bound and anything else as a command.
func guardOptions(texts []string) ([]track.GuardOption, error) {
	var out []track.GuardOption
	for _, t := range texts {
		metric, bound, ok := strings.Cut(t, ": ")
		if !ok || strings.ContainsAny(metric, " \t") {
			out = append(out, track.GuardOption{Command: t})
			continue
		}
		if _, err := benchmark.ParseBound(bound); err != nil {
			return nil, usagef("--guard %q: %w", t, err)
		}
		out = append(out, track.GuardOption{Metric: metric, Bound: strings.TrimSpace(bound)})
	}
	return out, nil
}

func linkOptions(texts []string) []track.LinkOption {
	var out []track.LinkOption
	for _, t := range texts {
		path, mode, _ := strings.Cut(t, ":")
		out = append(out, track.LinkOption{Path: path, Mode: mode})
	}
	return out
}
