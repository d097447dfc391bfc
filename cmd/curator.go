package cmd

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"si/internal/clean"
	"si/learn/skills"
	"si/track"
)

func newCurator(w World, place *placeFlags) *cobra.Command {
	c := &cobra.Command{
		Use:   "curator",
		Short: "age the skills that agents wrote",
		Long: `A skill that the reviewer wrote and nobody used for 30 days becomes stale, after 90
days it goes to the archive; any use makes it active again. Skills of yours, pinned
ones, and those of others are never touched. A pass is due every 168 hours, when
nobody worked with the library for two hours, and runs at the end of a run. Before
it, the library is backed up; the newest five backups are kept. The days and hours
are settings of the track, under si.skills.`,
		Args: noArgs, RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newCuratorRun(w, place), newCuratorPlan(w, place), newCuratorStatus(w, place), newCuratorRollback(w, place))
	return c
}

// curatorOf is the curator that the track's settings want.
func curatorOf(s *skillPlace) (*skills.Curator, error) {
	settings, err := track.LoadSettings(s.track.paths)
	if err != nil {
		return nil, err
	}
	o := settings.Value.SI.Skills
	return skills.NewCurator(s.Library, skills.Aging{StaleDays: o.StaleDays, ArchiveDays: o.ArchiveDays, IntervalHours: o.IntervalHours, IdleHours: o.IdleHours}), nil
}

// withCurator opens the library and its curator.
func withCurator(ctx context.Context, w World, f *placeFlags, use func(*skillPlace, *skills.Curator) error) error {
	return withSkills(ctx, w, f, func(s *skillPlace) error {
		curator, err := curatorOf(s)
		if err != nil {
			return err
		}
		return use(s, curator)
	})
}

func newCuratorRun(w World, place *placeFlags) *cobra.Command {
	c := &cobra.Command{Use: "run", Short: "make a pass now", Args: noArgs, Long: "Makes a backup, then the moves that 'si curator plan' lists. Without a move nothing is written but the time."}
	asJSON := jsonFlag(c)
	dry := c.Flags().Bool("dry-run", false, "only say what would be done")
	c.RunE = func(c *cobra.Command, _ []string) error {
		return withCurator(c.Context(), w, place, func(s *skillPlace, curator *skills.Curator) error {
			if *dry {
				return showPlan(w, curator, *asJSON)
			}
			return runPass(c.Context(), w, s, curator, *asJSON)
		})
	}
	return c
}

func runPass(ctx context.Context, w World, s *skillPlace, curator *skills.Curator, asJSON bool) error {
	if err := s.track.hideState(ctx); err != nil {
		return err
	}
	r, err := curator.Run(ctx)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(w.Stdout, r)
	}
	if err := printMoves(w.Stdout, r.Moves); err != nil {
		return err
	}
	if r.Backup == "" {
		return nil
	}
	_, err = fmt.Fprintf(w.Stdout, "backup %s; 'si curator rollback' undoes the pass\n", r.Backup)
	return err
}

func newCuratorPlan(w World, place *placeFlags) *cobra.Command {
	c := &cobra.Command{Use: "plan", Short: "say what a pass would do now", Args: noArgs}
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return withCurator(c.Context(), w, place, func(_ *skillPlace, curator *skills.Curator) error { return showPlan(w, curator, *asJSON) })
	}
	return c
}

func showPlan(w World, curator *skills.Curator, asJSON bool) error {
	moves, err := curator.Plan()
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(w.Stdout, moves)
	}
	return printMoves(w.Stdout, moves)
}

func printMoves(out io.Writer, moves []skills.Move) error {
	if len(moves) == 0 {
		_, err := fmt.Fprintln(out, "nothing to do")
		return err
	}
	tw := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	_, _ = fmt.Fprintln(tw, "SKILL\tFROM\tTO\tIDLE") // Flush reports
	for _, m := range moves {
		_, _ = fmt.Fprintf(tw, "%s\t%s\t%s\t%.0f days\n", m.Name, m.From, m.To, m.IdleDays)
	}
	return tw.Flush()
}

func newCuratorStatus(w World, place *placeFlags) *cobra.Command {
	c := &cobra.Command{Use: "status", Short: "say when the last pass was, when the next is due, and what backups there are", Args: noArgs}
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return withCurator(c.Context(), w, place, func(_ *skillPlace, curator *skills.Curator) error {
			st, err := curator.Status()
			if err != nil {
				return err
			}
			if *asJSON {
				return printJSON(w.Stdout, st)
			}
			return printCurator(w.Stdout, st)
		})
	}
	return c
}

func printCurator(out io.Writer, s skills.Status) error {
	tw := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	line := func(key, format string, args ...any) {
		_, _ = fmt.Fprintf(tw, "%s\t%s\n", key, clean.Line(fmt.Sprintf(format, args...), 300)) // Flush reports
	}
	line("Skills:", "%d active, %d stale, %d archived; %d can be aged", s.Skills[skills.Active], s.Skills[skills.Stale], s.Skills[skills.Archived], s.Curatable)
	line("Last pass:", "%s", minute(s.LastPass))
	due := minute(s.DueAt)
	switch {
	case s.DueAt == nil:
		due = "not before the library was used"
	case s.Due:
		due += ", which is now"
	}
	line("Next pass:", "%s", due)
	line("Last activity:", "%s", minute(s.LastActive))
	if s.Result != nil {
		line("Last result:", "%d moves", len(s.Result.Moves))
	}
	for _, b := range s.Backups {
		line("Backup:", "%s, %d KB", b.Name, (b.Size+1023)/1024)
	}
	for _, r := range s.Replaced {
		line("Replaced:", "%s, which a rollback left; remove it when you do not need it", r)
	}
	for _, warning := range s.Warnings {
		line("Warning:", "%s", warning)
	}
	return tw.Flush()
}

func minute(t *time.Time) string {
	if t == nil {
		return "never"
	}
	return t.Local().Format("2006-01-02 15:04")
}

func newCuratorRollback(w World, place *placeFlags) *cobra.Command {
	c := &cobra.Command{
		Use: "rollback [BACKUP]", Short: "put a backup in the place of the library", Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("rollback takes at most one backup; see '%s --help'", c.CommandPath())
			}
			return nil
		},
		Long: "Without BACKUP, the newest one. The library that it replaces is kept beside it. 'si curator status' lists the backups.",
	}
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		return withCurator(c.Context(), w, place, func(_ *skillPlace, curator *skills.Curator) error {
			name := ""
			if len(args) == 1 {
				name = args[0]
			}
			b, kept, err := curator.Rollback(c.Context(), name)
			if err != nil {
				return err
			}
			if *asJSON {
				return printJSON(w.Stdout, map[string]any{"backup": b, "kept": kept})
			}
			_, err = fmt.Fprintf(w.Stdout, "the library is that of %s again; what it replaced is kept in %s\n", b.Name, kept)
			return err
		})
	}
	return c
}
