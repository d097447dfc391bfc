package cmd

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"si/internal/clean"
	"si/loop"
	"si/tui"
)

type retroOptions struct {
	world World
	place *placeFlags
	loop.LookBackOptions
	json bool
	open *bool
}

func newRetro(w World, place *placeFlags) *cobra.Command {
	o := &retroOptions{world: w, place: place}
	c := &cobra.Command{
		Use: "retro", Short: "look back on a run and let the repository learn from it", Args: noArgs,
		Long: `A cold agent (the role retrospective), or si by counting where that role is no coding
agent, says what it makes of the run; si checks each wish, asks the policy path by
path, and commits what passes to the improve branch, one commit a change: 'git revert'
undoes it. Changing nothing is a correct outcome, and is recorded with its reasons.

Without --run, the runs that are owed it are looked back on (a crash came before), or
the last one again. The loop does this by itself at the end of each run.

Exit codes: 0 done, also when nothing changed; 1 failed, it is owed still; 2 usage; 3
set-up missing; 4 a loop holds the track.`,
		RunE: func(c *cobra.Command, _ []string) error { return o.run(c.Context()) },
	}
	f := c.Flags()
	f.BoolVar(&o.DryRun, "dry-run", false, "say what would be done, and write nothing")
	f.StringVar(&o.Run, "run", "", "the id of the run, as the journal has it")
	o.open = addNoSandbox(f)
	f.BoolVar(&o.json, "json", false, "print the records as JSON")
	return c
}

func (o *retroOptions) run(ctx context.Context) error {
	p, err := opened(ctx, o.world, o.place, true)
	if err != nil {
		return err
	}
	defer p.close()
	cfg, err := p.loopConfig(ctx, o.world, agentFlags{}, *o.open)
	if err != nil {
		return err
	}
	stops, done := o.world.stops()
	defer done()
	cfg.Stops = stops
	if !o.json {
		cfg.Listen = append(cfg.Listen, tui.NewPlain(o.world.Stderr).Event)
	}
	all, err := loop.LookBack(ctx, cfg, o.LookBackOptions)
	if err != nil {
		return err
	}
	if o.json {
		return printJSON(o.world.Stdout, all)
	}
	for _, one := range all {
		if err := printLookedBack(o.world.Stdout, one, o.DryRun); err != nil {
			return err
		}
	}
	return nil
}

func printLookedBack(out io.Writer, one loop.LookedBack, dry bool) error {
	var b strings.Builder
	verb := map[bool]string{true: "would do", false: "did"}[dry]
	fmt.Fprintf(&b, "run %s: %s", one.Event.Of, one.Event.Outcome)
	if one.Event.Reason != "" {
		fmt.Fprintf(&b, ", %s", one.Event.Reason)
	}
	b.WriteString("\n")
	for _, d := range one.Record.Done {
		fmt.Fprintf(&b, "  %s: %s", verb, d.Text)
		if len(d.From) > 0 {
			fmt.Fprintf(&b, " (from %s)", strings.Join(d.From, ", "))
		}
		if d.Commit != "" {
			fmt.Fprintf(&b, " [%s]", shortID(d.Commit))
		}
		b.WriteString("\n")
	}
	for _, r := range one.Record.Rejected {
		fmt.Fprintf(&b, "  rejected by the %s: %s: %s\n", r.By, r.What, r.Why)
	}
	for _, r := range one.Record.Refused {
		fmt.Fprintf(&b, "  refused: %s: %s\n", r.Path, r.Why)
	}
	for _, id := range one.Record.Proposed {
		fmt.Fprintf(&b, "  waits for you: %s ('si proposals show %s')\n", id, id)
	}
	for _, l := range one.Record.Efficacy {
		fmt.Fprintf(&b, "  efficacy: %s\n", l)
	}
	for _, c := range one.Record.Candidates {
		fmt.Fprintf(&b, "  for next time: %s\n", c)
	}
	for _, n := range one.Record.Notes {
		fmt.Fprintf(&b, "  note: %s\n", n)
	}
	_, err := io.WriteString(out, clean.Text([]byte(b.String())))
	return err
}
