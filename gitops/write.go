package gitops

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
)

// Write makes a commit on top of onto in which the given files hold the given
// content; nil removes a file. A file that is there keeps its mode, a new one is an
// ordinary file. Paths are as ListTree names them. No ref, checkout or index of the
// user's changes.
func (r *Repo) Write(ctx context.Context, onto string, files map[string][]byte, meta CommitMeta) (Commit, error) {
	const op = "write a commit onto"
	known, err := r.files(ctx, onto)
	if err != nil {
		return Commit{}, err
	}
	info, err := r.indexInfo(ctx, known, files)
	if err != nil {
		return Commit{}, err
	}
	tmp, err := os.MkdirTemp("", "si-index-")
	if err != nil {
		return Commit{}, fmt.Errorf("%s %s: %w", op, onto, err)
	}
	defer os.RemoveAll(tmp) // a folder for temporary files
	in := place{gitDir: r.common, workTree: tmp, index: tmp + "/index"}
	if _, err := r.git.git(ctx, call{op: op, path: onto, in: in, args: []string{"read-tree", onto}}); err != nil {
		return Commit{}, err
	}
	_, err = r.git.git(ctx, call{
		op: op, path: onto, in: in, stdin: info, args: []string{"update-index", "-z", "--add", "--replace", "--index-info"},
	})
	if err != nil {
		return Commit{}, err
	}
	tree, err := r.git.line(ctx, call{op: op, path: onto, in: in, args: []string{"write-tree"}})
	if err != nil {
		return Commit{}, err
	}
	id, err := r.commitTree(ctx, tree, []string{onto}, meta)
	return Commit{ID: id, Tree: tree}, err
}

// indexInfo is the input of update-index --index-info -z: removals first, so that
// a file makes way for a folder of its name. Equal contents are stored once.
func (r *Repo) indexInfo(ctx context.Context, known []Entry, files map[string][]byte) ([]byte, error) {
	modes := make(map[string]string, len(known))
	for _, e := range known {
		modes[e.Path] = e.Mode
	}
	blobs := map[string]string{}
	var gone, come strings.Builder
	paths := make([]string, 0, len(files))
	for p := range files {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	for _, p := range paths {
		if files[p] == nil {
			fmt.Fprintf(&gone, "0 %s\t%s\x00", r.zero(), p)
			continue
		}
		id, ok := blobs[string(files[p])]
		if !ok {
			var err error
			if id, err = r.git.line(ctx, call{op: "store", path: p, in: r.store(), stdin: files[p], args: []string{"hash-object", "-w", "--stdin"}}); err != nil {
				return nil, err
			}
			blobs[string(files[p])] = id
		}
		mode := modes[p]
		if mode != "100755" {
			mode = "100644"
		}
		fmt.Fprintf(&come, "%s %s\t%s\x00", mode, id, p)
	}
	return []byte(gone.String() + come.String()), nil
}
