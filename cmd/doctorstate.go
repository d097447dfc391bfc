package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"si/gitops"
	"si/internal/clean"
	"si/internal/durable"
	"si/learn/doctor"
	learned "si/learn/place"
	"si/learn/policy"
	"si/learn/skills"
	"si/loop"
	"si/track"
)

// examineState examines the track and what the repository learned. Outside of a
// repository there is nothing to examine.
func examineState(ctx context.Context, w World, f *placeFlags) ([]doctor.Finding, error) {
	l, err := openLearned(ctx, w, f)
	if errors.Is(err, gitops.ErrNotRepository) && f.repo == "" {
		return []doctor.Finding{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer l.close()
	p, err := l.policy()
	if err != nil {
		return nil, err
	}
	in := doctor.Input{Place: l.Place, Policy: p, Journal: l.track.paths.JournalPath()}
	if in.Reviewer, err = l.reviewerFault(w); err != nil {
		return nil, err
	}
	branch, undo, err := l.asLearned(ctx)
	if err != nil {
		return nil, err
	}
	defer undo()
	if branch != nil {
		in.Place, in.Policy = *branch, policy.Load(*branch, policy.Ground{})
	}
	home, _ := w.Lookup("HOME")
	library, err := skills.Open(skills.Standard(skills.Where{
		Base: l.track.paths.StateBase(), Top: l.Top(), Learned: l.Skills(), Home: home, Store: w.Store, Now: w.Now,
	}))
	if err != nil {
		in.Skills = func() ([]string, error) { return nil, err }
	} else {
		in.Skills = func() ([]string, error) { return unusable(library) }
		in.Curator = func() (string, error) { return overdue(library) }
	}
	found := doctor.Examine(in)
	if branch == nil {
		return found, nil
	}
	// What stands in the checkout is not what the loop learns from; but what is broken
	// in it would be broken for whoever merges it.
	for _, f := range doctor.Examine(doctor.Input{Place: l.Place, Policy: p}) {
		if f.Severity == doctor.Error && !slices.Contains(found, f) {
			found = append(found, f)
		}
	}
	return found, nil
}

// reviewerFault says why the reviewer, where it is on, can do nothing: no model is
// configured for it, or only names that no agent has.
func (l *learnedFiles) reviewerFault(w World) (string, error) {
	settings, err := track.LoadSettings(l.track.paths)
	if err != nil {
		return "", err
	}
	o := settings.Value.SI.Skills
	if o.Off || !o.Review.On {
		return "", nil
	}
	user, err := loadUserConfig(w)
	if err != nil {
		return "", err
	}
	models := loop.ReviewModels(o, primaryOf(agentFlags{}.merge(user.Agents, settings.Value.SI.Agents)))
	if len(models) == 0 {
		return "no model is configured that can review", nil
	}
	var faults []error
	for _, name := range models {
		if _, err := parseAgent(name); err != nil {
			faults = append(faults, err)
		}
	}
	if len(faults) < len(models) {
		return "", nil
	}
	return errors.Join(faults...).Error(), nil
}

// asLearned lays the learned files of the improve branch into a folder, when runs have
// learned something there. undo removes it.
func (l *learnedFiles) asLearned(ctx context.Context) (branch *learned.Place, undo func(), err error) {
	undo = func() {}
	progress, err := track.LoadProgress(l.track.paths)
	if err != nil || progress.Value.GoalSlug == nil || progress.Value.SI.Learned == nil {
		return nil, undo, err
	}
	tip, ok, err := l.improveTip(ctx, progress.Value)
	if err != nil || !ok {
		return nil, undo, err
	}
	top, err := os.MkdirTemp("", "si-doctor-")
	if err != nil {
		return nil, undo, fmt.Errorf("lay out what was learned: %w", err)
	}
	undo = func() { _ = os.RemoveAll(top) }
	p, err := l.layTip(ctx, tip, top)
	if err != nil {
		return nil, undo, fmt.Errorf("lay out what was learned: %w", err)
	}
	return &p, undo, nil
}

// layTip writes the learned files of a commit below top. The older tool's folder wins
// where a tree has both.
func (l *learnedFiles) layTip(ctx context.Context, tip, top string) (learned.Place, error) {
	entries, err := l.track.repo.ListTree(ctx, tip)
	if err != nil {
		return learned.Place{}, err
	}
	if slices.ContainsFunc(entries, func(e gitops.Entry) bool { return strings.HasPrefix(e.Path, ".tyran/") }) {
		if err := os.Mkdir(filepath.Join(top, ".tyran"), 0o700); err != nil {
			return learned.Place{}, err
		}
	}
	p, err := learned.Open(&durable.Store{}, top)
	if err != nil {
		return p, err
	}
	for _, e := range entries {
		if !p.Owns(e.Path) || e.Mode != "100644" && e.Mode != "100755" {
			continue
		}
		data, err := l.track.repo.ReadFile(ctx, tip, e.Path, maxProposal)
		if err != nil {
			return p, err
		}
		if err := p.Write(e.Path, data); err != nil {
			return p, err
		}
	}
	return p, nil
}

// unusable are the skills of this repository and its state that no agent can use.
// Those of the user's other folders are others' business.
func unusable(l *skills.Library) ([]string, error) {
	listing, err := l.List()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, b := range listing.Broken {
		for _, root := range l.Roots() {
			if root.Origin != skills.External && strings.HasPrefix(b.Path, root.Dir) {
				out = append(out, b.Path+": "+b.Why)
			}
		}
	}
	return out, nil
}

func overdue(l *skills.Library) (string, error) {
	s, err := skills.NewCurator(l, skills.Aging{}).Status()
	if err != nil || !s.Due || s.DueAt == nil || s.Curatable == 0 {
		return "", err
	}
	return s.DueAt.UTC().Format(time.DateOnly), nil
}

// printState prints findings, each with what to do about it.
func printState(out io.Writer, found []doctor.Finding) error {
	if len(found) == 0 {
		_, err := io.WriteString(out, "State: nothing is wrong with the track and with what was learned\n")
		return err
	}
	for _, f := range found {
		if _, err := fmt.Fprintf(out, "%s: %s: %s\n  do: %s\n", f.Severity, f.Code, clean.Line(f.What, 500), clean.Line(f.Do, 300)); err != nil {
			return err
		}
	}
	return nil
}

// unhealthy ends the command with 1 when something is wrong; it was said.
func unhealthy(found []doctor.Finding) error {
	if doctor.Fails(found) {
		return errSilent
	}
	return nil
}
