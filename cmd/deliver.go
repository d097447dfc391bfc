package cmd

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"si/internal/clean"
	"si/loop"
	"si/tui"
)

type deliverOptions struct {
	world World
	place *placeFlags
	json  bool
	open  *bool
	loop.DeliverOptions
}

func newDeliver(w World, place *placeFlags) *cobra.Command {
	o := &deliverOptions{world: w, place: place}
	c := &cobra.Command{
		Use:   "deliver",
		Short: "prepare the result for a reviewer: what is real, clean commits, a report",
		Long: `Measure each kept gain again by leaving it out of the champion (which are real,
which only ride along), make a branch with one clean commit for each gain and its
evidence in the trailer, and write a report in Markdown and as a page that opens
from a file. The improve branch stays as it is. Runs that were taken are not taken
again, so a second delivery is free.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return o.run(c.Context()) },
	}
	f := c.Flags()
	f.BoolVar(&o.NoMeasure, "no-measure", false, "do not run the benchmark; gains keep the figures of their rounds")
	f.BoolVar(&o.OnlyReal, "only-real", false, "leave off what leaving out shows to be worth nothing, and measure the rest")
	f.BoolVar(&o.Learned, "with-learned", false, "put what was learned about the repository into a last commit")
	f.StringVar(&o.Out, "out", "", "folder for the report (default: the track's tracking folder)")
	f.BoolVar(&o.Push, "push", false, "push the branch to origin")
	f.BoolVar(&o.Pull, "pr", false, "push it and open a pull request with gh")
	o.open = addNoSandbox(f)
	f.BoolVar(&o.json, "json", false, "print what was delivered as JSON")
	return c
}

func (o *deliverOptions) run(ctx context.Context) error {
	if o.NoMeasure && o.OnlyReal {
		return usagef("--only-real needs to measure what is real; leave --no-measure out")
	}
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
	lines := o.world.Stdout
	if o.json {
		lines = o.world.Stderr
	}
	cfg.Listen = append(cfg.Listen, tui.NewPlain(lines).Event)
	d, err := loop.Deliver(ctx, cfg, o.DeliverOptions)
	if err != nil {
		return err
	}
	if o.json {
		return printJSON(o.world.Stdout, d)
	}
	return printDelivery(o.world.Stdout, d)
}

func printDelivery(out io.Writer, d loop.Delivery) error {
	tw := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	_, _ = fmt.Fprintln(tw, "\nROUND\tGAIN THEN\tLEFT OUT NOW\tIT IS\tWHAT") // Flush reports
	for _, g := range d.Gains {
		_, _ = fmt.Fprintf(tw, "%d\t%s\t%s\t%s\t%s\n", g.Round, tui.EffectText(&g.Merged.Effect), tui.EffectText(g.LeftOut), g.Worth, clean.Line(g.Hypothesis, 80))
	}
	if d.Whole != nil {
		_, _ = fmt.Fprintf(tw, "\nWhole gain:\t%s, measured afresh\n", tui.EffectText(&d.Whole.Effect))
	}
	_, _ = fmt.Fprintf(tw, "Branch:\t%s at %s\n", d.Branch, shortID(d.Commit))
	_, _ = fmt.Fprintf(tw, "Report:\t%s\n\t%s\n", d.Markdown, d.HTML)
	for _, n := range d.Notes {
		_, _ = fmt.Fprintf(tw, "Note:\t%s\n", clean.Line(n, 500))
	}
	return tw.Flush()
}
