package gitops

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"si/internal/durable"
)

// lender keeps packs of what agents may read: the objects that the base of their
// clones reaches, and none of other candidates, branches or the stash.
type lender struct {
	mu  sync.Mutex
	dir string // "" lends the repository's own store
}

// LendFrom has later clones borrow from packs below dir, which hold what their commit
// reaches and nothing else. Without it, and in a partial clone, whose history is not
// all there, they borrow the object store of the repository itself.
func (r *Repo) LendFrom(dir string) { r.lender.dir = dir }

// Lent is the folder that clones borrow from, "" when that is the repository's own.
func (r *Repo) Lent() string {
	if r.conf["extensions.partialclone"] != "" {
		return ""
	}
	return r.lender.dir
}

// lend returns an object folder with what commit of gitDir reaches. The packs of one
// git folder add up as long as each commit comes after the last, which the bases of
// rounds do: a pack then holds the difference.
func (r *Repo) lend(ctx context.Context, gitDir, commit string) (string, error) {
	if r.Lent() == "" {
		return filepath.Join(gitDir, "objects"), nil
	}
	l := &r.lender
	l.mu.Lock()
	defer l.mu.Unlock()
	dir := filepath.Join(l.dir, digest(gitDir))
	base, err := readBounded(filepath.Join(dir, "base"), 1<<10)
	last := strings.TrimSpace(string(base))
	if err == nil && last == commit {
		return filepath.Join(dir, "objects"), nil
	}
	if err != nil || !r.isID(last) || !r.follows(ctx, gitDir, last, commit) {
		last = ""
		if err := r.trash.throw(dir); err != nil {
			return "", fmt.Errorf("lend objects: %w", err)
		}
	}
	if err := r.pack(ctx, gitDir, dir, commit, last); err != nil {
		return "", err
	}
	var store durable.Store
	if err := store.Replace(filepath.Join(dir, "base"), []byte(commit+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("lend objects: %w", err)
	}
	return filepath.Join(dir, "objects"), nil
}

func (r *Repo) follows(ctx context.Context, gitDir, old, commit string) bool {
	a, err := r.git.git(ctx, call{
		op: "compare the history of", path: commit, in: place{gitDir: gitDir}, codes: []int{1, 128},
		args: []string{"merge-base", "--is-ancestor", old, commit},
	})
	return err == nil && a.code == 0
}

// pack writes what commit reaches, and except does not, below dir.
func (r *Repo) pack(ctx context.Context, gitDir, dir, commit, except string) error {
	objects := filepath.Join(dir, "objects")
	if err := os.MkdirAll(filepath.Join(objects, "pack"), 0o755); err != nil {
		return fmt.Errorf("lend objects: %w", err)
	}
	revs := commit + "\n"
	if except != "" {
		revs += "^" + except + "\n"
	}
	// git writes a pack into its own object folder before it gives it its name: with
	// the folder that is lent as its own, all of it is on one disk. Deltas that are there
	// are taken over; to look for new ones (--window) took 13 s for 50,000 loose objects.
	_, err := r.git.git(ctx, call{
		op: "lend the objects of", path: commit, in: place{gitDir: gitDir}, limit: workLimit, stdin: []byte(revs), max: 1 << 10,
		env: []string{
			"GIT_OBJECT_DIRECTORY=" + objects,
			"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + listedAlternate(filepath.Join(gitDir, "objects")),
		},
		args: []string{"pack-objects", "--revs", "--quiet", "--window=0", "--delta-base-offset", filepath.Join(objects, "pack", "pack")},
	})
	return err
}

// listedAlternate writes a folder as one of a list that colons separate.
func listedAlternate(folder string) string {
	line := alternate(folder)
	if strings.HasPrefix(line, `"`) || !strings.Contains(line, ":") {
		return line
	}
	return `"` + line + `"`
}
