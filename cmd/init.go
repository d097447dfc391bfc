package cmd

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"si/benchmark"
	"si/gitops"
	"si/loop"
	"si/track"
)

type initOptions struct {
	world       World
	place       *placeFlags
	flags       *pflag.FlagSet
	trust       bool
	yes         bool
	acceptNoise bool
	goalFile    string
	harnessFile string
	objective   string
	metric      string
	target      string
	scope       []string
	outOfScope  []string
	benchmark   string
	format      string
	regex       string
	direction   string
	sealed      []string
	guards      []string
	setup       string
	links       []string
	resultFiles []string
	branch      string
	agentsN     int
	rounds      int
	plateau     string
	breaker     int
	selection   string
	seed        uint64
	agents      agentFlags
}

func newInit(w World, place *placeFlags) *cobra.Command {
	o := &initOptions{world: w, place: place}
	c := &cobra.Command{
		Use:   "init",
		Short: "set up a track: goal, benchmark, rules",
		Long: `Set up a track for the repository you are in. si runs the benchmark on the
unchanged repository, in a workspace of its own, at least three times, and records
its score and its noise. Nothing is written before --trust.`,
		Example: `  si init --trust --objective "Make the parser faster" --metric ops_per_s \
          --scope 'internal/parser/**' --benchmark 'go run ./bench' --sealed bench/`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return o.run(c.Context()) },
	}
	o.flags = c.Flags()
	o.addGoalFlags(o.flags)
	o.addBenchmarkFlags(o.flags)
	o.agents.add(c)
	return c
}

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
	f.StringVar(&o.selection, "selection", "", `how winners are chosen: the duel, or "seed" for the original rule`)
	f.BoolVar(&o.acceptNoise, "accept-noise", false, "go on with a benchmark whose runs spread over 5 % or more")
}

func (o *initOptions) run(ctx context.Context) error {
	p, err := o.place.open(ctx, o.world, true)
	if err != nil {
		return err
	}
	defer p.close()
	answers, err := o.answers(ctx, p)
	if err != nil {
		return err
	}
	cfg, err := p.loopConfig(o.world, o.agents)
	if err != nil {
		return err
	}
	return setUp(ctx, o.world, cfg, answers)
}

// setUp closes the gates and says what was found.
func setUp(ctx context.Context, w World, cfg loop.Config, answers loop.SetUp) error {
	answers.Tell = func(e loop.SetUpEvent) { _, _ = fmt.Fprintf(w.Stdout, "  %s\n", e.Text) }
	if err := loop.Prepare(ctx, cfg, answers); err != nil {
		return err
	}
	s, err := loop.Survey(cfg.Paths)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w.Stdout, "set up: track %s, branch %s, baseline %.6g; start with 'si run'\n", cfg.Paths.TopicSlug, s.Branch, *s.Baseline)
	return err
}

// answers turns flags into answers for the gates. Flags that were not given
// leave what is on disk.
func (o *initOptions) answers(ctx context.Context, p *place) (loop.SetUp, error) {
	in := loop.SetUp{Trust: o.trust, AcceptNoise: o.acceptNoise || o.yes}
	var err error
	if in.Goal, err = o.goal(); err != nil {
		return in, err
	}
	if o.harnessFile != "" {
		if in.Harness, err = os.ReadFile(o.harnessFile); err != nil {
			return in, usagef("read --harness-file: %w", err)
		}
	}
	settings, err := track.LoadSettings(p.paths)
	if err != nil {
		return in, err
	}
	v := settings.Value
	changed, err := o.apply(&v)
	if err != nil {
		return in, err
	}
	if err := o.startFrom(ctx, p, &v, settings.Exists); err != nil {
		return in, err
	}
	if v.BenchmarkCommand == "" {
		return in, usagef("no benchmark: give the command with --benchmark")
	}
	if !settings.Exists && !o.flags.Changed("sealed") {
		if err := o.proposeSeals(ctx, p, &v, in.Goal); err != nil {
			return in, err
		}
	}
	if changed || !settings.Exists {
		in.Settings = &v
	}
	return in, nil
}

// proposeSeals seals what the benchmark is made of when nobody has said what to
// seal, and says so.
func (o *initOptions) proposeSeals(ctx context.Context, p *place, v *track.Settings, goal *loop.GoalAnswer) error {
	start, err := p.repo.Resolve(ctx, v.TargetBranch)
	if errors.Is(err, gitops.ErrNotFound) {
		return nil // the set-up says so, with what to do
	}
	if err != nil {
		return err
	}
	var scope []string
	if goal != nil {
		scope = goal.InScope
		if goal.File != nil {
			g, _ := track.ParseGoal(goal.File)
			scope = g.InScope
		}
	}
	if v.SealedFiles, err = loop.ProposeSeals(ctx, p.repo, start, v.BenchmarkCommand, scope); err != nil {
		return err
	}
	if len(v.SealedFiles) == 0 {
		v.SealedFiles = []string{}
		return nil
	}
	_, err = fmt.Fprintf(o.world.Stdout, "sealed, since the benchmark names it: %s (choose with --sealed)\n", strings.Join(v.SealedFiles, ", "))
	return err
}

func (o *initOptions) goal() (*loop.GoalAnswer, error) {
	if o.goalFile != "" {
		text, err := os.ReadFile(o.goalFile)
		if err != nil {
			return nil, usagef("read --goal-file: %w", err)
		}
		return &loop.GoalAnswer{File: text}, nil
	}
	if o.objective == "" && len(o.scope) == 0 {
		return nil, nil
	}
	return &loop.GoalAnswer{
		Objective: o.objective, Metric: firstText(o.metric, "primary"), Target: firstText(o.target, "as far as it goes"),
		InScope: o.scope, OutScope: o.outOfScope,
	}, nil
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
	set("direction", func() error { v.BenchmarkDirection = track.Direction(o.direction); return nil })
	set("sealed", func() error { v.SealedFiles = o.sealed; return nil })
	set("result-file", func() error { v.SI.Benchmark.ResultFiles = o.resultFiles; return nil })
	set("agents", func() error { v.NumberOfAgents = o.agentsN; return nil })
	set("max-iterations", func() error { v.MaxIterations = o.rounds; return nil })
	set("circuit-breaker", func() error { v.CircuitBreakerThreshold = o.breaker; return nil })
	set("seed", func() error { v.SI.Seed = o.seed; return nil })
	set("target", func() error { v.TargetValue = numberIn(o.target); return nil })
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

// startFrom fills in what a new track needs: the branch and a seed.
func (o *initOptions) startFrom(ctx context.Context, p *place, v *track.Settings, exists bool) error {
	if o.branch != "" {
		v.TargetBranch = o.branch
	} else if !exists {
		head, err := p.repo.Head(ctx)
		if err != nil {
			return err
		}
		if head.Branch == "" {
			return usagef("HEAD is detached at %.10s; name the branch to improve with --target-branch, or that commit to start from it", head.Commit)
		}
		v.TargetBranch = head.Branch
	}
	if v.SI.Seed == 0 {
		seed, err := randomSeed()
		if err != nil {
			return err
		}
		v.SI.Seed = seed
	}
	return nil
}

func numberIn(text string) *float64 {
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil {
		return nil // words: as far as it goes
	}
	return &n
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

// randomSeed is below 2^53, so that it survives a reader that keeps numbers as
// floats.
func randomSeed() (uint64, error) {
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		return 0, fmt.Errorf("draw a seed: %w", err)
	}
	return binary.LittleEndian.Uint64(b[:]) >> 11, nil
}

// isSetUpError says which errors of opening a repository the user mends before
// anything can start.
func isSetUpError(err error) bool {
	for _, e := range []error{gitops.ErrNotRepository, gitops.ErrBare, gitops.ErrUnborn, gitops.ErrShallow, gitops.ErrOwnership, gitops.ErrOldGit} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
