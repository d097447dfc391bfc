package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"si/internal/clean"
	"si/learn/evidence"
	"si/learn/mistakes"
)

func newMistakes(w World, place *placeFlags) *cobra.Command {
	c := &cobra.Command{
		Use:   "mistakes",
		Short: "what went wrong in the repository, how often, and what would have prevented it",
		Long: `MISTAKES.md at the top of the repository is prose that people edit; si counts in it.
A signature that happened in three distinct runs or commits has earned an entry of
the knowledge store; one that happened twice more, after that entry was delivered,
a rule in the fence of CLAUDE.md or AGENTS.md.`,
		Args: noArgs, RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newMistakesAdd(w, place), newRepeats(w, place), newPromote(w, place), newMistakesList(w, place))
	return c
}

type mistakeOptions struct {
	world World
	place *placeFlags
	mistakes.New
	json bool
}

func newMistakesAdd(w World, place *placeFlags) *cobra.Command {
	o := &mistakeOptions{world: w, place: place}
	c := &cobra.Command{
		Use: "add", Short: "record a mistake", Args: noArgs,
		Long: `Signatures that look like the new one are listed and never merged: a near-synonym
begins a count of its own, so use the old one when it is the same failure.

Exit codes: 0 recorded; 1 refused; 2 usage.`,
		RunE: func(c *cobra.Command, _ []string) error { return o.run(c.Context()) },
	}
	f := c.Flags()
	f.StringVar(&o.Title, "title", "", "what happened, in a few words")
	f.StringVar(&o.What, "what", "", "what happened")
	f.StringVar(&o.Cause, "cause", "", "the root cause")
	f.StringVar(&o.Consequence, "consequence", "", "what it cost")
	f.StringVar(&o.Prevention, "prevention", "", "what would have prevented it")
	f.StringVar(&o.Signature, "signature", "", "its name: lower-case words joined by hyphens")
	f.StringVar(&o.Initiative, "initiative", "", "the track (default: the one of --slug)")
	f.StringVar(&o.Actor, "actor", "human", "the role that made it")
	f.StringVar(&o.Proof, "proof", evidence.NoProof, "what proves it: a finding of the journal (F-12) or a commit")
	f.StringVar(&o.Date, "date", "", "the day, such as 2026-11-03 (default: today)")
	f.StringVar(&o.Commit, "commit", "", "the commit that it happened in")
	f.StringVar(&o.Run, "run-id", "", "the run that it happened in")
	f.BoolVar(&o.json, "json", false, "print JSON")
	return c
}

func (o *mistakeOptions) run(ctx context.Context) error {
	l, err := openLearned(ctx, o.world, o.place)
	if err != nil {
		return err
	}
	defer l.close()
	if o.Initiative == "" {
		o.Initiative = l.track.paths.TopicSlug
	}
	if o.Commit != "" { // its whole id, so that a commit counts once under all its names
		if o.Commit, err = l.track.repo.Resolve(ctx, o.Commit); err != nil {
			return err
		}
	}
	o.At, o.Create = o.world.Now(), true
	added, err := mistakes.Add(ctx, l.Place, o.New)
	if err != nil {
		return err
	}
	if o.json {
		return printJSON(o.world.Stdout, added)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "recorded %s; it was there in %d runs or commits before\n", added.Entry.Signature, added.SeenBefore)
	if len(added.Alike) > 0 {
		fmt.Fprintf(&b, "signatures that look alike: %s; if one of them is the same failure, use it instead, or the count begins anew\n", strings.Join(added.Alike, ", "))
	}
	if added.AfterLaw {
		fmt.Fprintf(&b, "there is a rule against it already: the rule does not work, a mechanism is needed\n")
	}
	_, err = io.WriteString(o.world.Stdout, b.String())
	return err
}

func newRepeats(w World, place *placeFlags) *cobra.Command {
	c := &cobra.Command{
		Use: "repeats", Short: "count the signatures, by distinct runs and commits, and say what each has earned", Args: noArgs,
		Long: "Five entries of one run count once.\n\nExit codes: 0; 1 MISTAKES.md cannot be read.",
	}
	asJSON, branch := jsonFlag(c), readFlag(c)
	threshold := c.Flags().Int("threshold", mistakes.DefaultThreshold, "from how many runs or commits on an entry of the knowledge store is recommended")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if *threshold < 1 {
			return usagef("--threshold wants a positive number")
		}
		l, err := readLearned(c.Context(), w, place, *branch)
		if err != nil {
			return err
		}
		defer l.close()
		all, err := mistakes.Repeats(l.Place, *threshold)
		if err != nil {
			return err
		}
		if *asJSON {
			return printJSON(w.Stdout, all)
		}
		return printRepeats(w.Stdout, all)
	}
	return c
}

func printRepeats(out io.Writer, all []mistakes.Repeat) error {
	if len(all) == 0 {
		_, err := io.WriteString(out, "no mistake is recorded\n")
		return err
	}
	tw := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	_, _ = fmt.Fprintln(tw, "SIGNATURE\tOCCURRENCES\tOPEN\tENTRIES\tSTANDS AS\tEARNED") // Flush reports
	for _, r := range all {
		earned := r.Recommended
		if earned != "" {
			earned += ": " + r.Why
		}
		_, _ = fmt.Fprintf(tw, "%s\t%d\t%d\t%d\t%s\t%s\n", r.Signature, r.Occurrences, r.Open, r.Rows, standing(r), earned)
	}
	return tw.Flush()
}

func standing(r mistakes.Repeat) string {
	switch {
	case r.Rejected:
		return "operator rejected"
	case r.Law:
		return "law"
	case len(r.Knowledge) > 0:
		return strings.Join(r.Knowledge, ", ")
	}
	return "open"
}

func newMistakesList(w World, place *placeFlags) *cobra.Command {
	c := &cobra.Command{Use: "list", Short: "list the entries of MISTAKES.md, and what in it cannot be read", Args: noArgs}
	asJSON, branch := jsonFlag(c), readFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		l, err := readLearned(c.Context(), w, place, *branch)
		if err != nil {
			return err
		}
		defer l.close()
		ledger, err := mistakes.Load(l.Place)
		if err != nil {
			return err
		}
		if *asJSON {
			return printJSON(w.Stdout, append([]mistakes.Entry{}, ledger.Entries...))
		}
		return printLedger(w.Stdout, w.Stderr, ledger)
	}
	return c
}

func printLedger(out, warn io.Writer, l *mistakes.Ledger) error {
	for _, p := range l.Problems {
		if _, err := fmt.Fprintf(warn, "si: %s\n", clean.Line(p.String(), 300)); err != nil {
			return err
		}
	}
	if l.Unclosed > 0 {
		if _, err := fmt.Fprintf(warn, "si: MISTAKES.md:%d: a block of code or a comment is opened and never closed; what stands behind is not counted\n", l.Unclosed); err != nil {
			return err
		}
	}
	if len(l.Entries) == 0 {
		_, err := io.WriteString(out, "no mistake is recorded\n")
		return err
	}
	tw := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	_, _ = fmt.Fprintln(tw, "DATE\tSIGNATURE\tSTATUS\tTRACK\tPROOF\tTITLE") // Flush reports
	for _, e := range l.Entries {
		_, _ = fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\n", e.Date, e.Signature, e.Status, clean.Line(e.Initiative, 30), clean.Line(e.Proof, 20), clean.Line(e.Title, 60))
	}
	return tw.Flush()
}

type promoteOptions struct {
	world     World
	place     *placeFlags
	signature string
	status    string
	law       bool
	rule      string
	dry       bool
	json      bool
}

func newPromote(w World, place *placeFlags) *cobra.Command {
	o := &promoteOptions{world: w, place: place}
	c := &cobra.Command{
		Use: "promote", Short: "record that a signature became knowledge, or make it law", Args: noArgs,
		Long: `--status knowledge:K-12 or wontfix moves the open entries of the signature, and
rewrites nothing but their status. --law --rule TEXT writes one line into the fence
of CLAUDE.md (or AGENTS.md), with the dated entries that earned it; it demands five
distinct runs or commits, one of them after the knowledge entry was delivered. A
line that a person deleted stays deleted.

Exit codes: 0 done; 1 refused, nothing written; 2 usage.`,
		RunE: func(c *cobra.Command, _ []string) error { return o.run(c.Context()) },
	}
	f := c.Flags()
	f.StringVar(&o.signature, "signature", "", "which")
	f.StringVar(&o.status, "status", "", "knowledge:K-12 or wontfix")
	f.BoolVar(&o.law, "law", false, "write a rule into the fence")
	f.StringVar(&o.rule, "rule", "", "the rule, one line")
	f.BoolVar(&o.dry, "dry-run", false, "print the line and write nothing")
	f.BoolVar(&o.json, "json", false, "print JSON")
	return c
}

func (o *promoteOptions) run(ctx context.Context) error {
	switch {
	case o.signature == "":
		return usagef("--signature is missing; see 'si mistakes promote --help'")
	case o.law == (o.status != ""):
		return usagef("want either --status or --law; see 'si mistakes promote --help'")
	case o.law && o.rule == "":
		return usagef("--law wants --rule TEXT")
	case o.dry && !o.law:
		return usagef("--dry-run goes with --law")
	}
	l, err := openLearned(ctx, o.world, o.place)
	if err != nil {
		return err
	}
	defer l.close()
	if o.law {
		return o.makeLaw(ctx, l)
	}
	moved, err := mistakes.SetStatus(ctx, l.Place, o.signature, mistakes.Status(o.status))
	if err != nil {
		return err
	}
	if o.json {
		return printJSON(o.world.Stdout, map[string]any{"signature": o.signature, "status": o.status, "entries": moved})
	}
	_, err = fmt.Fprintf(o.world.Stdout, "%d entries of %s are %s\n", moved, o.signature, o.status)
	return err
}

func (o *promoteOptions) makeLaw(ctx context.Context, l *learnedFiles) error {
	p, err := l.policy()
	if err != nil {
		return err
	}
	done, err := mistakes.MakeLaw(ctx, l.Place, mistakes.LawRequest{
		Signature: o.signature, Rule: o.rule, DryRun: o.dry, At: o.world.Now(), Allow: p.AllowLaw,
	})
	switch {
	case errors.Is(err, mistakes.ErrNotEarned):
		return fmt.Errorf("%w; nothing was written", err)
	case err != nil:
		return err
	case o.json:
		return printJSON(o.world.Stdout, done)
	}
	text := "is there already; the statuses were brought in line"
	switch {
	case o.dry:
		text = "would be written"
	case done.Written:
		text = "written"
	}
	_, err = fmt.Fprintf(o.world.Stdout, "%s: %s\n%s\n", done.File, text, done.Line)
	return err
}
