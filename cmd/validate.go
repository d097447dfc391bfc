package cmd

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"si/benchmark"
	"si/gitops"
	"si/loop"
	"si/track"
)

type validateOptions struct {
	world    World
	place    *placeFlags
	plan     string
	result   string
	worktree string
	base     string
}

func newValidate(w World, place *placeFlags) *cobra.Command {
	o := &validateOptions{world: w, place: place}
	c := &cobra.Command{
		Use: "validate", Short: "check a plan, a result and a worktree against the contract",
		Long: "Check documents and a worktree as the loop does, and exit 1 naming every fault.",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return o.run(c.Context()) },
	}
	c.Flags().StringVar(&o.plan, "plan", "", "a plan document")
	c.Flags().StringVar(&o.result, "result", "", "a benchmark result")
	c.Flags().StringVar(&o.worktree, "worktree", "", "a checkout whose changes may touch no sealed path")
	c.Flags().StringVar(&o.base, "base", "", "what the worktree started from (default: the running round's base, else the improve branch)")
	return c
}

func (o *validateOptions) run(ctx context.Context) error {
	if o.plan == "" && o.result == "" && o.worktree == "" {
		return usagef("nothing to check: give --plan, --result or --worktree")
	}
	p, err := o.place.open(ctx, o.world, o.worktree != "")
	if err != nil {
		return err
	}
	defer p.close()
	harness, _, err := track.LoadHarness(p.paths)
	if err != nil {
		return err
	}
	faults, err := track.Validate(track.ValidateInput{Plan: o.plan, Result: o.result, Families: harness.AllFamilies()})
	if err != nil {
		return err
	}
	if o.worktree != "" {
		sealed, err := o.sealFaults(ctx, p)
		if err != nil {
			return err
		}
		faults = append(faults, sealed...)
	}
	for _, f := range faults {
		if _, err := fmt.Fprintln(o.world.Stdout, message(fmt.Errorf("%s", f))); err != nil {
			return err
		}
	}
	if len(faults) > 0 {
		return errSilent
	}
	_, err = fmt.Fprintln(o.world.Stdout, "valid")
	return err
}

// sealFaults compares a worktree, committed and not, with what it started from.
func (o *validateOptions) sealFaults(ctx context.Context, p *place) ([]string, error) {
	settings, err := track.LoadSettings(p.paths)
	if err != nil {
		return nil, err
	}
	seals, err := benchmark.NewSeals(settings.Value.SealedFiles)
	if err != nil {
		return nil, fmt.Errorf("%s: sealed_files: %w", settings.Path, err)
	}
	dir := o.worktree
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(o.world.WorkDir, dir)
	}
	work, err := gitops.Open(ctx, dir, p.runner)
	if err != nil {
		return nil, err
	}
	defer work.Close()
	base, err := o.baseCommit(ctx, p)
	if err != nil {
		return nil, err
	}
	changes, err := work.Diff(ctx, base, "HEAD")
	if err != nil {
		return nil, err
	}
	var list []benchmark.Change
	for _, c := range changes {
		list = append(list, benchmark.Change{Path: c.Path, OldMode: c.OldMode, NewMode: c.NewMode, OldID: c.OldID, NewID: c.NewID})
	}
	dirty, err := work.DirtyPaths(ctx)
	if err != nil {
		return nil, err
	}
	for _, path := range dirty {
		// What is not committed has no object id; that it differs is enough.
		list = append(list, benchmark.Change{Path: path, OldMode: "100644", NewMode: "100644", NewID: "uncommitted"})
	}
	var faults []string
	for _, v := range seals.Violations(list) {
		faults = append(faults, fmt.Sprintf("%s: %s: %q", o.worktree, track.CategorySealed, v))
	}
	return faults, nil
}

func (o *validateOptions) baseCommit(ctx context.Context, p *place) (string, error) {
	if o.base != "" {
		return p.repo.Resolve(ctx, o.base)
	}
	st, err := track.LoadIteration(p.paths)
	if err != nil {
		return "", err
	}
	if st.Exists && st.Value.SI.Base != "" && st.Value.Status == track.MarkInProgress {
		return st.Value.SI.Base, nil
	}
	s, err := loop.Survey(p.paths)
	if err != nil {
		return "", err
	}
	if s.Branch == "" {
		return "", usagef("no track is set up here; say what the worktree started from with --base")
	}
	return p.repo.Resolve(ctx, s.Branch)
}
