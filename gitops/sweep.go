package gitops

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// sweepDepth is how far below a root of workspaces they are looked for.
const sweepDepth = 4

// SweepWorkspaces removes the workspaces of this repository below root that keep
// does not want: recorded ones whether or not git knows them, registered ones
// with our lock, and the worktrees/round_* of an adopted track inside the
// repository. Of the kept ones it removes stale locks; another folder that keep wants
// is left as it is. It is for the start, when no process of ours works there. Other
// registrations are not pruned: the user's worktree may lie on a disk that is not mounted.
func (r *Repo) SweepWorkspaces(ctx context.Context, root string, keep func(path string) bool) (removed []string, err error) {
	root, err = resolved(root)
	if err != nil {
		return nil, err
	}
	found := r.recorded(root, sweepDepth)
	for _, reg := range r.registrations() {
		if reg.path != "" && r.isOurs(root, reg) && !slices.Contains(found, reg.path) {
			found = append(found, reg.path)
		}
	}
	slices.Sort(found)
	for _, path := range found {
		if ctx.Err() != nil {
			return removed, fmt.Errorf("clear workspaces below %s: %w", root, context.Cause(ctx))
		}
		admins := r.adminsAt(path)
		if keep != nil && keep(path) {
			unlock(slotOf(path), admins)
			continue
		}
		if err := r.discard(path, admins); err != nil {
			return removed, err
		}
		removed = append(removed, path)
	}
	tidy(root, sweepDepth, keep)
	return removed, nil
}

// recorded finds our records below dir and sweeps trash on the way.
func (r *Repo) recorded(dir string, depth int) []string {
	entries, err := os.ReadDir(dir)
	if err != nil || depth == 0 {
		return nil
	}
	var paths []string
	home := filepath.Join(dir, slotFolder)
	if info, err := os.Lstat(home); err == nil && info.IsDir() {
		r.trash.sweep(home)
		slots, _ := os.ReadDir(home)
		for _, s := range slots {
			o, ok := slot{dir: filepath.Join(home, s.Name())}.load()
			if ok && o.Repository == r.common {
				paths = append(paths, filepath.Join(dir, s.Name()))
			}
		}
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if e.IsDir() && e.Name() != slotFolder && !isCheckout(path) {
			paths = append(paths, r.recorded(path, depth-1)...)
		}
	}
	return paths
}

// isCheckout keeps the search out of workspaces, whose content is not ours.
func isCheckout(path string) bool {
	_, err := os.Lstat(filepath.Join(path, ".git"))
	return err == nil
}

// isOurs tells whether a registered worktree may be removed: below the root with
// our lock, or of the program whose track was adopted.
func (r *Repo) isOurs(root string, reg registration) bool {
	if inside(root, reg.path) && strings.HasPrefix(reg.lock, "si: ") {
		return true
	}
	dir, name := filepath.Split(reg.path)
	return inside(r.top, reg.path) && filepath.Base(dir) == "worktrees" && strings.HasPrefix(name, "round_")
}

func unlock(s slot, admins []string) {
	_ = os.Remove(s.index() + ".lock")
	for _, dir := range admins {
		for _, f := range []string{"index.lock", "HEAD.lock"} {
			_ = os.Remove(filepath.Join(dir, f))
		}
	}
}

// tidy removes the empty folders below dir, as rounds leave them, but for those that
// keep wants.
func tidy(dir string, depth int, keep func(path string) bool) {
	entries, err := os.ReadDir(dir)
	if err != nil || depth == 0 {
		return
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if e.IsDir() && e.Name() != slotFolder && !isCheckout(path) && (keep == nil || !keep(path)) {
			tidy(path, depth-1, keep)
			_ = os.Remove(path) // succeeds only when empty
		}
	}
}
