package cmd

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"si/internal/clean"
	"si/track"
	"si/tui"
)

func newWhy(w World, place *placeFlags) *cobra.Command {
	return &cobra.Command{
		Use: "why CANDIDATE", Short: "say why a candidate was kept or refused, with every run",
		Long: "CANDIDATE is a plan id (round_3_planner_b), round_3_executor_b, or a commit.",
		Args: oneArg("a candidate"),
		RunE: func(c *cobra.Command, args []string) error { return whyCandidate(c.Context(), w, place, args[0]) },
	}
}

func whyCandidate(ctx context.Context, w World, f *placeFlags, name string) error {
	p, err := opened(ctx, w, f, false)
	if err != nil {
		return err
	}
	defer p.close()
	h, item, err := findCandidate(p.paths, name)
	if err != nil {
		return err
	}
	if err := printCandidate(w.Stdout, h, item); err != nil {
		return err
	}
	return printRuns(w.Stdout, p.paths, h.Iteration, executorName(item))
}

func printCandidate(out io.Writer, h track.History, item track.HistoryItem) error {
	_, err := fmt.Fprintf(out, "%s (%s): %s\n", item.PlanID, item.ApproachFamily, clean.Text([]byte(item.Hypothesis)))
	if err != nil {
		return err
	}
	if item.SI != nil {
		_, err = fmt.Fprintf(out, "commit %s, kept as %s\nverdict: %s\n", shortID(item.SI.Commit), item.SI.Ref, firstText(clean.Text([]byte(item.SI.Verdict)), "never judged"))
		if err == nil && item.SI.Effect != nil {
			_, err = fmt.Fprintf(out, "effect: %s%s\n", tui.EffectText(item.SI.Effect), pText(item.SI.Effect))
		}
	}
	if a := item.FailureAnalysis; err == nil && a != nil {
		_, err = fmt.Fprintf(out, "what: %s\nwhy: %s\ncategory: %s\nlesson: %s\n",
			clean.Text([]byte(a.What)), clean.Text([]byte(a.Why)), a.Category, clean.Text([]byte(a.Lesson)))
	}
	if err == nil && h.BaselineScore != nil {
		_, err = fmt.Fprintf(out, "the champion of the round began at %s\n", tui.Score(*h.BaselineScore))
	}
	return err
}

func pText(e *track.Effect) string {
	if e.P == nil {
		return ""
	}
	return fmt.Sprintf(", p = %.3g, %d runs", *e.P, e.Runs)
}

// printRuns prints the runs that had a part in the decision, in their order.
func printRuns(out io.Writer, paths track.Paths, round int, executor string) error {
	plain := tui.NewPlain(out)
	for ev, err := range track.ReadJournal(paths.JournalPath()) {
		if err != nil {
			return err
		}
		if ev.Round != round || !concerns(ev, executor) {
			continue
		}
		plain.Event(ev)
	}
	return nil
}

func concerns(ev track.Event, executor string) bool {
	switch ev.Ev { //nolint:exhaustive // the kinds that decide
	case track.EvMeasured:
		var s track.Sample
		return ev.Decode(&s) == nil && (s.Subject == executor || s.Key == "screen/champion" || tui.OfDuel(s.Key, executor))
	case track.EvVerdict:
		var v track.VerdictEvent
		return ev.Decode(&v) == nil && v.Executor == executor
	case track.EvGuard:
		var g track.GuardEvent
		return ev.Decode(&g) == nil && g.Subject == executor
	}
	return false
}

func shortID(commit string) string {
	if commit == "" {
		return "none"
	}
	return commit[:min(10, len(commit))]
}

// maxPatch bounds what `si diff` prints, in bytes.
const maxPatch = 16 << 20

func newDiff(w World, place *placeFlags) *cobra.Command {
	return &cobra.Command{
		Use: "diff CANDIDATE", Short: "print what a candidate changed",
		Long: "CANDIDATE is a plan id (round_3_planner_b), round_3_executor_b, or a commit.",
		Args: oneArg("a candidate"),
		RunE: func(c *cobra.Command, args []string) error { return diff(c.Context(), w, place, args[0]) },
	}
}

func diff(ctx context.Context, w World, f *placeFlags, name string) error {
	p, err := opened(ctx, w, f, true)
	if err != nil {
		return err
	}
	defer p.close()
	h, item, err := findCandidate(p.paths, name)
	if err != nil {
		return err
	}
	if item.SI == nil || item.SI.Commit == "" {
		return fmt.Errorf("%s made no commit: %s", item.PlanID, why(item))
	}
	patch, cut, err := p.repo.Patch(ctx, h.SI.Base, item.SI.Commit, maxPatch)
	if err != nil {
		return err
	}
	// An agent wrote what is in the patch.
	if _, err := io.WriteString(w.Stdout, clean.Text(patch)); err != nil {
		return err
	}
	if cut {
		_, err = fmt.Fprintf(w.Stderr, "si: the patch was cut at %d bytes; 'git diff %s %s' has it whole\n", maxPatch, shortID(h.SI.Base), shortID(item.SI.Commit))
	}
	return err
}
