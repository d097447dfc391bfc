package gitops

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// lockReason is what git worktree list shows for worktrees of ours.
const lockReason = "si: in use by a running loop, removed by its next start"

// Workspace is a folder with the content of a commit: a clone that an agent may
// write to, or a linked worktree to measure in. Its methods are for one
// goroutine at a time; different workspaces are independent.
type Workspace struct {
	repo     *Repo
	path     string
	slot     slot
	owner    owner
	tree     string // what was laid: a commit or a tree
	note     string
	warnings []string
}

// Path is the folder.
func (w *Workspace) Path() string { return w.path }

// Note says what was found at the path before and what became of it, or "".
func (w *Workspace) Note() string { return w.note }

// Warnings says what the checkout lacks: submodules, large files.
func (w *Workspace) Warnings() []string { return w.warnings }

// Clone lays a workspace for an agent: a repository of its own on the branch
// "candidate" at commit, which borrows the objects of the target and knows
// nothing of its refs, configuration or hooks. What is at path from an earlier
// run is replaced, and Note says so. The commit is to be reachable from a ref
// while the clone lives, else the user's gc could drop it.
func (r *Repo) Clone(ctx context.Context, path, commit string) (*Workspace, error) {
	w, err := r.prepare(ctx, path, commit, cloned)
	if err != nil {
		return nil, err
	}
	if err := w.layClone(ctx); err != nil {
		return nil, w.undo(err)
	}
	return w, nil
}

// Worktree lays a workspace for measuring: a linked worktree, detached, locked
// with a reason. A complete one of ours at path is adopted and reset, anything
// else of ours is replaced, and Note says so.
func (r *Repo) Worktree(ctx context.Context, path, commit string) (*Workspace, error) {
	if w := r.adopt(path, linked); w != nil && r.isID(commit) {
		if err := w.Reset(ctx, commit); err == nil {
			w.note = "adopted the worktree of an earlier run at " + path
			return w, nil
		}
	}
	w, err := r.prepare(ctx, path, commit, linked)
	if err != nil {
		return nil, err
	}
	if err := w.layWorktree(ctx); err != nil {
		return nil, w.undo(err)
	}
	return w, nil
}

// Attach takes up a workspace of ours that an earlier program laid, as it is:
// the work of an agent that finished before a crash is collected from it. It is
// ErrNotFound when there is none that was complete.
func (r *Repo) Attach(_ context.Context, path string) (*Workspace, error) {
	w := r.adopt(path, "")
	if w == nil {
		return nil, wrong("take up workspace", path, ErrNotFound, "lay it anew")
	}
	return w, nil
}

func (r *Repo) adopt(path string, want kind) *Workspace {
	path, err := resolved(path)
	if err != nil {
		return nil
	}
	s := slotOf(path)
	o, ok := s.load()
	if !ok || !o.Ready || o.Repository != r.common || want != "" && o.Kind != want {
		return nil
	}
	if info, err := os.Lstat(path); err != nil || !info.IsDir() {
		return nil
	}
	if o.Kind == linked && r.adminOf(path) == "" {
		return nil
	}
	_ = os.Remove(s.index() + ".lock") // of a git that a crash took along
	return &Workspace{repo: r, path: path, slot: s, owner: o, tree: o.Commit}
}

// prepare clears the path and writes the record that makes it ours.
func (r *Repo) prepare(ctx context.Context, path, commit string, k kind) (*Workspace, error) {
	const op = "lay workspace"
	if !r.HasCommit(ctx, commit) {
		return nil, wrong(op, path, fmt.Errorf("commit %s: %w", printable(commit), ErrNotFound), "")
	}
	path, err := resolved(path)
	if err != nil {
		return nil, err
	}
	if inside(path, r.top) || inside(r.common, path) {
		return nil, &Error{Op: op, Path: path, Msg: "this folder holds the repository or lies in its git folder", Hint: "choose another si.worktree_dir"}
	}
	w := &Workspace{repo: r, path: path, slot: slotOf(path), tree: commit, owner: owner{Repository: r.common, Kind: k, Commit: commit}}
	if w.note, err = r.clear(path); err != nil {
		return nil, err
	}
	if err := w.slot.save(w.owner); err != nil {
		return nil, err
	}
	return w, w.slot.reset()
}

// resolved makes a path absolute and free of links, as git writes it down; the
// last part need not exist. Parents are made.
func resolved(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("lay workspace %s: %w", path, err)
	}
	if err := os.MkdirAll(filepath.Dir(abs), 0o755); err != nil {
		return "", fmt.Errorf("lay workspace: %w", err)
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(abs))
	if err != nil {
		return "", fmt.Errorf("lay workspace %s: %w", path, err)
	}
	return filepath.Join(dir, filepath.Base(abs)), nil
}

// inside tells whether inner is outer or lies below it.
func inside(outer, inner string) bool {
	rel, err := filepath.Rel(outer, inner)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}

// clear removes what an earlier run left at path: folder, record, registration.
// A folder that is not ours is refused, never deleted.
func (r *Repo) clear(path string) (note string, err error) {
	admins := r.adminsAt(path)
	s := slotOf(path)
	o, marked := s.load()
	ours := marked && o.Repository == r.common || len(admins) > 0
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		if len(admins) > 0 {
			note = "replaced a worktree registration whose folder was gone at " + path
		}
	case err != nil:
		return "", fmt.Errorf("lay workspace: %w", err)
	case !ours && (!info.IsDir() || os.Remove(path) != nil): // an empty folder is no loss
		return "", &Error{
			Op: "lay workspace", Path: path, Msg: "something that si did not make is in the way",
			Hint: "move it away, or choose another si.worktree_dir",
		}
	default:
		note = "replaced a leftover workspace at " + path
	}
	return note, r.discard(path, admins)
}

// discard moves a workspace of ours and its record to the trash and drops its
// registrations.
func (r *Repo) discard(path string, admins []string) error {
	if err := r.trash.throw(path); err != nil {
		return err
	}
	if err := os.RemoveAll(slotOf(path).dir); err != nil {
		return fmt.Errorf("forget workspace: %w", err)
	}
	r.admin.Lock()
	defer r.admin.Unlock()
	for _, dir := range admins {
		if err := removeAll(dir); err != nil {
			return fmt.Errorf("unregister worktree %s: %w", path, err)
		}
	}
	return nil
}

// undo removes what a failed laying left, and gives the failure.
func (w *Workspace) undo(cause error) error {
	return errors.Join(cause, w.repo.discard(w.path, w.repo.adminsAt(w.path)))
}

// Remove takes the workspace away: out of sight at once, deleted in the
// background; Repo.Close waits for that.
func (w *Workspace) Remove(context.Context) error {
	return w.repo.discard(w.path, w.repo.adminsAt(w.path))
}

// commonPlace is the target's repository over this folder with our own index:
// every command in a workspace uses it, so nothing that an agent or a benchmark
// could write configures git.
func (w *Workspace) place() place {
	return place{gitDir: w.repo.common, workTree: w.path, index: w.slot.index()}
}

// ready marks the workspace complete.
func (w *Workspace) ready() error {
	w.owner.Ready = true
	return w.slot.save(w.owner)
}
