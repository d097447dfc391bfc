package gitops

import (
	"context"
	"strconv"
	"strings"
)

// Merge is a merge that was made, or the paths that kept it from being made.
type Merge struct {
	Commit, Tree string   // empty when there are conflicts
	Conflicts    []string // paths, sorted by git
}

// Merge merges candidate into tip as a commit with both as parents, also where
// tip could be moved forward. It works on objects only: no checkout, no index
// and no ref changes, so a kill leaves nothing half done, and the caller moves
// the branch when the result was measured. Conflicts are an answer, no error.
func (r *Repo) Merge(ctx context.Context, tip, candidate string, c CommitMeta) (Merge, error) {
	const op = "merge"
	if !r.isID(tip) || !r.isID(candidate) {
		return Merge{}, wrong(op, candidate, ErrNotFound, "give two commits")
	}
	a, err := r.git.git(ctx, call{
		op: op, path: candidate, in: r.store(), codes: []int{1}, limit: workLimit, env: r.identityEnv(),
		args: []string{"merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", tip, candidate},
	})
	if err != nil {
		return Merge{}, err
	}
	list := fields(a.out)
	if len(list) == 0 || !r.isID(list[0]) {
		return Merge{}, &Error{Op: op, Path: candidate, Msg: "git merge-tree gave no tree"}
	}
	if a.code == 1 {
		return Merge{Conflicts: conflicts(list[1:])}, nil
	}
	id, err := r.commitTree(ctx, list[0], []string{tip, candidate}, c)
	return Merge{Commit: id, Tree: list[0]}, err
}

// conflicts drops what is not a path: an empty field ends the list.
func conflicts(list []string) []string {
	var paths []string
	for _, p := range list {
		if p == "" {
			break
		}
		paths = append(paths, p)
	}
	return paths
}

// isAncestor tells whether old is reachable from id.
func (r *Repo) isAncestor(ctx context.Context, old, id string) (bool, error) {
	a, err := r.git.git(ctx, call{
		op: "compare the history of", path: id, in: r.store(), codes: []int{1, 128},
		args: []string{"merge-base", "--is-ancestor", old, id},
	})
	return err == nil && a.code == 0, err
}

// LogEntry is one commit of a Log.
type LogEntry struct {
	CommitInfo
	Name, Email string
	When        string // author date, ISO 8601
	Message     string
}

// Log lists the newest commits, most of them at the utmost, that are in to and not in from, newest first.
// An empty from means the whole history. Names and messages are as they were
// written: whoever shows them takes out control characters.
func (r *Repo) Log(ctx context.Context, from, to string, most int) ([]LogEntry, error) {
	const op, columns = "read the history of", 7
	if !r.isID(to) || from != "" && !r.isID(from) {
		return nil, wrong(op, to, ErrNotFound, "give commits")
	}
	args := []string{
		"log", "-z", "--no-color", "--no-notes", "--no-show-signature", "--no-mailmap", "--no-decorate", "--no-patch",
		"--format=%H%x00%T%x00%P%x00%an%x00%ae%x00%aI%x00%B",
	}
	if most > 0 {
		args = append(args, "-n", strconv.Itoa(most))
	}
	args = append(args, to)
	if from != "" {
		args = append(args, "^"+from)
	}
	a, err := r.git.git(ctx, call{op: op, path: to, in: r.store(), args: append(args, "--")})
	if err != nil {
		return nil, err
	}
	var log []LogEntry
	list := fields(a.out)
	for ; len(list) >= columns; list = list[columns:] {
		log = append(log, LogEntry{
			CommitInfo: CommitInfo{ID: list[0], Tree: list[1], Parents: strings.Fields(list[2])},
			Name:       list[3], Email: list[4], When: list[5], Message: strings.TrimRight(list[6], "\n"),
		})
	}
	return log, nil
}
