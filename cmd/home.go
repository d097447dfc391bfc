package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"si/gitops"
	"si/track"
	"si/tui/interview"
)

// home is what `si` without a command does: what a person most likely wants next.
type home struct {
	world World
	place *placeFlags
	flags *pflag.FlagSet
	how   screenFlags
}

func runHome(w World, place *placeFlags) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, _ []string) error {
		h := home{world: w, place: place, flags: c.Flags()}
		err := h.run(c.Context())
		if errors.Is(err, gitops.ErrNotRepository) && place.repo == "" {
			return c.Help() // there is nothing here to do anything with
		}
		return err
	}
}

func (h home) run(ctx context.Context) error {
	p, err := h.place.open(ctx, h.world, true)
	if err != nil {
		return err
	}
	defer p.close()
	progress, err := track.LoadProgress(p.paths)
	if err != nil {
		return err
	}
	if !h.how.full(h.world) {
		return h.tell(p, progress.Exists)
	}
	r, err := readStatus(p.paths)
	if err != nil {
		return err
	}
	switch {
	case r.Running && r.Holder.Command != "si init":
		return watch(ctx, h.world, h.place, h.how)
	case len(r.Missing) > 0:
		return h.setUp(ctx, p)
	}
	return h.goOn(ctx, p, r)
}

// tell prints the state and the next command.
func (h home) tell(p *place, set bool) error {
	if !set {
		_, err := fmt.Fprintf(h.world.Stdout, "no track in %s yet\nnext: 'si init' on a terminal asks what is needed; 'si init --help' has the flags\n", p.repo.Toplevel())
		return err
	}
	r, err := readStatus(p.paths)
	if err != nil {
		return err
	}
	return printStatus(h.world.Stdout, p.paths, r)
}

func (h home) setUp(ctx context.Context, p *place) error {
	return setUpAndStart(ctx, interviewer{world: h.world, place: p, ascii: h.how.ascii}, h.start)
}

// setUpAndStart holds an interview, and starts the loop where the person says so.
func setUpAndStart(ctx context.Context, i interviewer, start func(context.Context, bool) error) error {
	out, err := i.hold(ctx)
	switch {
	case err != nil:
		return err
	case out.Start:
		return start(ctx, false)
	case out.Finished:
		_, err := fmt.Fprintln(i.world.Stdout, "set up; 'si run' starts the loop")
		return err
	}
	return unfinished(i.place, out)
}

// goOn asks about a track that is set up, where there is something to ask.
func (h home) goOn(ctx context.Context, p *place, r statusReport) error {
	switch r.Status {
	case track.StatusRunning: // it crashed: carry on without asking
		return h.start(ctx, false)
	case track.StatusUserStopped:
		return h.asked(ctx, p, r, fmt.Sprintf("Stopped at iteration %d; resume?", r.Iterations), "Resume", true)
	case track.StatusIdle, track.StatusFailed:
		return h.asked(ctx, p, r, "Start the loop?", "Start", false)
	case track.StatusTargetReached, track.StatusPlateau, track.StatusMaxIterations, track.StatusCircuitBreaker, track.StatusBudget:
	}
	return printStatus(h.world.Stdout, p.paths, r)
}

// asked shows the state and starts the loop when the person says yes.
func (h home) asked(ctx context.Context, p *place, r statusReport, title, yes string, resume bool) error {
	var state bytes.Buffer
	if err := printStatus(&state, p.paths, r); err != nil {
		return err
	}
	t, done, err := terminalFor(h.world)
	if err != nil {
		return err
	}
	ok, err := interview.Ask(ctx, t, interview.Choice{
		Text: state.String(), Title: title, Yes: yes, No: "Not now", Dark: true, ASCII: coarseTerminal(h.world),
	})
	done()
	if err != nil || !ok {
		return err
	}
	return h.start(ctx, resume)
}

// start does what `si run` does.
func (h home) start(ctx context.Context, resume bool) error {
	args := flagArgs(h.flags, func(name string) bool { return placeFlag(name) })
	if resume {
		args = append(args, "--resume")
	}
	off := false
	o := &runOptions{world: h.world, place: h.place, how: h.how, resume: resume, open: &off, args: args}
	return o.run(ctx)
}

// placeFlag says whether a flag names a track.
func placeFlag(name string) bool {
	return name == "repo" || name == "topic" || name == "slug" || name == "session-id"
}

// interactive says whether `si init` is to ask: on a terminal, when no flag
// answers anything.
func (o *initOptions) interactive() bool {
	how := screenFlags{noTUI: false}
	answered := false
	o.flags.Visit(func(f *pflag.Flag) {
		switch f.Name {
		case "agent", "agent-for", "no-sandbox", "target-branch":
		default:
			answered = answered || !placeFlag(f.Name)
		}
	})
	return !answered && how.full(o.world)
}

// interview is `si init` on a terminal.
func (o *initOptions) interview(ctx context.Context) error {
	p, err := o.place.open(ctx, o.world, true)
	if err != nil {
		return err
	}
	defer p.close()
	if holder, held, err := track.LockHolder(p.paths.LockPath()); err == nil && held {
		return &track.LockedError{Path: p.paths.LockPath(), Holder: holder}
	}
	i := interviewer{world: o.world, place: p, agents: o.agents, open: *o.open, branch: o.branch}
	return setUpAndStart(ctx, i, func(ctx context.Context, resume bool) error {
		args := flagArgs(o.flags, func(name string) bool { return placeFlag(name) || name == "no-sandbox" })
		run := &runOptions{world: o.world, place: o.place, resume: resume, open: o.open, args: args}
		return run.run(ctx)
	})
}
