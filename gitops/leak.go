package gitops

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"si/internal/secret"
)

// bringsNoSecret refuses changed paths that hold a secret, in their content or in their
// name, which no file of base has: what the repository has told already is no news.
func (w *Workspace) bringsNoSecret(ctx context.Context, base string, paths []string, secrets secret.Set) error {
	if secrets.Empty() {
		return nil
	}
	var told secret.Set // by base
	var bad []string
	for _, p := range paths {
		held, err := w.secretsIn(p, secrets.Without(told))
		if err != nil {
			return &Error{Op: "collect", Path: filepath.Join(w.path, p), Msg: "look for secrets of the environment in it", Err: err}
		}
		if held.Empty() {
			continue
		}
		more, err := w.repo.tells(ctx, base, held)
		if err != nil {
			return err
		}
		told = told.And(more)
		if left := held.Without(told); !left.Empty() {
			bad = append(bad, w.placeOf(p, left, secrets))
		}
	}
	if len(bad) == 0 {
		return nil
	}
	return &Error{
		Op: "collect", Path: w.path, Msg: "the candidate contains a secret of the environment: " + listed(bad),
		Hint: "nothing of it was committed; if the agent could read what it has no need of, change that key", Err: ErrRefused,
	}
}

// placeOf is FILE:LINE of the first secret of left in the path, FILE where it stands in
// the name, without the secret.
func (w *Workspace) placeOf(path string, left, secrets secret.Set) string {
	name := secrets.Mask(path)
	if _, line, err := w.contentHolds(path, left); err == nil && line > 0 {
		return fmt.Sprintf("%s:%d", name, line)
	}
	return name
}

func (w *Workspace) secretsIn(path string, secrets secret.Set) (secret.Set, error) {
	inName, _, err := secrets.In(strings.NewReader(path))
	if err != nil {
		return inName, err
	}
	inside, _, err := w.contentHolds(path, secrets)
	return inName.And(inside), err
}

// contentHolds looks into a file, or at a link's target. Of what is neither, and of what
// is gone, nothing can be committed.
func (w *Workspace) contentHolds(path string, secrets secret.Set) (secret.Set, int, error) {
	full := filepath.Join(w.path, path)
	info, err := os.Lstat(full)
	if err != nil {
		return secret.Set{}, 0, nil //nolint:nilerr // it was deleted
	}
	var content io.Reader
	switch {
	case info.Mode()&os.ModeSymlink != 0:
		target, err := os.Readlink(full)
		if err != nil {
			return secret.Set{}, 0, err
		}
		content = strings.NewReader(target)
	case info.Mode().IsRegular():
		f, err := os.Open(full)
		if err != nil {
			return secret.Set{}, 0, err
		}
		defer f.Close()
		content = f
	default:
		return secret.Set{}, 0, nil
	}
	return secrets.In(content)
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
