package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"si/internal/clean"
	"si/learn/knowledge"
)

func newKnowledge(w World, place *placeFlags) *cobra.Command {
	c := &cobra.Command{
		Use:   "knowledge",
		Short: "what one who touches certain paths of the repository must know",
		Long: `Entries lie in .si/knowledge (.tyran/knowledge in a repository that has it), in
YAML. A brief of those that matter for the paths at hand goes into the prompts of
agents, who report on each entry; si counts what they report.

Paths and globs are relative to the folder in which you are, as git's are.`,
		Args: noArgs, RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newBrief(w, place), newAudit(w, place), newKnowledgeList(w, place), newKnowledgeShow(w, place), newKnowledgeAdd(w, place), newSupersede(w, place))
	return c
}

// withStore opens the learned files and reads the knowledge store.
func withStore(ctx context.Context, w World, f *placeFlags, branch bool, use func(*learnedFiles, *knowledge.Store) error) error {
	l, err := readLearned(ctx, w, f, branch)
	if err != nil {
		return err
	}
	defer l.close()
	s, err := knowledge.Load(l.Place)
	if err != nil {
		return err
	}
	return use(l, s)
}

type briefOptions struct {
	kinds []string
	knowledge.Request
	json bool
}

func newBrief(w World, place *placeFlags) *cobra.Command {
	o := &briefOptions{}
	c := &cobra.Command{
		Use: "brief [PATH…]", Short: "print the entries that matter for some paths, within a budget",
		Long: `PATH is a path or a glob. Without any, only entries about the whole repository are
printed. Nothing is printed when no entry matches.

Exit codes: 0; 1 the store is invalid, and nothing is printed; 2 usage.`,
	}
	branch := readFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		return withStore(c.Context(), w, place, *branch, func(l *learnedFiles, s *knowledge.Store) error {
			o.Paths = l.fromTop(args)
			return o.run(w.Stdout, s)
		})
	}
	f := c.Flags()
	f.StringSliceVar(&o.kinds, "kinds", nil, "only entries of these kinds: fact, convention, gotcha, command, decision")
	f.IntVar(&o.Limit, "limit", 0, "at most that many entries")
	f.IntVar(&o.Budget, "budget", knowledge.DefaultBudget, "at most that many code points of output")
	f.BoolVar(&o.json, "json", false, "print JSON, within the budget too")
	return c
}

func (o *briefOptions) run(out io.Writer, s *knowledge.Store) error {
	for _, k := range o.kinds {
		if !slices.Contains(knowledge.Kinds(), knowledge.Kind(k)) {
			return usagef("--kinds: %q is no kind of entry; the kinds are %s", k, kindNames())
		}
		o.Kinds = append(o.Kinds, knowledge.Kind(k))
	}
	if o.Limit < 0 || o.Budget <= 0 {
		return usagef("--limit and --budget want positive numbers")
	}
	make, text := s.Brief, knowledge.Brief.Text
	if o.json {
		make, text = s.BriefJSON, knowledge.Brief.JSON
	}
	b, err := make(o.Request)
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, text(b))
	return err
}

func kindNames() string {
	var names []string
	for _, k := range knowledge.Kinds() {
		names = append(names, string(k))
	}
	return strings.Join(names, ", ")
}

func newAudit(w World, place *placeFlags) *cobra.Command {
	c := &cobra.Command{
		Use: "audit", Short: "measure the store: what fits into one brief, what is dead, what has not earned its place", Args: noArgs,
		Long: "Measures and never edits: which of two entries is the true one is a judgement.\n\nExit codes: 0; 1 the store is invalid.",
	}
	asJSON, branch := jsonFlag(c), readFlag(c)
	budget := c.Flags().Int("budget", knowledge.DefaultBudget, "code points of a brief")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if *budget <= 0 {
			return usagef("--budget wants a positive number")
		}
		return withStore(c.Context(), w, place, *branch, func(_ *learnedFiles, s *knowledge.Store) error {
			a, err := s.Audit(*budget)
			if err != nil {
				return err
			}
			if *asJSON {
				return printJSON(w.Stdout, a)
			}
			return printAudit(w.Stdout, a)
		})
	}
	return c
}

func printAudit(out io.Writer, a knowledge.Audit) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d entries, %d live (%d code points), %d superseded (%d code points)\n", a.Dir, a.Entries, a.Live, a.LiveCost, a.Superseded, a.DeadCost)
	fmt.Fprintf(&b, "one brief of %d code points reaches %d of %d live entries\n", a.Budget, a.Reachable, a.Live)
	if len(a.TooBig) > 0 {
		fmt.Fprintf(&b, "too big even alone: %s\n", strings.Join(a.TooBig, ", "))
	}
	for _, d := range a.Dangling {
		fmt.Fprintf(&b, "%s supersedes %s, which is not in the store\n", d.By, d.ID)
	}
	for _, m := range a.Mutual {
		fmt.Fprintf(&b, "these supersede each other, so that none of them is delivered: %s\n", strings.Join(m, ", "))
	}
	for _, r := range a.Retire {
		fmt.Fprintf(&b, "retirement candidate: %s, %s (used %d, helpful %d, reported wrong %d)\n", r.ID, r.Reason, r.Used, r.Helpful, r.OutdatedReports)
	}
	for _, note := range a.Conclusion {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func newKnowledgeList(w World, place *placeFlags) *cobra.Command {
	c := &cobra.Command{Use: "list", Short: "list the entries", Args: noArgs}
	asJSON, branch := jsonFlag(c), readFlag(c)
	all := c.Flags().Bool("all", false, "also those that others supersede")
	c.RunE = func(c *cobra.Command, _ []string) error {
		return withStore(c.Context(), w, place, *branch, func(_ *learnedFiles, s *knowledge.Store) error {
			entries := s.Live()
			if *all {
				entries = s.Entries
			}
			if *asJSON {
				return printJSON(w.Stdout, append([]knowledge.Entry{}, entries...))
			}
			return listKnowledge(w.Stdout, entries, s.SupersededBy())
		})
	}
	return c
}

func listKnowledge(out io.Writer, entries []knowledge.Entry, by map[string]string) error {
	if len(entries) == 0 {
		_, err := io.WriteString(out, "no entry\n")
		return err
	}
	tw := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	_, _ = fmt.Fprintln(tw, "ID\tKIND\tCONFIDENCE\tUSED\tHELPFUL\tWRONG\tAPPLIES TO\tTEXT") // Flush reports
	for _, e := range entries {
		text := clean.Line(e.Text, 80)
		if by[e.ID] != "" {
			text = "(superseded by " + by[e.ID] + ") " + text
		}
		scope := "everything"
		if !e.Global() {
			scope = clean.Line(strings.Join(e.AppliesTo, ", "), 40)
		}
		_, _ = fmt.Fprintf(tw, "%s\t%s\t%.2f\t%d\t%d\t%d\t%s\t%s\n", e.ID, e.Kind, e.Confidence, e.Used, e.Helpful, e.OutdatedReports, scope, text)
	}
	return tw.Flush()
}

func newKnowledgeShow(w World, place *placeFlags) *cobra.Command {
	c := &cobra.Command{Use: "show ID", Short: "print one entry whole", Args: oneArg("the id of an entry")}
	asJSON, branch := jsonFlag(c), readFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		return withStore(c.Context(), w, place, *branch, func(_ *learnedFiles, s *knowledge.Store) error {
			e, ok := s.Entry(args[0])
			if !ok {
				return fmt.Errorf("there is no entry %.40q; 'si knowledge list --all' lists them", args[0])
			}
			if *asJSON {
				return printJSON(w.Stdout, e)
			}
			return printEntry(w.Stdout, e, s.SupersededBy()[e.ID])
		})
	}
	return c
}

func printEntry(out io.Writer, e knowledge.Entry, by string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s, confidence %.2f), %s:%d\n", e.ID, e.Kind, e.Confidence, e.File, e.Line)
	if by != "" {
		fmt.Fprintf(&b, "superseded by: %s\n", by)
	}
	if !e.Global() {
		fmt.Fprintf(&b, "applies to: %s\n", strings.Join(e.AppliesTo, ", "))
	}
	if len(e.Supersedes) > 0 {
		fmt.Fprintf(&b, "supersedes: %s\n", strings.Join(e.Supersedes, ", "))
	}
	for _, p := range e.Provenance {
		fmt.Fprintf(&b, "from: %s, %s\n", p.Source, p.Reference)
	}
	fmt.Fprintf(&b, "used %d, helpful %d, reported wrong %d\n\n%s\n", e.Used, e.Helpful, e.OutdatedReports, strings.TrimSpace(e.Text))
	_, err := io.WriteString(out, clean.Text([]byte(b.String())))
	return err
}

type addOptions struct {
	world World
	place *placeFlags
	entry knowledge.Entry
	kind  string
	from  []string
	json  bool
}

func newKnowledgeAdd(w World, place *placeFlags) *cobra.Command {
	o := &addOptions{world: w, place: place}
	c := &cobra.Command{
		Use: "add", Short: "write a new entry, into a file of its own", Args: noArgs,
		Long: "The id is the program's to give. --text - reads the text from the standard input.\n\nExit codes: 0 written; 1 refused; 2 usage.",
		RunE: func(c *cobra.Command, _ []string) error { return o.run(c.Context()) },
	}
	o.flags(c)
	c.Flags().StringSliceVar(&o.entry.Supersedes, "supersedes", nil, "ids that this entry replaces")
	return c
}

func newSupersede(w World, place *placeFlags) *cobra.Command {
	o := &addOptions{world: w, place: place}
	c := &cobra.Command{
		Use: "supersede ID…", Short: "write an entry that replaces others; deleting its file brings them back",
		Long: "Merging is an append: the replaced entries keep their bytes and their counters.\n\nExit codes: 0 written; 1 refused; 2 usage.",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("supersede wants the ids of the entries to replace; see 'si knowledge supersede --help'")
			}
			o.entry.Supersedes = args
			return o.run(c.Context())
		},
	}
	o.flags(c)
	return c
}

func (o *addOptions) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&o.kind, "kind", string(knowledge.Fact), "fact, convention, gotcha, command or decision")
	f.StringVar(&o.entry.Text, "text", "", "what to know; - reads it from the standard input")
	f.Float64Var(&o.entry.Confidence, "confidence", 0.8, "how sure you are, 0 to 1")
	f.StringSliceVar(&o.entry.AppliesTo, "applies-to", nil, "globs from the top of the repository (default: all of it)")
	f.StringArrayVar(&o.from, "from", nil, "where it comes from, as SOURCE=REFERENCE; can be given several times")
	f.BoolVar(&o.json, "json", false, "print the entry as JSON")
}

// maxTyped bounds what is read from the standard input; more is refused later by
// its number of code points.
const maxTyped = 1 << 20

func (o *addOptions) run(ctx context.Context) error {
	if o.entry.Text == "-" {
		data, err := io.ReadAll(io.LimitReader(o.world.Stdin, maxTyped))
		if err != nil {
			return fmt.Errorf("read the text: %w", err)
		}
		o.entry.Text = strings.TrimSpace(string(data))
	}
	if o.entry.Text == "" {
		return usagef("--text is missing: what is to be known?")
	}
	o.entry.Kind = knowledge.Kind(o.kind)
	if err := o.provenance(); err != nil {
		return err
	}
	l, err := openLearned(ctx, o.world, o.place)
	if err != nil {
		return err
	}
	defer l.close()
	e, err := knowledge.Add(ctx, l.Place, o.entry, l.takenIDs)
	if err != nil {
		return err
	}
	if o.json {
		return printJSON(o.world.Stdout, e)
	}
	_, err = fmt.Fprintf(o.world.Stdout, "%s written to %s\n", e.ID, e.File)
	return err
}

func (o *addOptions) provenance() error {
	for _, text := range o.from {
		source, reference, ok := strings.Cut(text, "=")
		if !ok || source == "" || reference == "" {
			return usagef("--from: want SOURCE=REFERENCE, found %q", text)
		}
		o.entry.Provenance = append(o.entry.Provenance, knowledge.Provenance{Source: source, Reference: reference})
	}
	if len(o.from) == 0 {
		by := "by hand on " + o.world.Now().UTC().Format(time.DateOnly)
		o.entry.Provenance = []knowledge.Provenance{{Source: "human", Reference: by}}
	}
	for _, id := range o.entry.Supersedes {
		if !knowledge.IsID(id) {
			return usagef("%q is no id of an entry, such as K-12", id)
		}
	}
	if !slices.Contains(knowledge.Kinds(), o.entry.Kind) {
		return &usageError{errors.New("--kind wants one of " + kindNames())}
	}
	return nil
}
