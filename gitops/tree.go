package gitops

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Entry is one file of a tree, at any depth.
type Entry struct {
	Path string // raw bytes, separated by /
	Mode string // 100644, 100755, 120000 (link) or 160000 (submodule)
	Type string // blob or commit
	ID   string
	Size int64 // bytes of a blob, -1 for a submodule
}

// ListTree lists the files of a commit or tree in git's order.
func (r *Repo) ListTree(ctx context.Context, commit string) ([]Entry, error) {
	return r.listTree(ctx, commit, true)
}

// ReadFile gives the content of a file of a commit: ErrNotFound, or ErrTooLarge
// beyond most bytes. A symbolic link's content is its target.
func (r *Repo) ReadFile(ctx context.Context, commit, path string, most int64) ([]byte, error) {
	if !r.isID(commit) || path == "" || strings.Contains(path, "\x00") {
		return nil, wrong("read file", path, ErrNotFound, "")
	}
	return r.read.blob(ctx, commit, path, most)
}

// listTree asks git. Sizes cost a look at every object, so they are optional.
func (r *Repo) listTree(ctx context.Context, commit string, sizes bool) ([]Entry, error) {
	const op = "list tree"
	if !r.isID(commit) {
		return nil, wrong(op, commit, ErrNotFound, "give a commit")
	}
	args := []string{"ls-tree", "-r", "-z", "--full-tree"}
	if sizes {
		args = append(args, "-l")
	}
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

// parseEntry reads "<mode> <type> <id>[ <size>]\t<path>".
func parseEntry(line string) (Entry, bool) {
	head, path, ok := strings.Cut(line, "\t")
	f := strings.Fields(head)
	if !ok || len(f) < 3 {
		return Entry{}, false
	}
	e := Entry{Path: path, Mode: canonical(f[0]), Type: f[1], ID: f[2], Size: -1}
	if len(f) > 3 && f[3] != "-" {
		n, err := strconv.ParseInt(f[3], 10, 64)
		if err != nil {
			return Entry{}, false
		}
		e.Size = n
	}
	return e, true
}

// treeCache keeps the last lists: the base of a round is asked for again at
// every measuring. A list of 50,000 files is about 10 MB, so there are few.
type treeCache struct {
	mu    sync.Mutex
	lists []cachedTree // newest last
}

type cachedTree struct {
	commit  string
	entries []Entry
}

// files is listTree without sizes, through the cache. The result is shared: it
// is not to be changed.
func (r *Repo) files(ctx context.Context, commit string) ([]Entry, error) {
	c := &r.trees
	c.mu.Lock()
	i := slices.IndexFunc(c.lists, func(t cachedTree) bool { return t.commit == commit })
	if i >= 0 {
		entries := c.lists[i].entries
		c.mu.Unlock()
		return entries, nil
	}
	c.mu.Unlock()
	entries, err := r.listTree(ctx, commit, false)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lists = append(c.lists, cachedTree{commit, entries})
	if len(c.lists) > 2 {
		c.lists = slices.Clone(c.lists[1:])
	}
	return entries, nil
}
