package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"si/track"
	"si/tui"
	"si/tui/feed"
	"si/tui/screen"
)

// screenFlags choose how a loop is shown.
type screenFlags struct {
	noTUI bool
	json  bool
	ascii bool
}

func (f *screenFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&f.noTUI, "no-tui", false, "print one line for each thing that happens, also on a terminal")
	flags.BoolVar(&f.json, "json", false, "print the journal's events as JSON, one object a line")
	flags.BoolVar(&f.ascii, "ascii", false, "draw the screen without box characters and braille")
}

// full says whether the full screen is shown.
func (f screenFlags) full(w World) bool {
	return !f.noTUI && !f.json && screen.Fits(w.Stdin, w.Stdout, w.env("TERM"))
}

func newWatch(w World, place *placeFlags) *cobra.Command {
	f := &screenFlags{}
	c := &cobra.Command{
		Use:   "watch",
		Short: "watch the loop that runs on this track",
		Long: `Watch the loop that runs on this track, in whichever process or terminal it was
started, and steer it. Leaving the screen leaves the loop running. Without a
terminal, or with --no-tui, its events are printed until it ends.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return watch(c.Context(), w, place, *f) },
	}
	f.add(c.Flags())
	return c
}

func watch(ctx context.Context, w World, f *placeFlags, how screenFlags) error {
	p, err := opened(ctx, w, f, false)
	if err != nil {
		return err
	}
	defer p.close()
	follow := feed.NewFollow(p.paths, w.Now)
	defer follow.Close()
	if !how.full(w) {
		return printNews(ctx, w, follow, how.json)
	}
	o := p.screenOptions(w, how)
	o.Feed, o.Steer = follow, steering{w, p}
	m, err := showScreen(ctx, w, o)
	if err != nil || m.Left() == screen.Stuck {
		return silently(err)
	}
	if !m.Ended() {
		return runsOn(w)
	}
	return nil
}

func (p *place) screenOptions(w World, how screenFlags) screen.Options {
	return screen.Options{Diff: p.differ(), ASCII: how.ascii || coarseTerminal(w), Dark: true, Now: w.Now}
}

// coarseTerminal tells whether the terminal can be expected to know no box
// characters or braille: by its name, or by a locale that is not UTF-8.
func coarseTerminal(w World) bool {
	switch name := w.env("TERM"); {
	case name == "linux", strings.HasPrefix(name, "vt1"), strings.HasPrefix(name, "vt2"):
		return true
	}
	locale := strings.ToLower(firstText(w.env("LC_ALL"), w.env("LC_CTYPE"), w.env("LANG")))
	return locale != "" && !strings.Contains(locale, "utf-8") && !strings.Contains(locale, "utf8")
}

// showScreen shows the screen, with the signals of this process handed to it.
func showScreen(ctx context.Context, w World, o screen.Options) (*screen.Model, error) {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	in, out, err := terminalOf(w)
	if err != nil {
		return nil, err
	}
	return screen.Run(ctx, screen.Terminal{In: in, Out: out, Env: os.Environ(), Signals: signals}, o)
}

func terminalOf(w World) (in, out *os.File, err error) {
	in, inOK := w.Stdin.(*os.File)
	out, outOK := w.Stdout.(*os.File)
	if !inOK || !outOK {
		return nil, nil, errors.New("show the screen: standard input and output are no terminal; use --no-tui")
	}
	return in, out, nil
}

// silently is err, or an end without a word: a terminal that is stuck takes none.
func silently(err error) error {
	if err == nil {
		return errSilent
	}
	return err
}

func runsOn(w World) error {
	_, err := fmt.Fprintln(w.Stdout, "the loop runs on: 'si watch' shows it, 'si stop' stops it after what runs then")
	return err
}

// printNews prints the events of the last run, and what comes until it ends.
func printNews(ctx context.Context, w World, follow *feed.Follow, asJSON bool) error {
	render := tui.NewPlain(w.Stdout).Event
	if asJSON {
		render = tui.NewJSON(w.Stdout).Event
	}
	var past []track.Event
	for more := true; more; {
		b := follow.Read()
		if b.Err != nil {
			return b.Err
		}
		for _, e := range b.Events {
			if e.Ev == track.EvRunStarted {
				past = past[:0]
			}
			past = append(past, e)
		}
		more = b.More
	}
	for _, e := range past {
		render(e)
		if s, ok := endOf(e); ok && !asJSON {
			return tui.Summary(w.Stdout, s)
		}
	}
	return printNext(ctx, w, follow, render, asJSON)
}

func printNext(ctx context.Context, w World, follow *feed.Follow, render func(track.Event), asJSON bool) error {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		b := follow.Read()
		for _, e := range b.Events {
			render(e)
			if s, ok := endOf(e); ok && !asJSON {
				return tui.Summary(w.Stdout, s)
			}
		}
		if b.Err != nil || !b.Alive {
			return b.Err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

func endOf(e track.Event) (track.Summary, bool) {
	var s track.Summary
	return s, e.Ev == track.EvRunEnded && e.Decode(&s) == nil
}
