package gitops

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Entry is one file of a tree, at any depth.
type Entry struct {
	Path string // raw bytes, separated by /
	Mode string // 100644, 100755, 120000 (link) or 160000 (submodule)
	Type string // blob or commit
	ID   string
}

// ListTree lists the files of a commit or tree in git's order.
func (r *Repo) ListTree(ctx context.Context, commit string) ([]Entry, error) {
	entries, err := r.files(ctx, commit)
	return slices.Clone(entries), err
}

// ReadFile gives the content of a file of a commit: ErrNotFound, or ErrTooLarge
// beyond most bytes. A symbolic link's content is its target.
func (r *Repo) ReadFile(ctx context.Context, commit, path string, most int64) ([]byte, error) {
	if !r.isID(commit) || path == "" || strings.Contains(path, "\x00") {
		return nil, wrong("read file", path, ErrNotFound, "")
	}
	return r.read.blob(ctx, commit, path, most)
}

// listTree asks git.
func (r *Repo) listTree(ctx context.Context, commit string) ([]Entry, error) {
	const op = "list tree"
	if !r.isID(commit) {
		return nil, wrong(op, commit, ErrNotFound, "give a commit")
	}
	args := []string{"ls-tree", "-r", "-z", "--full-tree"}
	a, err := r.git.git(ctx, call{op: op, path: commit, in: r.store(), args: append(args, commit)})
	if err != nil {
		return nil, err
	}
	list := fields(a.out)
	entries := make([]Entry, 0, len(list))
	for _, line := range list {
		e, ok := parseEntry(line)
		if !ok {
			return nil, &Error{Op: op, Path: commit, Msg: fmt.Sprintf("git printed an unknown line: %q", printable(line))}
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// parseEntry reads "<mode> <type> <id>\t<path>".
func parseEntry(line string) (Entry, bool) {
	head, path, ok := strings.Cut(line, "\t")
	f := strings.Fields(head)
	if !ok || len(f) < 3 {
		return Entry{}, false
	}
	return Entry{Path: path, Mode: canonical(f[0]), Type: f[1], ID: f[2]}, true
}

// cachedEntries bounds what treeCache keeps: a list of 50,000 files is about 10 MB.
const cachedEntries = 100_000

// treeCache keeps the lists that were asked for last: base and candidates of a round
// are asked for again at every measuring.
type treeCache struct {
	mu    sync.Mutex
	lists []cachedTree // the last asked for last
}

// find returns the list of a commit, which now is the last asked for.
func (c *treeCache) find(commit string) ([]Entry, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.lists, func(t cachedTree) bool { return t.commit == commit })
	if i < 0 {
		return nil, false
	}
	found := c.lists[i]
	c.lists = append(slices.Delete(c.lists, i, i+1), found)
	return found.entries, true
}

// keep adds a list and drops those that nobody asked for since long.
func (c *treeCache) keep(t cachedTree) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lists = append(c.lists, t)
	total := 0
	for i, old := range slices.Backward(c.lists) {
		if total += len(old.entries); total > cachedEntries && i < len(c.lists)-1 {
			c.lists = slices.Clone(c.lists[i+1:])
			return
		}
	}
}

type cachedTree struct {
	commit  string
	entries []Entry
}

// files is listTree through the cache. The result is shared: it
// is not to be changed.
func (r *Repo) files(ctx context.Context, commit string) ([]Entry, error) {
	if entries, ok := r.trees.find(commit); ok {
		return entries, nil
	}
	entries, err := r.listTree(ctx, commit)
	if err != nil {
		return nil, err
	}
	r.trees.keep(cachedTree{commit, entries})
	return entries, nil
}
