package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/aymanbagabas/go-udiff"
	"github.com/spf13/cobra"

	"si/internal/clean"
	"si/learn/policy"
	"si/learn/proposals"
	"si/track"
)

func newProposals(w World, place *placeFlags) *cobra.Command {
	c := &cobra.Command{
		Use:   "proposals",
		Short: "changes that wait for you: what a retrospective may not do alone",
		Long: `A retrospective proposes what the policy says is GATED. Approving writes exactly
what was shown into the checkout in which you are; commit it there. A rejection is
remembered with its reason, and shown to later retrospectives.`,
		Args: noArgs, RunE: func(c *cobra.Command, _ []string) error { return listProposals(c.Context(), w, place, false, false) },
	}
	c.AddCommand(newProposalsList(w, place), newProposalsShow(w, place), newApprove(w, place), newReject(w, place))
	return c
}

func newProposalsList(w World, place *placeFlags) *cobra.Command {
	c := &cobra.Command{Use: "list", Short: "list those that wait", Args: noArgs}
	asJSON := jsonFlag(c)
	all := c.Flags().Bool("all", false, "also those that were decided")
	c.RunE = func(c *cobra.Command, _ []string) error {
		return listProposals(c.Context(), w, place, *all, *asJSON)
	}
	return c
}

func listProposals(ctx context.Context, w World, f *placeFlags, all, asJSON bool) error {
	l, err := openLearned(ctx, w, f)
	if err != nil {
		return err
	}
	defer l.close()
	found, faults, err := l.proposals(ctx)
	if err != nil {
		return err
	}
	if !all {
		found = slices.DeleteFunc(found, func(p proposals.Proposal) bool { return p.State != proposals.Pending })
	}
	for _, fault := range faults {
		if _, err := fmt.Fprintf(w.Stderr, "si: %s\n", clean.Line(fault, 300)); err != nil {
			return err
		}
	}
	if asJSON {
		return printJSON(w.Stdout, found)
	}
	return printProposals(w.Stdout, found)
}

func printProposals(out io.Writer, all []proposals.Proposal) error {
	if len(all) == 0 {
		_, err := io.WriteString(out, "no proposal waits\n")
		return err
	}
	tw := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	_, _ = fmt.Fprintln(tw, "ID\tSTATE\tFROM\tFILES\tTITLE") // Flush reports
	for _, p := range all {
		_, _ = fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\n", p.ID, p.State, clean.Line(strings.Join(p.From, ", "), 30), clean.Line(strings.Join(p.Paths(), ", "), 50), clean.Line(p.Title, 80))
	}
	return tw.Flush()
}

// proposals are those of the checkout, and those that lie on the track's improve
// branch alone. What was decided here counts, whatever the branch says.
func (l *learnedFiles) proposals(ctx context.Context) ([]proposals.Proposal, []string, error) {
	here, faults, err := proposals.List(l.Place)
	if err != nil {
		return nil, nil, err
	}
	there, more, err := l.onBranch(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range there {
		if !slices.ContainsFunc(here, func(h proposals.Proposal) bool { return h.Digest == p.Digest || h.ID == p.ID }) {
			here = append(here, p)
		}
	}
	return here, append(faults, more...), nil
}

// maxProposal bounds the file of one, in bytes.
const maxProposal = 8 << 20

// onBranch reads the proposals at the tip of the improve branch.
func (l *learnedFiles) onBranch(ctx context.Context) (all []proposals.Proposal, faults []string, err error) {
	progress, err := track.LoadProgress(l.track.paths)
	if err != nil || progress.Value.GoalSlug == nil {
		return nil, nil, err
	}
	repo := l.track.repo
	tip, ok, err := l.improveTip(ctx, progress.Value)
	if err != nil || !ok {
		return nil, nil, err
	}
	entries, err := repo.ListTree(ctx, tip)
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Path, l.Proposals()+"/P-") || !strings.HasSuffix(e.Path, ".json") {
			continue
		}
		data, err := repo.ReadFile(ctx, tip, e.Path, maxProposal)
		if err != nil {
			return nil, nil, err
		}
		p, err := proposals.Parse(e.Path, data)
		if err != nil {
			faults = append(faults, err.Error())
			continue
		}
		all = append(all, p)
	}
	return all, faults, nil
}

// improveTip is where the track's improve branch stands.
func (l *learnedFiles) improveTip(ctx context.Context, a track.AgentSettings) (string, bool, error) {
	return l.track.repo.Ref(ctx, "refs/heads/improve/"+a.SI.RefPrefix+*a.GoalSlug)
}

// proposal finds one by its id.
func (l *learnedFiles) proposal(ctx context.Context, id string) (proposals.Proposal, error) {
	all, _, err := l.proposals(ctx)
	if err != nil {
		return proposals.Proposal{}, err
	}
	i := slices.IndexFunc(all, func(p proposals.Proposal) bool { return p.ID == id })
	if i < 0 {
		return proposals.Proposal{}, fmt.Errorf("there is no proposal %.40q; 'si proposals list --all' shows them", id)
	}
	return all[i], nil
}

func newProposalsShow(w World, place *placeFlags) *cobra.Command {
	c := &cobra.Command{Use: "show ID", Short: "print what a proposal would change", Args: oneArg("the id of a proposal")}
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		l, err := openLearned(c.Context(), w, place)
		if err != nil {
			return err
		}
		defer l.close()
		p, err := l.proposal(c.Context(), args[0])
		if err != nil {
			return err
		}
		if *asJSON {
			return printJSON(w.Stdout, p)
		}
		return l.showProposal(w.Stdout, p)
	}
	return c
}

func (l *learnedFiles) showProposal(out io.Writer, p proposals.Proposal) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s): %s\nwhy: %s\n", p.ID, p.State, p.Title, p.Reason)
	if len(p.From) > 0 {
		fmt.Fprintf(&b, "from: %s\n", strings.Join(p.From, ", "))
	}
	if p.Said != "" {
		fmt.Fprintf(&b, "decided because: %s\n", p.Said)
	}
	for _, f := range p.Files {
		now, err := l.Read(f.Path)
		if err != nil {
			return err
		}
		wanted, name := "", "b/"+f.Path
		if f.Content != nil {
			wanted = *f.Content
		} else {
			name = "/dev/null"
		}
		diff := udiff.Unified("a/"+f.Path, name, string(now), wanted)
		if proposals.Hash(now) != f.Before && p.State == proposals.Pending {
			diff = "(the file is not any more what the proposal was made for)\n" + diff
		}
		b.WriteString("\n" + diff)
	}
	// An agent wrote what is in it.
	_, err := io.WriteString(out, clean.Text([]byte(b.String())))
	return err
}

func newApprove(w World, place *placeFlags) *cobra.Command {
	return &cobra.Command{
		Use: "approve ID", Short: "do what a proposal says, in the checkout in which you are", Args: oneArg("the id of a proposal"),
		Long: "Exit codes: 0 done; 1 refused (a file has changed since, or is KERNEL), nothing written; 2 usage.",
		RunE: func(c *cobra.Command, args []string) error {
			return decideProposal(c.Context(), w, place, args[0], func(l *learnedFiles) (proposals.Proposal, error) {
				p, err := l.policy()
				if err != nil {
					return proposals.Proposal{}, err
				}
				return proposals.Approve(c.Context(), l.Place, args[0], w.Now(), notKernel(p))
			})
		},
	}
}

// notKernel refuses paths that only people change, by hand.
func notKernel(p *policy.Policy) func(string) error {
	return func(name string) error {
		if d := p.Decide(name); d.Class == policy.Kernel {
			return fmt.Errorf("%s is KERNEL by %s (%s): only people change it, by hand", name, d.Rule, d.Reason)
		}
		return nil
	}
}

func newReject(w World, place *placeFlags) *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use: "reject ID", Short: "put a proposal aside for good, with the reason", Args: oneArg("the id of a proposal"),
		RunE: func(c *cobra.Command, args []string) error {
			if strings.TrimSpace(reason) == "" {
				return usagef("--reason is missing: later retrospectives are shown it")
			}
			return decideProposal(c.Context(), w, place, args[0], func(l *learnedFiles) (proposals.Proposal, error) {
				return proposals.Reject(c.Context(), l.Place, args[0], reason, w.Now())
			})
		},
	}
	c.Flags().StringVar(&reason, "reason", "", "why not")
	return c
}

// decideProposal brings a proposal of the branch here first: what a person decides
// is written where the person stands.
func decideProposal(ctx context.Context, w World, f *placeFlags, id string, decide func(*learnedFiles) (proposals.Proposal, error)) error {
	l, err := openLearned(ctx, w, f)
	if err != nil {
		return err
	}
	defer l.close()
	p, err := l.proposal(ctx, id)
	if err != nil {
		return err
	}
	if err := proposals.Keep(ctx, l.Place, p); err != nil {
		return err
	}
	if p, err = decide(l); err != nil {
		if errors.Is(err, proposals.ErrChanged) {
			return fmt.Errorf("%w; 'si proposals show %s' shows the difference", err, id)
		}
		return err
	}
	_, err = fmt.Fprintf(w.Stdout, "%s is %s; %s\n", p.ID, p.State, afterwards(p))
	return err
}

func afterwards(p proposals.Proposal) string {
	if p.State == proposals.Approved {
		return "written: " + clean.Line(strings.Join(p.Paths(), ", "), 500)
	}
	return "later retrospectives are told why"
}
