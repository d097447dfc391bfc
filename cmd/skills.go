package cmd

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"si/internal/clean"
	"si/learn/skills"
)

func newSkills(w World, place *placeFlags) *cobra.Command {
	c := &cobra.Command{
		Use:   "skills",
		Short: "procedures that worked before, for agents to read",
		Long: `A skill is a folder with a SKILL.md (agentskills.io). si reads those of the
repository (.si/skills), its own (in the state folder), and, without ever writing
there, those of other tools: ~/.agents/skills, .agents/skills, .claude/skills. Of
several with one name the first in this order counts.

Agents list, read and write skills through 'si mcp'. A skill that the reviewer wrote
becomes stale when nobody uses it for a month, and goes to an archive after three:
see 'si curator'.`,
		Args: noArgs, RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newSkillsList(w, place), newSkillsView(w, place), newSkillsCreate(w, place), newSkillsEdit(w, place), newSkillsDelete(w, place),
		newSkillsPin(w, place, true), newSkillsPin(w, place, false), newSkillsRestore(w, place), newSkillsProposals(w, place),
		newSkillsAnswer(w, place, true), newSkillsAnswer(w, place, false))
	return c
}

func newSkillsList(w World, place *placeFlags) *cobra.Command {
	c := &cobra.Command{
		Use: "list", Short: "list the skills: state, uses, last use, author", Args: noArgs,
		Long: "With --archived those that were put away; with --all also those that others of the same name hide.",
	}
	asJSON := jsonFlag(c)
	archived := c.Flags().Bool("archived", false, "those in the archive")
	all := c.Flags().Bool("all", false, "also those that are shadowed")
	c.RunE = func(c *cobra.Command, _ []string) error {
		return withSkills(c.Context(), w, place, func(s *skillPlace) error {
			listing, err := listSkills(s.Library, *archived, *all || *asJSON)
			if err != nil {
				return err
			}
			if *asJSON {
				return printJSON(w.Stdout, listing)
			}
			return printSkills(w.Stdout, listing)
		})
	}
	return c
}

func listSkills(l *skills.Library, archived, all bool) (skills.Listing, error) {
	if archived {
		put, err := l.Archived()
		return skills.Listing{Skills: append([]skills.Info{}, put...)}, err
	}
	listing, err := l.List()
	if all || err != nil {
		return listing, err
	}
	kept := listing.Skills[:0]
	for _, i := range listing.Skills {
		if i.ShadowedBy == "" {
			kept = append(kept, i)
		}
	}
	listing.Skills = kept
	return listing, nil
}

func printSkills(out io.Writer, l skills.Listing) error {
	if len(l.Skills) == 0 {
		_, _ = fmt.Fprintln(out, "no skill") // the table's Flush reports
	}
	tw := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	if len(l.Skills) > 0 {
		_, _ = fmt.Fprintln(tw, "NAME\tSTATE\tUSES\tLAST USE\tAUTHOR\tPINNED\tDESCRIPTION")
	}
	for _, i := range l.Skills {
		_, _ = fmt.Fprintf(tw, "%s\t%s\t%d\t%s\t%s\t%s\t%s\n", i.Name, i.State, i.UseCount, day(i.LastUsedAt), author(i), yes(i.Pinned), aboutSkill(i))
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	var notes strings.Builder
	for _, b := range l.Broken {
		fmt.Fprintf(&notes, "cannot be used: %s: %s\n", b.Path, b.Why)
	}
	for _, i := range l.Skills {
		for _, warning := range i.Warnings {
			fmt.Fprintf(&notes, "warning: %s: %s\n", i.Name, warning)
		}
	}
	for _, warning := range l.Warnings {
		fmt.Fprintf(&notes, "warning: %s\n", warning)
	}
	_, err := io.WriteString(out, clean.Text([]byte(notes.String())))
	return err
}

func day(t *time.Time) string {
	if t == nil {
		return "never"
	}
	return t.Local().Format(time.DateOnly)
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "-"
}

// author is who wrote a skill, as far as it is known.
func author(i skills.Info) string {
	if i.Origin != skills.Managed {
		return string(i.Origin)
	}
	return firstText(i.CreatedBy, "unknown")
}

func aboutSkill(i skills.Info) string {
	text := clean.Line(i.Description, 60)
	if i.ShadowedBy != "" {
		text = "(shadowed by " + i.ShadowedBy + ") " + text
	}
	return text
}

func newSkillsView(w World, place *placeFlags) *cobra.Command {
	c := &cobra.Command{
		Use: "view NAME [PATH]", Aliases: []string{"show"}, Short: "print a skill, or one file of it",
		Long: "Prints the body of SKILL.md, or the file at PATH below the skill's folder. A look is counted; --json has all that is known.",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return usagef("view takes the name of a skill, and maybe the path of one of its files; see '%s --help'", c.CommandPath())
			}
			return nil
		},
	}
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		return changeSkills(c.Context(), w, place, func(s *skillPlace) error {
			content, err := s.View(c.Context(), args[0], strings.Join(args[1:], ""), skills.Caller{})
			if err != nil {
				return err
			}
			if *asJSON {
				return printJSON(w.Stdout, content)
			}
			_, err = io.WriteString(w.Stdout, ended(clean.Text([]byte(content.Text))))
			return err
		})
	}
	return c
}

// ended is a text with a newline at its end.
func ended(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}
