package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"si/gitops"
	"si/internal/clean"
	"si/learn/doctor"
	"si/learn/skills"
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
	home, _ := w.Lookup("HOME")
	library, err := skills.Open(skills.Standard(skills.Where{
		Base: l.track.paths.StateBase(), Top: l.Top(), Learned: l.Skills(), Home: home, Store: w.Store, Now: w.Now,
	}))
	if err != nil {
		in.Skills = func() ([]string, error) { return nil, err }
		return doctor.Examine(in), nil
	}
	in.Skills = func() ([]string, error) { return unusable(library) }
	in.Curator = func() (string, error) { return overdue(library) }
	return doctor.Examine(in), nil
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
