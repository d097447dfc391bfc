package gitops

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// staleAfter is how long an unfinished registration is left alone.
const staleAfter = time.Minute

func sinceModified(info fs.FileInfo) time.Duration { return time.Since(info.ModTime()) }

// Reset makes a linked worktree exactly the tree of commit: nothing changed,
// untracked or ignored is left. A clone is thrown away and laid anew, since its
// git folder was the agent's.
func (w *Workspace) Reset(ctx context.Context, commit string) error {
	if w.owner.Kind == cloned {
		fresh, err := w.repo.Clone(ctx, w.path, commit)
		if err != nil {
			return err
		}
		*w = *fresh
		w.note = ""
		return nil
	}
	if !w.repo.HasCommit(ctx, commit) {
		return wrong("reset worktree", w.path, fmt.Errorf("commit %s: %w", printable(commit), ErrNotFound), "")
	}
	if err := w.exactly(ctx, commit); err != nil {
		return err
	}
	if err := w.publish(ctx, commit); err != nil {
		return err
	}
	w.owner.Commit, w.owner.Links = commit, nil
	return w.slot.save(w.owner)
}

// exactly clears what is not of the tree, then lays the tree. In this order: a
// folder that was replaced by a link to its moved self has files with the right
// stamps, and git would take them for unchanged.
func (w *Workspace) exactly(ctx context.Context, treeish string) error {
	w.warnings = nil
	files, err := w.repo.files(ctx, treeish)
	if err != nil {
		return err
	}
	if info, err := os.Lstat(w.path); err != nil || !info.IsDir() {
		return &Error{Op: "reset worktree", Path: w.path, Msg: "the folder is gone or was replaced", Hint: "lay it anew"}
	}
	if err := expect(files).clean(w.path, ""); err != nil {
		return fmt.Errorf("clean worktree %s: %w", w.path, err)
	}
	return w.lay(ctx, treeish)
}

// expected tells what each path of a tree is: a folder or a file. Submodules are
// neither, so that their content goes and is laid again.
type expected map[string]bool // true for a folder

func expect(files []Entry) expected {
	e := make(expected, len(files)+len(files)/4)
	for _, f := range files {
		if f.Type == "commit" {
			continue
		}
		e[f.Path] = false
		for dir := f.Path; ; {
			i := strings.LastIndexByte(dir, '/')
			if i < 0 {
				break
			}
			dir = dir[:i]
			if e[dir] {
				break
			}
			e[dir] = true
		}
	}
	return e
}

// clean deletes below root all that is not expected. It reads every folder by
// itself: git clean passes over any .git, where a benchmark could keep what it
// learned from the last candidate.
func (e expected) clean(root, rel string) error {
	dir := filepath.Join(root, rel)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrPermission) {
		if err = os.Chmod(dir, 0o755); err == nil { // a checkout's folder
			entries, err = os.ReadDir(dir)
		}
	}
	if err != nil {
		return err // names the path; the caller says what was being done
	}
	for _, entry := range entries {
		path := filepath.Join(rel, entry.Name())
		if path == ".git" {
			continue
		}
		isDir, known := e[path]
		switch {
		case known && isDir && entry.IsDir():
			err = e.clean(root, path)
		case known && !isDir && !entry.IsDir():
		default:
			err = e.delete(root, dir, path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (e expected) delete(root, dir, path string) error {
	if err := removeAll(filepath.Join(root, path)); err == nil {
		return nil
	}
	if err := os.Chmod(dir, 0o755); err != nil { // a checkout's folder
		return err // names the path; the caller says what was being done
	}
	return removeAll(filepath.Join(root, path))
}

// Dirty lists the tracked paths whose content or mode differs from what was
// laid. Untracked files do not count.
func (w *Workspace) Dirty(ctx context.Context) ([]string, error) {
	a, err := w.repo.git.git(ctx, call{
		op: "compare worktree", path: w.path, in: w.place(),
		args: []string{"diff", "--raw", "-z", "--no-renames", "--no-abbrev", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all"},
	})
	if err != nil {
		return nil, err
	}
	changes, err := parseRaw(a.out)
	if err != nil {
		return nil, fmt.Errorf("compare worktree %s: %w", w.path, err)
	}
	paths := make([]string, len(changes))
	for i, c := range changes {
		paths[i] = c.Path
	}
	return paths, nil
}
