package cmd

import (
	"context"
	"os"
	"path/filepath"

	learned "si/learn/place"
	"si/learn/skills"
)

// skillPlace is the skills of the place where the user stands; outside of a repository
// those of the user alone.
type skillPlace struct {
	*skills.Library
	track *place
	files *learned.Place // nil outside of a repository
}

// openSkills opens the library. It writes nothing.
func openSkills(ctx context.Context, w World, f *placeFlags) (*skillPlace, error) {
	p, err := f.open(ctx, w, false)
	if err != nil {
		return nil, err
	}
	s := &skillPlace{track: p}
	where := skills.Where{Base: p.paths.StateBase(), Home: w.env("HOME"), Store: w.Store, Now: w.Now}
	if p.repo != nil {
		files, err := learned.Open(w.Store, p.repo.Toplevel())
		if err != nil {
			p.close()
			return nil, err
		}
		s.files, where.Top, where.Learned = &files, files.Top(), files.Skills()
	}
	if s.Library, err = skills.Open(skills.Standard(where)); err != nil {
		p.close()
		return nil, err
	}
	return s, nil
}

func (s *skillPlace) close() { s.track.close() }

// withSkills opens the library for a command that looks.
func withSkills(ctx context.Context, w World, f *placeFlags, use func(*skillPlace) error) error {
	s, err := openSkills(ctx, w, f)
	if err != nil {
		return err
	}
	defer s.close()
	return use(s)
}

// changeSkills opens the library for a command that writes, and counts as activity for
// the curator.
func changeSkills(ctx context.Context, w World, f *placeFlags, use func(*skillPlace) error) error {
	return withSkills(ctx, w, f, func(s *skillPlace) error {
		if err := s.track.hideState(ctx); err != nil {
			return err
		}
		curator, err := curatorOf(s)
		if err != nil {
			return err
		}
		if err := curator.NoteActivity(ctx); err != nil {
			return err
		}
		return use(s)
	})
}

// hideState keeps a state base that is about to be made out of the repository's
// status, as set-up does.
func (p *place) hideState(ctx context.Context) error {
	base := p.paths.StateBase()
	if _, err := os.Stat(base); err == nil || p.repo == nil {
		return nil
	}
	rel, err := filepath.Rel(p.repo.Toplevel(), base)
	if err != nil || !filepath.IsLocal(rel) || rel == "." {
		return nil // it lies elsewhere
	}
	return p.repo.ExcludeLine(ctx, "/"+filepath.ToSlash(rel)+"/")
}
