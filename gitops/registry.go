package gitops

import (
	"os"
	"path/filepath"
	"strings"
)

// registration is one folder below .git/worktrees. They are read directly: git
// worktree list leaves out what a kill left half made.
type registration struct {
	dir  string // <common>/worktrees/<name>
	path string // the worktree's folder, "" when the entry was never finished
	lock string // reason, "" when not locked
}

func (r *Repo) registrations() []registration {
	base := filepath.Join(r.common, "worktrees")
	entries, err := os.ReadDir(base)
	if err != nil {
		return nil
	}
	var list []registration
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		reg := registration{dir: filepath.Join(base, e.Name())}
		if data, err := readBounded(filepath.Join(reg.dir, "gitdir"), 1<<16); err == nil {
			reg.path = worktreePath(reg.dir, string(data))
		}
		if data, err := readBounded(filepath.Join(reg.dir, "locked"), 1<<16); err == nil {
			reg.lock = strings.TrimSpace(string(data))
		}
		list = append(list, reg)
	}
	return list
}

// worktreePath reads a gitdir file: the path of the worktree's .git, absolute or
// relative to the entry (git 2.48 and later).
func worktreePath(dir, content string) string {
	file := strings.TrimSuffix(content, "\n")
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	if filepath.Base(file) != ".git" {
		return ""
	}
	return filepath.Dir(file)
}

// adminsAt lists the entries that are registered for path, also one that a kill
// of git worktree add left "initializing" before it named its folder.
func (r *Repo) adminsAt(path string) []string {
	var dirs []string
	for _, reg := range r.registrations() {
		unfinished := reg.path == "" && reg.lock == "initializing" && filepath.Base(reg.dir) == filepath.Base(path)
		if reg.path == path || unfinished && settled(reg.dir) {
			dirs = append(dirs, reg.dir)
		}
	}
	return dirs
}

// adminOf gives the entry of a worktree when both name each other.
func (r *Repo) adminOf(path string) string {
	data, err := readBounded(filepath.Join(path, ".git"), 1<<16)
	if err != nil {
		return ""
	}
	dir := strings.TrimSuffix(strings.TrimPrefix(string(data), "gitdir: "), "\n")
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(path, dir)
	}
	for _, reg := range r.registrations() {
		if reg.path == path && reg.dir == dir {
			return dir
		}
	}
	return ""
}

// settled tells that an unfinished entry is not being made right now, by a loop
// on another track: git fills one within milliseconds.
func settled(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && sinceModified(info) > staleAfter
}
