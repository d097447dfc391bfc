package cmd

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"si/internal/clean"
	"si/learn/memory"
)

func newMemory(w World, place *placeFlags) *cobra.Command {
	c := &cobra.Command{
		Use:   "memory",
		Short: "what earlier runs found out",
		Long: `The reviewer (si.skills.review) writes down facts that runs found out. Those that
share words with the goal go into the prompts of researchers and planners.`,
		Args: noArgs, RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newMemoryList(w, place), newMemorySearch(w, place), newMemoryForget(w, place))
	return c
}

func withMemory(ctx context.Context, w World, f *placeFlags, use func(*memory.Store) error) error {
	p, err := f.open(ctx, w, false)
	if err != nil {
		return err
	}
	defer p.close()
	s, err := memory.Open(memory.Options{Base: p.paths.StateBase(), Store: w.Store, Now: w.Now})
	if err != nil {
		return err
	}
	return use(s)
}

func newMemoryList(w World, place *placeFlags) *cobra.Command {
	c := &cobra.Command{Use: "list", Short: "list the memories, newest first", Args: noArgs}
	asJSON := jsonFlag(c)
	limit := c.Flags().Int("limit", 0, "at most that many")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if *limit < 0 {
			return usagef("--limit wants a positive number")
		}
		return withMemory(c.Context(), w, place, func(s *memory.Store) error {
			l, err := s.List()
			if err != nil {
				return err
			}
			if *limit > 0 {
				l.Records = l.Records[:min(*limit, len(l.Records))]
			}
			if *asJSON {
				return printJSON(w.Stdout, l)
			}
			return printMemories(w.Stdout, l.Records, l.Faults)
		})
	}
	return c
}

func newMemorySearch(w World, place *placeFlags) *cobra.Command {
	c := &cobra.Command{
		Use: "search WORD…", Short: "list the memories that share words with a text, the likest first",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("search wants words to look for; see '%s --help'", c.CommandPath())
			}
			return nil
		},
	}
	asJSON := jsonFlag(c)
	limit := c.Flags().Int("limit", 20, "at most that many")
	tags := c.Flags().StringSlice("tag", nil, "words of a tag, which count twice; may be repeated")
	c.RunE = func(c *cobra.Command, args []string) error {
		if *limit <= 0 {
			return usagef("--limit wants a positive number")
		}
		return withMemory(c.Context(), w, place, func(s *memory.Store) error {
			r, err := s.Recall(memory.Query{About: strings.Join(args, " "), Tags: *tags, Limit: *limit, Budget: -1})
			if err != nil {
				return err
			}
			if *asJSON {
				return printJSON(w.Stdout, r)
			}
			return printMemories(w.Stdout, r.Records, nil)
		})
	}
	return c
}

func printMemories(out io.Writer, all []memory.Record, faults []string) error {
	tw := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	if len(all) == 0 {
		_, _ = fmt.Fprintln(tw, "no memory") // Flush reports
	} else {
		_, _ = fmt.Fprintln(tw, "ID\tDAY\tTYPE\tFROM\tTAGS\tMEMORY")
	}
	for _, r := range all {
		from := r.From.Role
		if r.From.Round > 0 {
			from = fmt.Sprintf("%s, round %d", from, r.From.Round)
		}
		_, _ = fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\n", r.ID, r.CreatedAt.Local().Format(time.DateOnly), r.Type, from, clean.Line(strings.Join(r.Tags, ","), 40), clean.Line(r.Content, 120))
	}
	for _, f := range faults {
		_, _ = fmt.Fprintf(tw, "warning: %s\n", clean.Line(f, 300))
	}
	return tw.Flush()
}

func newMemoryForget(w World, place *placeFlags) *cobra.Command {
	c := &cobra.Command{
		Use: "forget ID", Short: "take a memory out of every recall", Args: oneArg("the id of a memory, such as M-12"),
		Long: "The same text is not remembered again. The line stays in the file; with --erase the text is taken out of it too.",
	}
	erase := c.Flags().Bool("erase", false, "take the text out of the file")
	c.RunE = func(c *cobra.Command, args []string) error {
		return withMemory(c.Context(), w, place, func(s *memory.Store) error {
			if err := s.Forget(c.Context(), args[0], *erase); err != nil {
				return err
			}
			_, err := fmt.Fprintln(w.Stdout, args[0], "is forgotten")
			return err
		})
	}
	return c
}
