package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"si/gitops"
	"si/internal/proc"
	"si/loop"
	"si/templates"
	"si/track"
)

type demoOptions struct {
	world  World
	dir    string
	how    screenFlags
	args   []string // flags for the loop of a screen
	seed   uint64
	rounds int
	agents agentFlags
	open   *bool
}

func newDemo(w World, _ *placeFlags) *cobra.Command {
	o := &demoOptions{world: w}
	c := &cobra.Command{
		Use:   "demo [FOLDER]",
		Short: "improve a small repository with the built-in tuner, to see how it goes",
		Long: `Unpack the demonstration repository into FOLDER (default: a new folder in the
temporary folder), set up a track and run the loop on it: a small key-value store
in Go whose constants are badly chosen. It needs go and git, no network, no key.`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("%s takes one folder at most; see '%s --help'", c.CommandPath(), c.CommandPath())
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.dir = args[0]
			}
			o.args = flagArgs(c.Flags(), func(name string) bool { return name == "agent" || name == "agent-for" || name == "no-sandbox" })
			return o.run(c.Context())
		},
	}
	o.how.add(c.Flags())
	c.Flags().Uint64Var(&o.seed, "seed", 1, "seed of every random order")
	c.Flags().IntVar(&o.rounds, "max-iterations", 0, "rounds at most (default: the demo's)")
	o.agents.add(c)
	o.open = addNoSandbox(c.Flags())
	return c
}

func (o *demoOptions) run(ctx context.Context) error {
	if o.rounds < 0 {
		return usagef("--max-iterations %d: at least 1 is needed", o.rounds)
	}
	dir, err := o.unpack(ctx)
	if err != nil {
		return err
	}
	p, err := (&placeFlags{repo: dir}).open(ctx, o.world, true)
	if err != nil {
		return err
	}
	defer p.close()
	answers, err := o.answers(p)
	if err != nil {
		return err
	}
	cfg, err := p.loopConfig(ctx, o.world, o.agents, *o.open)
	if err != nil {
		return err
	}
	if !o.how.json {
		if _, err := fmt.Fprintf(o.world.Stdout, "demo repository: %s\n", p.repo.Toplevel()); err != nil {
			return err
		}
	}
	setUpWorld := o.world
	if o.how.json {
		setUpWorld.Stdout = o.world.Stderr
	}
	if err := setUp(ctx, setUpWorld, cfg, answers); err != nil {
		return err
	}
	if o.how.full(o.world) {
		return watchOwn(ctx, o.world, p, o.how, append([]string{"--repo=" + dir}, o.args...))
	}
	return runLoop(ctx, o.world, cfg, o.how.json)
}

// unpack writes the demo's files into a folder that is empty or new and makes
// it a repository.
func (o *demoOptions) unpack(ctx context.Context) (string, error) {
	dir, err := o.folder()
	if err != nil {
		return "", err
	}
	for _, f := range templates.Demo().Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return "", fmt.Errorf("unpack the demo: %w", err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			return "", fmt.Errorf("unpack the demo: %w", err)
		}
	}
	_, err = gitops.Initial(ctx, dir, proc.New(proc.Options{Self: o.world.Self, Mark: "si-demo"}))
	return dir, err
}

func (o *demoOptions) folder() (string, error) {
	if o.dir == "" {
		dir, err := os.MkdirTemp("", "si-demo-")
		if err != nil {
			return "", fmt.Errorf("make a folder for the demo: %w", err)
		}
		return filepath.EvalSymlinks(dir)
	}
	dir := o.dir
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(o.world.WorkDir, dir)
	}
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return dir, os.MkdirAll(dir, 0o755)
	case err != nil:
		return "", fmt.Errorf("look at the folder for the demo: %w", err)
	case len(entries) > 0:
		return "", usagef("%s is not empty; name a new folder for the demo", dir)
	}
	return dir, nil
}

// answers are the demo's own answers to the questions of the set-up.
func (o *demoOptions) answers(p *place) (loop.SetUp, error) {
	facts := templates.DemoSetup()
	settings, err := track.LoadSettings(p.paths)
	if err != nil {
		return loop.SetUp{}, err
	}
	v := settings.Value
	v.TargetBranch, v.BenchmarkCommand, v.BenchmarkFormat = "main", facts.Benchmark, facts.Format
	v.BenchmarkDirection, v.PrimaryMetric = track.Direction(facts.Direction), facts.Metric
	v.SealedFiles, v.MaxIterations = facts.Sealed, facts.MaxIterations
	v.SI.Seed, v.SI.Setup = o.seed, facts.Setup
	if v.SI.Guards, err = guardOptions(facts.Guards); err != nil {
		return loop.SetUp{}, err
	}
	if o.rounds > 0 {
		v.MaxIterations = o.rounds
	}
	return loop.SetUp{
		Trust: true, // the code is ours
		Goal: &loop.GoalAnswer{
			Objective: facts.Objective, Metric: facts.Metric, Target: facts.Target, InScope: facts.InScope, OutScope: facts.OutScope,
		},
		Settings: &v,
	}, nil
}
