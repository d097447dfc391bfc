package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"si/tui"
	"si/tui/feed"
	"si/tui/screen"

	"si/track"
)

type replayOptions struct {
	screenFlags
	round int
	speed float64
}

func newReplay(w World, place *placeFlags) *cobra.Command {
	o := &replayOptions{}
	c := &cobra.Command{
		Use:   "replay",
		Short: "play what happened on this track again, on the screen",
		Long: `Play the journal of this track again on the full screen, with the clock of the
loop: faster, slower, round by round. Waits are shortened. Without a terminal, or
with --no-tui, all events are printed at once.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return replay(c.Context(), w, place, *o) },
	}
	o.add(c.Flags())
	c.Flags().IntVar(&o.round, "round", 0, "begin with this round (default: the begin of the journal)")
	c.Flags().Float64Var(&o.speed, "speed", 1, "seconds of the loop in one second")
	return c
}

func replay(ctx context.Context, w World, f *placeFlags, o replayOptions) error {
	speeds := feed.Speeds()
	if o.speed < speeds[0] || o.speed > speeds[len(speeds)-1] {
		return usagef("--speed %g: want %g to %g", o.speed, speeds[0], speeds[len(speeds)-1])
	}
	p, err := opened(ctx, w, f, false)
	if err != nil {
		return err
	}
	defer p.close()
	if !o.full(w) {
		return printJournal(w, p.paths, o)
	}
	r, err := feed.NewReplay(p.paths, w.Now, o.round, o.speed)
	if errors.Is(err, os.ErrNotExist) {
		return errNothingPlayed
	}
	if err != nil {
		return err
	}
	defer r.Close()
	so := p.screenOptions(w, o.screenFlags)
	so.Feed, so.Replay = r, r
	m, err := showScreen(ctx, w, so)
	if err != nil || m.Left() == screen.Stuck {
		return silently(err)
	}
	return nil
}

// errNothingPlayed says that there is no journal.
var errNothingPlayed = errors.New("nothing has happened on this track yet; 'si run' starts it")

func printJournal(w World, paths track.Paths, o replayOptions) error {
	render := tui.NewPlain(w.Stdout).Event
	if o.json {
		render = tui.NewJSON(w.Stdout).Event
	}
	any := false
	for e, err := range track.ReadJournal(paths.JournalPath()) {
		if err != nil {
			return fmt.Errorf("play the journal: %w", err)
		}
		if e.Round >= o.round || any {
			any = true
			render(e)
		}
	}
	if !any {
		return errNothingPlayed
	}
	return nil
}
