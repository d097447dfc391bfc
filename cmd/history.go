package cmd

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"si/internal/clean"
	"si/track"
	"si/tui"
)

func newHistory(w World, place *placeFlags) *cobra.Command {
	c := &cobra.Command{Use: "history", Short: "list every candidate of every round", Args: noArgs}
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		p, err := opened(c.Context(), w, place, false)
		if err != nil {
			return err
		}
		defer p.close()
		all, err := histories(p.paths)
		if err != nil {
			return err
		}
		if *asJSON {
			if all == nil {
				all = []track.History{} // no round yet is an empty list
			}
			return printJSON(w.Stdout, all)
		}
		return printHistory(w.Stdout, all)
	}
	return c
}

func histories(paths track.Paths) ([]track.History, error) {
	progress, err := track.LoadProgress(paths)
	if err != nil {
		return nil, err
	}
	return track.LoadHistory(paths, progress.Value.Iterations)
}

func printHistory(out io.Writer, all []track.History) error {
	tw := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	_, _ = fmt.Fprintln(tw, "ROUND\tCANDIDATE\tFAMILY\tSCORE\tEFFECT\tKEPT\tWHAT\tWHY") // Flush reports
	for _, h := range all {
		won := map[string]bool{}
		for _, m := range h.SI.Winners {
			won[m.PlanID] = true
		}
		for _, item := range h.Items() {
			kept := "no"
			if won[item.PlanID] || h.Winner != nil && h.Winner.PlanID == item.PlanID {
				kept = "yes"
			}
			_, _ = fmt.Fprintf(tw, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", h.Iteration, executorName(item), item.ApproachFamily,
				scoreText(item.Score), effectText(item), kept, clean.Line(item.Hypothesis, 60), clean.Line(why(item), 90))
		}
		for _, s := range h.SI.RejectedPlans {
			_, _ = fmt.Fprintf(tw, "%d\t%s\t%s\t-\t-\tno\t-\trejected: %s\n", h.Iteration, s.ID, s.Role, clean.Line(s.Reason, 90))
		}
		for _, s := range h.SI.Skipped {
			_, _ = fmt.Fprintf(tw, "%d\t%s\t-\t-\t-\tno\t-\tleft out: %s\n", h.Iteration, s.ID, clean.Line(s.Reason, 90))
		}
		for _, s := range h.SI.Idle {
			_, _ = fmt.Fprintf(tw, "%d\t%s\t-\t-\t-\tno\t-\thas %s\n", h.Iteration, s.ID, clean.Line(s.Reason, 90))
		}
	}
	return tw.Flush()
}

func executorName(item track.HistoryItem) string {
	if item.SI != nil && item.SI.Executor != "" {
		return item.SI.Executor
	}
	return item.PlanID
}

func scoreText(v *float64) string {
	if v == nil {
		return "-"
	}
	return tui.Score(*v)
}

func effectText(item track.HistoryItem) string {
	if item.SI == nil || item.SI.Effect == nil {
		return "-"
	}
	return tui.EffectText(item.SI.Effect)
}

func why(item track.HistoryItem) string {
	if item.SI != nil && item.SI.Verdict != "" {
		return item.SI.Verdict
	}
	if item.FailureAnalysis != nil {
		return string(item.FailureAnalysis.Category) + ": " + item.FailureAnalysis.What
	}
	return ""
}

func newShow(w World, place *placeFlags) *cobra.Command {
	c := &cobra.Command{Use: "show ROUND", Short: "tell all that happened in a round", Args: oneArg("the number of a round")}
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		n, err := strconv.Atoi(args[0])
		if err != nil || n < 0 {
			return usagef("%q is not the number of a round", args[0])
		}
		return show(c.Context(), w, place, n, *asJSON)
	}
	return c
}

func show(ctx context.Context, w World, f *placeFlags, n int, asJSON bool) error {
	p, err := opened(ctx, w, f, false)
	if err != nil {
		return err
	}
	defer p.close()
	found := false
	render := tui.NewPlain(w.Stdout).Event
	if asJSON {
		render = tui.NewJSON(w.Stdout).Event
	}
	for ev, err := range track.ReadJournal(p.paths.JournalPath()) {
		if err != nil {
			return err
		}
		if ev.Round == n && (n > 0 || ev.Ev == track.EvMeasured) {
			found = true
			render(ev)
		}
	}
	if !found {
		return showAdopted(w.Stdout, p.paths, n)
	}
	return nil
}

// showAdopted tells of a round that the seed's tool has played: it kept no
// journal.
func showAdopted(out io.Writer, paths track.Paths, n int) error {
	h, err := track.LoadRound(paths, n)
	if err != nil {
		return err
	}
	if !h.Exists {
		return fmt.Errorf("round %d was not played; 'si history' lists the rounds", n)
	}
	return printHistory(out, []track.History{h.Value})
}

// candidateRef names a candidate: its plan id, or round/executor.
func findCandidate(paths track.Paths, name string) (track.History, track.HistoryItem, error) {
	all, err := histories(paths)
	if err != nil {
		return track.History{}, track.HistoryItem{}, err
	}
	var names []string
	for _, h := range all {
		for _, item := range h.Items() {
			id := fmt.Sprintf("round_%d_%s", h.Iteration, executorName(item))
			if name == item.PlanID || name == id || item.SI != nil && item.SI.Commit != "" && len(name) >= 7 && strings.HasPrefix(item.SI.Commit, name) {
				return h, item, nil
			}
			names = append(names, id)
		}
	}
	last := names[max(0, len(names)-6):]
	return track.History{}, track.HistoryItem{}, fmt.Errorf("no candidate is called %q; the last ones are %s", name, strings.Join(last, ", "))
}
