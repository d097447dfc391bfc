package cmd

import (
	"context"
	"errors"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"si/learn/evidence"
	learned "si/learn/place"
	"si/learn/policy"
	"si/track"
)

// learnedFiles are the learned files of the checkout in which the user stands. By
// hand they are written there; the loop writes them in its own worktree.
type learnedFiles struct {
	learned.Place
	track *place
	base  string // the folder that paths of the command line are relative to, from the top
	undo  func() // removes what was laid out to be read; may be nil
}

func openLearned(ctx context.Context, w World, f *placeFlags) (*learnedFiles, error) {
	p, err := f.open(ctx, w, true)
	if err != nil {
		return nil, err
	}
	files, err := learned.Open(w.Store, p.repo.Toplevel())
	if err != nil {
		p.close()
		return nil, err
	}
	l := &learnedFiles{Place: files, track: p}
	if dir, err := filepath.EvalSymlinks(f.dir(w)); err == nil {
		if rel, err := filepath.Rel(files.Top(), dir); err == nil && filepath.IsLocal(rel) && rel != "." {
			l.base = filepath.ToSlash(rel)
		}
	}
	return l, nil
}

func (l *learnedFiles) close() {
	if l.undo != nil {
		l.undo()
	}
	l.track.close()
}

// readFlag lets a command that only reads look at what the runs learned, on the
// track's improve branch, instead of the checkout.
func readFlag(c *cobra.Command) *bool {
	return c.Flags().Bool("learned", false, "read what the runs learned, on the improve branch, and not the checkout")
}

// readLearned is openLearned for a command that only reads.
func readLearned(ctx context.Context, w World, f *placeFlags, branch bool) (*learnedFiles, error) {
	l, err := openLearned(ctx, w, f)
	if err != nil || !branch {
		return l, err
	}
	p, undo, err := l.asLearned(ctx)
	l.undo = undo
	if err == nil && p == nil {
		err = errors.New("no run of this track has learned anything yet; leave --learned out to read the checkout")
	}
	if err != nil {
		l.close()
		return nil, err
	}
	l.Place = *p
	return l, nil
}

// fromTop makes paths and globs of the command line relative to the top, as git does
// with paths.
func (l *learnedFiles) fromTop(args []string) []string {
	out := make([]string, len(args))
	for i, arg := range args {
		out[i] = arg
		if filepath.IsAbs(arg) {
			if rel, err := filepath.Rel(l.Top(), arg); err == nil && filepath.IsLocal(rel) {
				out[i] = filepath.ToSlash(rel)
			}
			continue
		}
		if l.base != "" {
			slash := strings.HasSuffix(arg, "/")
			if out[i] = path.Join(l.base, arg); slash {
				out[i] += "/"
			}
		}
	}
	return out
}

// takenIDs are the ids of entries that evidence is about, also when they are gone.
func (l *learnedFiles) takenIDs() ([]string, error) {
	log, err := evidence.Load(l.Place)
	if err != nil {
		return nil, err
	}
	return log.IDs(), nil
}

// policy reads the policy with what the track seals.
func (l *learnedFiles) policy() (*policy.Policy, error) {
	settings, err := track.LoadSettings(l.track.paths)
	if err != nil {
		return nil, err
	}
	g := policy.Ground{IgnoresCase: policy.IgnoresCase(l.Top())}
	for _, s := range settings.Value.SealedFiles {
		g.Sealed = append(g.Sealed, s)
		if !strings.HasSuffix(s, "/") {
			g.Sealed = append(g.Sealed, s+"/**") // a folder that is named without its slash
		}
	}
	if rel, err := filepath.Rel(l.Top(), l.track.paths.StateBase()); err == nil && filepath.IsLocal(rel) {
		g.State = append(g.State, filepath.ToSlash(rel)+"/**")
	}
	return policy.Load(l.Place, g), nil
}
