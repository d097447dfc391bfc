package cmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"si/loop"
)

func newPlot(w World, place *placeFlags) *cobra.Command {
	return &cobra.Command{
		Use: "plot", Short: "draw the chart again", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return drawPlot(c.Context(), w, place) },
	}
}

func drawPlot(ctx context.Context, w World, f *placeFlags) error {
	p, err := opened(ctx, w, f, false)
	if err != nil {
		return err
	}
	defer p.close()
	user, err := loadUserConfig(w)
	if err != nil {
		return err
	}
	if err := loop.DrawChart(p.paths.Within(w.Store), p.paths, user.ChartDPI); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w.Stdout, "%s\n%s\n", p.paths.ProgressPath, p.paths.ProgressSVGPath())
	return err
}
