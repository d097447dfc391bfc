package gitops

import (
	"context"
	"fmt"
	"os"
	"strings"
)

// Overlay lays the content of another commit over the given paths: what that
// commit has comes in, with its mode, and what it lacks goes. The paths are
// files, as ListTree and Diff name them. The rest stays what it is, so sealed
// paths of the base can lie over a candidate's tree. It gives the tree that the
// workspace then holds.
func (w *Workspace) Overlay(ctx context.Context, from string, paths []string) (tree string, err error) {
	tree, err = w.repo.Compose(ctx, w.tree, from, paths)
	if err != nil {
		return "", err
	}
	if err := w.drop(ctx, tree, paths); err != nil {
		return "", err
	}
	if err := w.lay(ctx, tree); err != nil {
		return "", err
	}
	if w.owner.Kind == linked {
		return tree, w.publish(ctx, w.owner.Commit)
	}
	return tree, nil
}

// drop deletes the paths that the tree lacks, also those that no commit has: a
// set-up command may have put a file where a sealed one is missing.
func (w *Workspace) drop(ctx context.Context, tree string, paths []string) error {
	files, err := w.repo.files(ctx, tree)
	if err != nil {
		return err
	}
	known := expect(files)
	root, err := os.OpenRoot(w.path)
	if err != nil {
		return fmt.Errorf("overlay %s: %w", w.path, err)
	}
	defer root.Close() // nothing was written through it
	for _, p := range paths {
		if _, ok := known[p]; ok {
			continue
		}
		// An error here is a path behind a file or a link, which is not there.
		if _, err := root.Lstat(p); err != nil {
			continue
		}
		if err := root.RemoveAll(p); err != nil {
			return fmt.Errorf("overlay %s: %w", w.path, err)
		}
	}
	return nil
}

// Compose makes the tree that is onto with the given paths as they are in from.
func (r *Repo) Compose(ctx context.Context, onto, from string, paths []string) (tree string, err error) {
	files, err := r.files(ctx, from)
	if err != nil {
		return "", err
	}
	tmp, err := os.MkdirTemp("", "si-index-")
	if err != nil {
		return "", fmt.Errorf("compose tree: %w", err)
	}
	defer os.RemoveAll(tmp) // a folder for temporary files
	in := place{gitDir: r.common, workTree: tmp, index: tmp + "/index"}
	if _, err := r.git.git(ctx, call{op: "compose tree", path: onto, in: in, args: []string{"read-tree", onto}}); err != nil {
		return "", err
	}
	_, err = r.git.git(ctx, call{
		op: "compose tree", path: from, in: in, stdin: r.indexInfo(files, paths),
		args: []string{"update-index", "-z", "--add", "--replace", "--index-info"},
	})
	if err != nil {
		return "", err
	}
	return r.git.line(ctx, call{op: "compose tree", path: onto, in: in, args: []string{"write-tree"}})
}

// indexInfo is the input of update-index --index-info -z: removals first, so
// that a file makes way for a folder of its name.
func (r *Repo) indexInfo(files []Entry, paths []string) []byte {
	have := make(map[string]Entry, len(files))
	for _, f := range files {
		have[f.Path] = f
	}
	var gone, come strings.Builder
	for _, p := range paths {
		if e, ok := have[p]; ok {
			fmt.Fprintf(&come, "%s %s\t%s\x00", e.Mode, e.ID, p)
		} else {
			fmt.Fprintf(&gone, "0 %s\t%s\x00", r.zero(), p)
		}
	}
	return []byte(gone.String() + come.String())
}
