package cmd

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"si/gitops"
	"si/internal/proc"
	"si/loop"
	"si/track"
)

// placeFlags say which track of which repository a command is about.
type placeFlags struct {
	repo    string
	topic   string
	slug    string
	session string
}

func (f *placeFlags) add(c *cobra.Command) {
	flags := c.PersistentFlags()
	flags.StringVarP(&f.repo, "repo", "C", "", "the repository to improve (default: the one you are in)")
	flags.StringVar(&f.topic, "topic", "", "the track, in words")
	flags.StringVar(&f.slug, "slug", "", "the track, by its slug")
	flags.StringVar(&f.session, "session-id", "", "the session of the track (default: OMC_SESSION_ID)")
}

// place is an opened repository and the track in it.
type place struct {
	repo   *gitops.Repo // nil outside a repository
	paths  track.Paths
	runner *proc.Local
	mark   string // SI_RUN of this process's children
	runID  string
}

func (f *placeFlags) dir(w World) string {
	if f.repo == "" {
		return w.WorkDir
	}
	if filepath.IsAbs(f.repo) {
		return f.repo
	}
	return filepath.Join(w.WorkDir, f.repo)
}

// open finds the repository and the track. A command that only looks works
// outside a repository too.
func (f *placeFlags) open(ctx context.Context, w World, needRepo bool) (*place, error) {
	id, err := w.RunID()
	if err != nil {
		return nil, fmt.Errorf("name this run: %w", err)
	}
	p := &place{runID: id}
	// The mark cannot name the track yet: git has to say where it is.
	finder := proc.New(proc.Options{Self: w.Self, Mark: id})
	repo, err := gitops.Open(ctx, f.dir(w), finder)
	if err != nil && (needRepo || !errors.Is(err, gitops.ErrNotRepository)) {
		return nil, err
	}
	if err == nil {
		p.repo = repo
	}
	in := track.ResolveInput{WorkDir: f.dir(w), Topic: f.topic, Slug: f.slug, SessionID: f.session, Env: w.env}
	if p.repo != nil {
		in.ProjectRoot = p.repo.Toplevel()
	}
	if p.paths, err = track.Resolve(in); err != nil {
		return nil, &usageError{err}
	}
	p.mark = trackMark(p.paths.Root) + "-" + id
	p.runner = proc.New(proc.Options{Self: w.Self, Mark: p.mark})
	return p, nil
}

func (p *place) close() {
	if p.repo != nil {
		_ = p.repo.Close()
	}
}

func (w World) env(name string) string {
	v, _ := w.Lookup(name)
	return v
}

// trackMark tells the children of one track from those of others.
func trackMark(root string) string {
	sum := sha256.Sum256([]byte(root))
	return "si-" + hex.EncodeToString(sum[:6])
}

// ofThisTrack accepts the marks of earlier runs of the track.
func (p *place) ofThisTrack(mark string) bool {
	return strings.HasPrefix(mark, trackMark(p.paths.Root)+"-") && mark != p.mark
}

// userDir is a folder of the user's for this program, by the XDG variables.
func (w World) userDir(variable, fallback string) (string, error) {
	if dir := w.env(variable); filepath.IsAbs(dir) {
		return filepath.Join(dir, "si"), nil
	}
	home := w.env("HOME")
	if !filepath.IsAbs(home) {
		return "", fmt.Errorf("%w: neither %s nor HOME names a folder; set one of them", loop.ErrNotSetUp, variable)
	}
	return filepath.Join(home, fallback, "si"), nil
}

// workDir is where the workspaces of the track lie: outside the repository,
// since test runners and linters would walk into them there.
func (p *place) workDir(w World, configured string) (string, error) {
	name := filepath.Base(p.repo.Toplevel()) + "-" + strings.TrimPrefix(trackMark(p.paths.Root), "si-")
	if configured != "" {
		if !filepath.IsAbs(configured) {
			configured = filepath.Join(p.repo.Toplevel(), configured)
		}
		return filepath.Join(configured, name), nil
	}
	state, err := w.userDir("XDG_STATE_HOME", filepath.Join(".local", "state"))
	if err != nil {
		return "", err
	}
	return filepath.Join(state, "work", name), nil
}

func newRunID() (string, error) {
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", err
	}
	return hex.EncodeToString(b[:]), nil
}
