package cmd

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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
	noCanary    bool
	resultFD    bool
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
	open        *bool
}

func newInit(w World, place *placeFlags) *cobra.Command {
	o := &initOptions{world: w, place: place}
	c := &cobra.Command{
		Use:   "init",
		Short: "set up a track: goal, benchmark, rules",
		Long: `Set up a track for the repository you are in. si runs the benchmark on the
unchanged repository, in a workspace of its own, at least three times, and records
its score and its noise. Nothing is written before --trust.

On a terminal, and without flags that answer anything, si asks instead: what it
finds in the repository is offered, and the benchmark's runs are shown.`,
		Example: `  si init --trust --objective "Make the parser faster" --metric ops_per_s \
          --scope 'internal/parser/**' --benchmark 'go run ./bench' --sealed bench/`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return o.run(c.Context()) },
	}
	o.flags = c.Flags()
	o.addGoalFlags(o.flags)
	o.addBenchmarkFlags(o.flags)
	o.agents.add(c)
	o.open = addNoSandbox(o.flags)
	return c
}

func (o *initOptions) run(ctx context.Context) error {
	if o.interactive() {
		return o.interview(ctx)
	}
	p, err := o.place.open(ctx, o.world, true)
	if err != nil {
		return err
	}
	defer p.close()
	answers, err := o.answers(ctx, p)
	if err != nil {
		return err
	}
	cfg, err := p.loopConfig(ctx, o.world, o.agents, *o.open)
	if err != nil {
		return err
	}
	return setUp(ctx, o.world, cfg, answers)
}

// setUp closes the gates and says what was found.
func setUp(ctx context.Context, w World, cfg loop.Config, answers loop.SetUp) error {
	answers.Tell = func(e loop.SetUpEvent) { _, _ = fmt.Fprintf(w.Stdout, "  %s\n", e.Text) }
	ctx, done := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer done()
	if err := loop.Prepare(ctx, cfg, answers); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("the set-up was %w; nothing that runs was left, start it again", loop.ErrInterrupted)
		}
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
		Objective: o.objective, Metric: firstText(o.metric, "primary"), Target: firstText(o.target, noTarget),
		InScope: o.scope, OutScope: o.outOfScope,
	}, nil
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
