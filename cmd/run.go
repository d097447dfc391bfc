package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"si/internal/proc"
	"si/internal/sandbox"
	"si/loop"
	"si/track"
	"si/tui"
)

type runOptions struct {
	world  World
	place  *placeFlags
	how    screenFlags
	resume bool
	open   *bool
	agents agentFlags
	args   []string // the flags, for the loop of a screen
}

func newRun(w World, place *placeFlags) *cobra.Command {
	o := &runOptions{world: w, place: place}
	c := &cobra.Command{
		Use:   "run",
		Short: "start the loop, or go on with it",
		Long: `Start the loop, or go on where a crash or a stop left it. On a terminal the loop
runs in the background and the full screen watches it: closing the terminal leaves
it running, and 'si watch' shows it again. Without a terminal, or with --no-tui, it
runs here: one line is printed for each thing that happens; --json prints the
journal's events instead.

SIGINT or SIGTERM stops after what runs now; a second one stops at once. Both
can be resumed.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o.args = flagArgs(c.Flags(), func(name string) bool { return name != "ascii" && name != "no-tui" && name != "json" })
			return o.run(c.Context())
		},
	}
	f := c.Flags()
	o.how.add(f)
	o.open = addNoSandbox(f)
	f.BoolVar(&o.resume, "resume", false, "go on with a run that you stopped")
	o.agents.add(c)
	return c
}

func (o *runOptions) run(ctx context.Context) error {
	p, err := o.place.open(ctx, o.world, true)
	if err != nil {
		return err
	}
	defer p.close()
	if o.how.full(o.world) {
		return watchOwn(ctx, o.world, p, o.how, o.args)
	}
	cfg, err := p.loopConfig(ctx, o.world, o.agents, *o.open)
	if err != nil {
		return err
	}
	cfg.Resume = o.resume
	return runLoop(ctx, o.world, cfg, o.how.json)
}

// runLoop runs a loop under the signal handler and prints its events and its
// summary.
func runLoop(ctx context.Context, w World, cfg loop.Config, asJSON bool) error {
	stops, done := w.stops()
	defer done()
	cfg.Stops = stops
	if asJSON {
		cfg.Listen = append(cfg.Listen, tui.NewJSON(w.Stdout).Event)
	} else {
		cfg.Listen = append(cfg.Listen, tui.NewPlain(w.Stdout).Event)
	}
	summary, err := loop.Run(ctx, cfg)
	if err := printSummary(w, summary, err, asJSON); err != nil {
		return err
	}
	return err
}

func printSummary(w World, s track.Summary, err error, asJSON bool) error {
	if s.Status == "" || asJSON && !errors.Is(err, loop.ErrFinished) { // the JSON log ends with the summary as an event
		return nil
	}
	if asJSON { // one object a line, as the loop's own last event would be
		line, err := json.Marshal(map[string]any{"ev": track.EvRunEnded, "ts": w.Now().UTC(), "data": s})
		if err != nil {
			return fmt.Errorf("encode the summary: %w", err)
		}
		_, err = fmt.Fprintf(w.Stdout, "%s\n", line)
		return err
	}
	if err := tui.Summary(w.Stdout, s); err != nil {
		return fmt.Errorf("print the summary: %w", err)
	}
	return nil
}

// loopConfig is what a loop on this track needs.
func (p *place) loopConfig(ctx context.Context, w World, agents agentFlags, open bool) (loop.Config, error) {
	settings, err := track.LoadSettings(p.paths)
	if err != nil {
		return loop.Config{}, err
	}
	user, err := loadUserConfig(w)
	if err != nil {
		return loop.Config{}, err
	}
	dir, err := p.workDir(w, firstText(settings.Value.SI.WorktreeDir, user.WorktreeDir))
	if err != nil {
		return loop.Config{}, err
	}
	slot, err := w.userDir("XDG_STATE_HOME", ".local/state")
	if err != nil {
		return loop.Config{}, err
	}
	registry := filepath.Join(dir, "children")
	var runner proc.Runner = proc.New(proc.Options{Self: w.Self, Mark: p.mark, Registry: registry})
	box := shut(ctx, w, runner, open, settings.Value, user)
	if box != nil {
		runner = sandbox.Runner{Inner: runner, Sandbox: box}
	}
	who, err := p.cast(w, runner, agents.merge(user.Agents, settings.Value.SI.Agents), dir, box == nil || box.Report().Kind == sandbox.None)
	if err != nil {
		return loop.Config{}, err
	}
	launch, err := launcher(w, runner, settings.Value.SI.Measure.Launcher, dir)
	if err != nil {
		return loop.Config{}, err
	}
	return loop.Config{
		Version: Version, RunID: p.runID, Paths: p.paths, Store: p.paths.Within(w.Store), Repo: p.repo, Runner: runner,
		Sandbox: box, Launch: launch, Agents: who.team, Names: who.names, Folders: who.folders, Env: user.AgentEnv, Judges: who.judges(settings.Value.SI.Learn.Judge),
		Solo: who.solo, Primary: who.primary, TakesMCP: who.mcp, Self: w.Self, Now: w.Now, Lookup: w.Lookup, Secrets: w.Secrets, WorkDir: dir, SlotDir: slot, ChartDPI: user.ChartDPI,
		Sweep: func() (int, error) { return proc.Sweep(p.ofThisTrack, registry) },
	}, nil
}

// cast makes the players of this run.
func (p *place) cast(w World, run proc.Runner, options track.AgentOptions, dir string, open bool) (cast, error) {
	f, err := newFactory(w, run, dir, open)
	if err != nil {
		return cast{}, err
	}
	return buildCast(f, options)
}

func firstText(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
