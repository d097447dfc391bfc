package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"si/internal/clean"
	"si/loop"
	"si/track"
	"si/tui"
)

// printJSON prints one indented document.
func printJSON(out io.Writer, v any) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// jsonFlag adds --json.
func jsonFlag(c *cobra.Command) *bool {
	return c.Flags().Bool("json", false, "print JSON")
}

// opened opens the track that a looking command is about, and refuses one that
// was never set up.
func opened(ctx context.Context, w World, f *placeFlags, needRepo bool) (*place, error) {
	p, err := f.open(ctx, w, needRepo)
	if err != nil {
		return nil, err
	}
	progress, err := track.LoadProgress(p.paths)
	if err == nil && !progress.Exists {
		err = fmt.Errorf("%w: there is no track in %s; run 'si init'", loop.ErrNotSetUp, p.paths.Root)
	}
	if err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func newPaths(w World, place *placeFlags) *cobra.Command {
	c := &cobra.Command{Use: "paths", Short: "print where the track's files lie", Args: noArgs}
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		p, err := place.open(c.Context(), w, false)
		if err != nil {
			return err
		}
		defer p.close()
		if *asJSON {
			return printJSON(w.Stdout, p.paths)
		}
		return printPaths(w.Stdout, p.paths)
	}
	return c
}

// printPaths prints the same keys as --json, one a line, in their order.
func printPaths(out io.Writer, p track.Paths) error {
	data, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("list the paths: %w", err)
	}
	var values map[string]any
	if err := json.Unmarshal(data, &values); err != nil {
		return fmt.Errorf("list the paths: %w", err)
	}
	tw := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	for _, key := range track.PathKeys() {
		value := values[key]
		if value == nil {
			value = "-"
		}
		_, _ = fmt.Fprintf(tw, "%s\t%v\n", key, value) // Flush reports
	}
	return tw.Flush()
}

func newStatus(w World, place *placeFlags) *cobra.Command {
	c := &cobra.Command{Use: "status", Short: "say how the track stands", Args: noArgs}
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return status(c.Context(), w, place, *asJSON)
	}
	return c
}

// statusReport is what `si status --json` prints.
type statusReport struct {
	Running bool          `json:"running"`
	Holder  *track.Holder `json:"holder"`
	Step    track.Step    `json:"current_step,omitempty"`
	Round   int           `json:"current_round,omitempty"`
	Missing []string      `json:"missing_gates,omitempty"`
	track.Summary
}

func status(ctx context.Context, w World, f *placeFlags, asJSON bool) error {
	p, err := opened(ctx, w, f, false)
	if err != nil {
		return err
	}
	defer p.close()
	r, err := readStatus(p.paths)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(w.Stdout, r)
	}
	return printStatus(w.Stdout, p.paths, r)
}

func readStatus(paths track.Paths) (statusReport, error) {
	var r statusReport
	var err error
	if r.Summary, err = loop.Survey(paths); err != nil {
		return r, err
	}
	holder, held, err := track.LockHolder(paths.LockPath())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return r, err
	}
	if held {
		r.Running, r.Holder, r.Next = true, &holder, "si stop"
	}
	progress, err := track.LoadProgress(paths)
	if err != nil {
		return r, err
	}
	r.Missing = loop.MissingGates(progress.Value)
	st, err := track.LoadIteration(paths)
	if err == nil && st.Exists && st.Value.Status != track.MarkCompleted {
		r.Step, r.Round = st.Value.CurrentStep, st.Value.Iteration
	}
	return r, err
}

func printStatus(out io.Writer, paths track.Paths, r statusReport) error {
	tw := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	line := func(key, format string, args ...any) {
		_, _ = fmt.Fprintf(tw, "%s\t%s\n", key, clean.Line(fmt.Sprintf(format, args...), 300)) // Flush reports
	}
	line("Track:", "%s (%s)", paths.TopicSlug, paths.Root)
	switch {
	case r.Running:
		line("Status:", "running, %s", r.Holder)
	case r.Status == track.StatusRunning:
		line("Status:", "crashed; 'si run' goes on with it")
	default:
		line("Status:", "%s", r.Status)
	}
	if r.Reason != "" {
		line("Reason:", "%s", r.Reason)
	}
	if len(r.Missing) > 0 {
		line("Missing:", "%v; run 'si init'", r.Missing)
	}
	if r.Round > 0 {
		line("Round:", "%d, step %s", r.Round, r.Step)
	}
	line("Iterations:", "%d", r.Iterations)
	if r.Best != nil && r.Baseline != nil {
		line("Best Score:", "%s (baseline: %s, %s)", tui.Score(*r.Best), tui.Score(*r.Baseline), r.Direction)
	}
	line("Kept:", "%d; refused %d; plans rejected %d; agents left out %d%s", len(r.Kept), len(r.Refused), r.Rejected, r.Skipped, tui.Idle(r.Summary))
	line("Cost:", "%d agent tasks, %d benchmark runs", r.AgentTasks, r.Runs)
	line("Branch:", "%s", r.Branch)
	line("Next:", "%s", r.Next)
	return tw.Flush()
}
