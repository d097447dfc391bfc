package gitops

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Limits bound what a candidate may bring. Zero values mean the defaults.
type Limits struct {
	FileBytes int64 // size of one file, default 100 MB
	Paths     int   // changed paths, default 10000
}

func (l Limits) orDefault() Limits {
	if l.FileBytes == 0 {
		l.FileBytes = 100 << 20
	}
	if l.Paths == 0 {
		l.Paths = 10000
	}
	return l
}

// Collect makes a commit on base of what is in the workspace's folder. Only the
// files count: commits, index and configuration of the agent's own git folder
// are never read, since git run with them would run programs that they name.
// Nothing points at the commit yet: the caller pins it with MoveRef. Too many
// paths, a file that is too large, a repository inside and a secret of c.Secrets that is
// new in the repository are refused with an *Error that names them, before anything of
// them is in the object store; no difference from base is ErrNoChange.
func (r *Repo) Collect(ctx context.Context, w *Workspace, base string, c CommitMeta) (_ Commit, _ []Change, err error) {
	defer func() { err = without(c.Secrets, err) }() // an error names what the agent has named
	baseInfo, err := r.read.commit(ctx, base)
	if err != nil {
		return Commit{}, nil, err
	}
	if base != w.owner.Commit {
		return Commit{}, nil, &Error{Op: "collect", Path: w.path, Msg: "it was laid from " + w.owner.Commit + ", not from " + base}
	}
	if info, err := os.Lstat(w.path); err != nil || !info.IsDir() {
		return Commit{}, nil, &Error{Op: "collect", Path: w.path, Msg: "the workspace is gone, or something else stands in its place", Err: ErrRefused}
	}
	paths, err := w.changed(ctx, c.Limits.orDefault())
	if err != nil {
		return Commit{}, nil, err
	}
	if err := w.bringsNoSecret(ctx, base, paths, c.Secrets); err != nil {
		return Commit{}, nil, err
	}
	tree, err := w.stage(ctx, paths)
	if err != nil {
		return Commit{}, nil, err
	}
	if tree == baseInfo.Tree {
		return Commit{}, nil, wrong("collect", w.path, ErrNoChange, "")
	}
	changes, err := r.Diff(ctx, base, tree)
	if err != nil {
		return Commit{}, nil, err
	}
	if err := onlyKnownModules(w.path, changes); err != nil {
		return Commit{}, nil, err
	}
	id, err := r.commitTree(ctx, tree, []string{base}, c)
	return Commit{ID: id, Tree: tree}, changes, err
}

// changed lists the paths that differ from what was laid, and refuses what a
// candidate must not bring.
func (w *Workspace) changed(ctx context.Context, lim Limits) ([]string, error) {
	a, err := w.repo.git.git(ctx, call{
		op: "collect", path: w.path, in: w.place(), limit: workLimit, cut: true,
		// Submodules are left out: to look at one, git would run inside it.
		args: []string{"status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=all"},
	})
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, f := range fields(a.out) {
		// "XY path": X compares with the user's HEAD and means nothing here.
		if len(f) > 3 && f[1] != ' ' && !w.linkedIn(f[3:]) {
			paths = append(paths, f[3:])
		}
	}
	if a.cut || len(paths) > lim.Paths {
		return nil, &Error{
			Op: "collect", Path: w.path, Msg: fmt.Sprintf("more than %d paths changed: %s", lim.Paths, listed(paths)),
			Hint: "generated files belong in .gitignore", Err: ErrRefused,
		}
	}
	return paths, w.acceptable(paths, lim)
}

// linkedIn tells whether Link put the path there.
func (w *Workspace) linkedIn(path string) bool {
	return slices.ContainsFunc(w.owner.Links, func(l string) bool {
		return path == l || strings.HasPrefix(path, l+"/")
	})
}

func (w *Workspace) acceptable(paths []string, lim Limits) error {
	var large, nested []string
	for _, p := range paths {
		if strings.HasSuffix(p, "/") { // status names a folder only when a repository is inside
			nested = append(nested, p)
			continue
		}
		info, err := w.look(p)
		if err != nil {
			return err
		}
		if info != nil && info.Mode().IsRegular() && info.Size() > lim.FileBytes {
			large = append(large, p)
		}
	}
	if len(nested) > 0 {
		return &Error{Op: "collect", Path: w.path, Msg: "repositories inside the workspace: " + listed(nested), Hint: "a candidate brings files, not repositories", Err: ErrRefused}
	}
	if len(large) > 0 {
		return &Error{
			Op: "collect", Path: w.path, Msg: fmt.Sprintf("files over %d bytes: %s", lim.FileBytes, listed(large)),
			Hint: "raise the limit, or keep such files out of the repository", Err: ErrRefused,
		}
	}
	return nil
}

// look says what stands at a changed path; nil where it was deleted. A path that cannot
// be looked at is no deletion: git, which looks from inside of the folder, may well see it.
func (w *Workspace) look(path string) (os.FileInfo, error) {
	info, err := os.Lstat(filepath.Join(w.path, path))
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR): // its folder is a file now
		return nil, nil
	case err != nil:
		return nil, unseen(w.path, err)
	}
	return info, nil
}

// stage writes the tree of what was laid with the changed paths as they are now.
func (w *Workspace) stage(ctx context.Context, paths []string) (tree string, err error) {
	in := w.place()
	in.index = filepath.Join(w.slot.dir, "staged")
	defer os.Remove(in.index) // overwritten by the next stage
	if err := w.stageInto(ctx, in, paths); err != nil {
		return "", err
	}
	return w.repo.git.line(ctx, call{op: "stage", path: w.path, in: in, args: []string{"write-tree"}})
}

// stageInto makes in's index that of what was laid with the changed paths as they are
// now. It is a copy of the workspace's own, so it can be done again.
func (w *Workspace) stageInto(ctx context.Context, in place, paths []string) error {
	if err := copyIndex(w.slot.index(), in.index); err != nil {
		return err
	}
	_ = os.Remove(in.index + ".lock")
	if len(paths) == 0 {
		return nil
	}
	_, err := w.repo.git.git(ctx, call{
		op: "stage", path: w.path, in: in, limit: workLimit, stdin: []byte(strings.Join(paths, "\x00") + "\x00"),
		args: []string{"update-index", "-z", "--add", "--remove", "--replace", "--stdin"},
	})
	return err
}

// onlyKnownModules refuses submodules that were not in the base or moved: the
// commit that they name is in nobody's object store.
func onlyKnownModules(path string, changes []Change) error {
	var bad []string
	for _, c := range changes {
		if c.NewMode == modeModule {
			bad = append(bad, c.Path)
		}
	}
	if len(bad) == 0 {
		return nil
	}
	return &Error{Op: "collect", Path: path, Msg: "changed submodules: " + listed(bad), Hint: "a candidate brings files, not repositories", Err: ErrRefused}
}
