package cmd

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"si/internal/clean"
	"si/learn/skills"
)

func newSkillsProposals(w World, place *placeFlags) *cobra.Command {
	c := &cobra.Command{
		Use: "proposals [ID]", Short: "changes of skills that wait for you", Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("proposals takes at most one id; see '%s --help'", c.CommandPath())
			}
			return nil
		},
		Long: `The reviewer proposes to change a skill whose name it wanted to use; the curator to
merge two that look alike. 'si skills accept ID' does it, 'si skills reject ID' puts
it aside for good. With an ID, the proposal is printed whole.`,
	}
	asJSON := jsonFlag(c)
	all := c.Flags().Bool("all", false, "also those that were answered")
	c.RunE = func(c *cobra.Command, args []string) error {
		return withSkills(c.Context(), w, place, func(s *skillPlace) error {
			if len(args) == 1 {
				p, err := s.Proposal(args[0])
				if err != nil {
					return err
				}
				if *asJSON {
					return printJSON(w.Stdout, p)
				}
				return printSkillProposal(w.Stdout, p)
			}
			found, faults, err := s.Proposals()
			if err != nil {
				return err
			}
			found = waitingOnly(found, *all)
			if *asJSON {
				return printJSON(w.Stdout, found)
			}
			return printSkillProposals(w.Stdout, found, faults)
		})
	}
	return c
}

func waitingOnly(all []skills.Proposal, answered bool) []skills.Proposal {
	out := []skills.Proposal{}
	for _, p := range all {
		if answered || p.State == skills.Pending {
			out = append(out, p)
		}
	}
	return out
}

func printSkillProposals(out io.Writer, all []skills.Proposal, faults []string) error {
	tw := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	if len(all) == 0 {
		_, _ = fmt.Fprintln(tw, "no proposal waits") // Flush reports
	} else {
		_, _ = fmt.Fprintln(tw, "ID\tKIND\tSTATE\tSKILL\tFROM\tWHY")
	}
	for _, p := range all {
		name := p.Name
		if len(p.Replaces) > 0 {
			name += " of " + strings.Join(p.Replaces, " and ")
		}
		_, _ = fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\n", p.ID, clean.Line(string(p.Kind), 20), clean.Line(string(p.State), 20), clean.Line(name, 80), clean.Line(p.From, 60), clean.Line(p.Reason, 80))
	}
	for _, f := range faults {
		_, _ = fmt.Fprintf(tw, "warning: %s\n", clean.Line(f, 300))
	}
	return tw.Flush()
}

func printSkillProposal(out io.Writer, p skills.Proposal) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s %s (%s), made %s\n", p.ID, p.Kind, p.Name, p.State, p.At.Local().Format("2006-01-02 15:04"))
	line := func(key, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s: %s\n", key, value)
		}
	}
	line("replaces", strings.Join(p.Replaces, ", "))
	line("from", p.From)
	line("why", p.Reason)
	for _, f := range []struct {
		key  string
		text *string
	}{
		{"description", p.Fields.Description},
		{"category", p.Fields.Category},
		{"version", p.Fields.Version},
		{"license", p.Fields.License},
		{"compatibility", p.Fields.Compatibility},
		{"allowed tools", p.Fields.AllowedTools},
	} {
		if f.text != nil {
			line(f.key, *f.text)
		}
	}
	if p.Fields.Body != nil {
		fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(*p.Fields.Body))
	}
	_, err := io.WriteString(out, clean.Text([]byte(b.String())))
	return err
}

func newSkillsAnswer(w World, place *placeFlags, accept bool) *cobra.Command {
	use, short, said := "accept", "do what a proposal says", "accepted"
	if !accept {
		use, short, said = "reject", "put a proposal aside for good", "rejected; the same is not proposed again"
	}
	return &cobra.Command{
		Use: use + " ID", Short: short, Args: oneArg("the id of a proposal"),
		RunE: func(c *cobra.Command, args []string) error {
			return changeSkills(c.Context(), w, place, func(s *skillPlace) error {
				answer := s.Reject
				if accept {
					answer = s.Accept
				}
				if err := answer(c.Context(), args[0]); err != nil {
					return err
				}
				_, err := fmt.Fprintln(w.Stdout, args[0], said)
				return err
			})
		},
	}
}
