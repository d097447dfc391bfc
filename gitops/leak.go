package gitops

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"si/internal/secret"
)

// bringsNoSecret refuses changed paths that hold a secret, in their name, in their content
// or in what git makes of it, which no file of base has: what the repository has told
// already is no news.
func (w *Workspace) bringsNoSecret(ctx context.Context, base string, paths []string, secrets secret.Set) error {
	if secrets.Empty() {
		return nil
	}
	s := search{repo: w.repo, base: base, all: secrets, left: secrets, in: map[string]bool{}}
	for _, p := range paths {
		if err := w.searchFile(ctx, &s, p); err != nil {
			return err
		}
	}
	if err := w.searchBlobs(ctx, &s, paths); err != nil {
		return err
	}
	if len(s.places) == 0 {
		return nil
	}
	return &Error{
		Op: "collect", Path: w.path, Msg: "the candidate contains a secret of the environment: " + listed(s.places),
		Hint: "nothing of it was committed; if the agent could read what it has no need of, change that key", Err: ErrRefused,
	}
}

// search finds out where secrets stand that no file of base tells. Base is asked once for
// each secret, however often that was written.
type search struct {
	repo        *Repo
	base        string
	all         secret.Set
	left, fresh secret.Set // left: without what base tells; fresh: known not to be told
	in          map[string]bool
	places      []string // FILE:LINE of each path of in, FILE where it stands in the name; without the secrets
}

// first is the line, from 1, of the first secret that base does not tell in what open
// gives; 0 for none.
func (s *search) first(ctx context.Context, open func() (io.ReadCloser, error)) (line int, err error) {
	for {
		content, err := open()
		if err != nil {
			return 0, err
		}
		held, line, err := s.left.In(content)
		if err = errors.Join(err, content.Close()); err != nil || held.Empty() {
			return 0, err
		}
		told, err := s.repo.tells(ctx, s.base, held.Without(s.fresh))
		if err != nil {
			return 0, err
		}
		s.fresh = s.fresh.And(held.Without(told))
		if told.Empty() {
			return line, nil
		}
		s.left = s.left.Without(told)
	}
}

// text gives a text to first.
func text(t string) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(t)), nil }
}

// found takes a place that brings a secret.
func (s *search) found(path string, line int) {
	place := s.all.Mask(path)
	if line > 0 {
		place = fmt.Sprintf("%s:%d", place, line)
	}
	s.in[path] = true
	s.places = append(s.places, place)
}

// searchFile looks into a changed file as it lies there, or at a link's target, and at
// its name. What is neither and what is gone cannot be committed.
func (w *Workspace) searchFile(ctx context.Context, s *search, path string) error {
	info, err := w.look(path)
	if err != nil || info == nil {
		return err
	}
	full := filepath.Join(w.path, path)
	var content func() (io.ReadCloser, error)
	switch {
	case info.Mode()&os.ModeSymlink != 0:
		target, err := os.Readlink(full)
		if err != nil {
			return unseen(w.path, err)
		}
		content = text(target)
	case info.Mode().IsRegular():
		content = func() (io.ReadCloser, error) { return os.Open(full) }
	default:
		return nil
	}
	inName, err := s.first(ctx, text(path))
	if err != nil {
		return err
	}
	line, err := s.first(ctx, content)
	if err != nil {
		return unseen(w.path, err)
	}
	if inName > 0 || line > 0 {
		s.found(path, line)
	}
	return nil
}

// without is err without the secrets, and of the same kind.
func without(secrets secret.Set, err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return secrets.Error(err)
	}
	out := *e
	out.Path, out.Msg, out.Err = secrets.Mask(e.Path), secrets.Mask(e.Msg), secrets.Error(e.Err)
	return &out
}

// unseen is the error of a changed file that cannot be looked at. It does not name it:
// what is wrong with it may be the length of its name.
func unseen(workspace string, err error) error {
	var broken *fs.PathError
	if !errors.As(err, &broken) {
		return err
	}
	return &Error{Op: "collect", Path: workspace, Msg: "a changed file cannot be looked at: " + broken.Err.Error(), Hint: "shorten its path, or let its mode allow to read it", Err: ErrRefused}
}

// searchBlobs looks at what git makes of the changed files: attributes, which a candidate
// may bring, have it write another text than lies there (gitattributes(5),
// working-tree-encoding). Its objects go to a folder of their own, which is removed.
func (w *Workspace) searchBlobs(ctx context.Context, s *search, paths []string) error {
	dir := filepath.Join(w.slot.dir, "searched")
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("search what changed: %w", err)
	}
	defer os.RemoveAll(dir) // also the next search does
	in := w.place()
	in.index, in.objects = filepath.Join(dir, "index"), filepath.Join(dir, "objects")
	if err := os.MkdirAll(in.objects, 0o700); err != nil {
		return fmt.Errorf("search what changed: %w", err)
	}
	if err := w.stageInto(ctx, in, paths); err != nil {
		return err
	}
	a, err := w.repo.git.git(ctx, call{
		op: "stage", path: w.path, in: in, limit: workLimit,
		args: []string{"diff-index", "--cached", "--raw", "-z", "--no-abbrev", "--no-renames", "--ignore-submodules=all", s.base},
	})
	if err != nil {
		return err
	}
	changes, err := parseRaw(a.out)
	if err != nil {
		return err
	}
	// An index of the changed files alone is what git can search at once.
	var list bytes.Buffer
	for _, c := range changes {
		if strings.HasPrefix(c.NewMode, "100") {
			fmt.Fprintf(&list, "%s %s 0\t%s\x00", c.NewMode, c.NewID, c.Path)
		}
	}
	in.index = filepath.Join(dir, "changed")
	if _, err := w.repo.git.git(ctx, call{op: "stage", path: w.path, in: in, limit: workLimit, stdin: list.Bytes(), args: []string{"update-index", "-z", "--index-info"}}); err != nil {
		return err
	}
	a, err = w.repo.git.git(ctx, call{
		op: "collect", path: w.path, in: in, limit: workLimit, codes: []int{1}, stdin: []byte(strings.Join(s.left.Each(), "\n") + "\n"),
		args: []string{"grep", "--cached", "-z", "-n", "-o", "-a", "-F", "--no-textconv", "--no-color", "--no-column", "--full-name", "--no-recurse-submodules", "-f", "-"},
	})
	if err != nil {
		return err
	}
	return s.takeMatches(ctx, a.out)
}

// takeMatches reads git grep -z -n -o: path NUL line NUL match LF.
func (s *search) takeMatches(ctx context.Context, out []byte) error {
	known := map[string]bool{} // the matches, and whether they bring a secret
	for len(out) > 0 {
		path, rest, _ := bytes.Cut(out, []byte{0})
		number, rest, _ := bytes.Cut(rest, []byte{0})
		match, rest, _ := bytes.Cut(rest, []byte{'\n'})
		out = rest
		line, err := strconv.Atoi(string(number))
		if err != nil {
			return fmt.Errorf("search what changed: git grep printed something else than matches: %w", err)
		}
		brings, ok := known[string(match)]
		if !ok {
			at, err := s.first(ctx, text(string(match)))
			if err != nil {
				return err
			}
			brings = at > 0
			known[string(match)] = brings
		}
		if brings && !s.in[string(path)] {
			s.found(string(path), line)
		}
	}
	return nil
}

// tells are the secrets that stand in a file of the commit already.
func (r *Repo) tells(ctx context.Context, commit string, secrets secret.Set) (secret.Set, error) {
	var known []string
	for _, one := range secrets.Each() {
		a, err := r.git.git(ctx, call{
			op: "search", path: commit, in: r.store(), limit: workLimit, codes: []int{1}, stdin: []byte(one + "\n"),
			args: []string{"grep", "-q", "-F", "--no-textconv", "-f", "-", commit},
		})
		if err != nil {
			return secret.Set{}, err
		}
		if a.code == 0 {
			known = append(known, one)
		}
	}
	return secret.Set{}.With(known...), nil
}
