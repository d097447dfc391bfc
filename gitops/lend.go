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
// reaches and nothing else. Of a partial clone's history they hold what is there.
// Without it, later clones borrow the object store of the repository itself.
func (r *Repo) LendFrom(dir string) { r.lender.dir = dir }

// Lent is the folder that clones borrow from, "" when that is the repository's own.
func (r *Repo) Lent() string { return r.lender.dir }

// Lend packs what commit reaches, for LentTo.
func (r *Repo) Lend(ctx context.Context, commit string) error {
	_, err := r.lend(ctx, r.common, commit)
	return err
}

// LentTo is for a linked worktree that an agent edits, in which git works in the
// repository itself: it gives the worktree's own part of the git folder, which alone
// git there has to write to, and an environment in which git writes its objects below
// own and reads besides them only what was lent last.
func (r *Repo) LentTo(worktree, own string) (admin string, env []string, err error) {
	if admin = r.adminOf(worktree); admin == "" {
		return "", nil, &Error{Op: "lend objects to worktree", Path: worktree, Msg: "it is no longer registered with the repository"}
	}
	objects := filepath.Join(r.common, "objects")
	if r.Lent() != "" {
		objects = filepath.Join(r.Lent(), digest(r.common), "objects")
	}
	if err := os.MkdirAll(own, 0o700); err != nil {
		return "", nil, fmt.Errorf("lend objects to worktree %s: %w", worktree, err)
	}
	return admin, ownObjects(own, objects), nil
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
	partial := isPartial(gitDir)
	if err != nil || partial || !r.isID(last) || !r.follows(ctx, gitDir, last, commit) {
		last = ""
		if err := r.trash.throw(dir); err != nil {
			return "", fmt.Errorf("lend objects: %w", err)
		}
	}
	revs := commit + "\n"
	if last != "" {
		revs += "^" + last + "\n"
	}
	if partial {
		err = r.packPresent(ctx, gitDir, dir, commit)
	} else {
		err = r.pack(ctx, gitDir, dir, commit, []byte(revs), "--revs")
	}
	if err != nil {
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

// isPartial tells of a partial clone, or of a submodule's: packs that were fetched
// into one are marked (gitrepository-layout(5)).
func isPartial(gitDir string) bool {
	found, err := filepath.Glob(filepath.Join(quotedGlob(gitDir), "objects", "pack", "*.promisor"))
	return err != nil || len(found) > 0
}

// quotedGlob keeps the characters of a path from being a pattern.
func quotedGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `[`, `\[`, `*`, `\*`, `?`, `\?`).Replace(path)
}

// idsMax bounds the list of a partial clone's objects: six million of them.
const idsMax = 256 << 20

// packPresent packs what a partial clone has of what commit reaches. It is a list and
// no walk of pack-objects, which gives up at a folder that is not there. It is all of
// it each time: what came meanwhile may belong to a commit that was packed before.
func (r *Repo) packPresent(ctx context.Context, gitDir, dir, commit string) error {
	a, err := r.git.git(ctx, call{
		op: "list the objects of", path: commit, in: place{gitDir: gitDir}, limit: workLimit, max: idsMax,
		args: []string{"rev-list", "--objects", "--no-object-names", "--missing=allow-promisor", commit},
	})
	if err != nil {
		return err
	}
	return r.pack(ctx, gitDir, dir, commit, a.out)
}

// pack writes a pack below dir with the objects that flags and list name to
// pack-objects; commit is named in errors.
func (r *Repo) pack(ctx context.Context, gitDir, dir, commit string, list []byte, flags ...string) error {
	objects := filepath.Join(dir, "objects")
	if err := os.MkdirAll(filepath.Join(objects, "pack"), 0o755); err != nil {
		return fmt.Errorf("lend objects: %w", err)
	}
	// git writes a pack into its own object folder before it gives it its name: with
	// the folder that is lent as its own, all of it is on one disk. Deltas that are there
	// are taken over; to look for new ones (--window) took 13 s for 50,000 loose objects.
	_, err := r.git.git(ctx, call{
		op: "lend the objects of", path: commit, in: place{gitDir: gitDir, objects: objects}, limit: workLimit, stdin: list, max: 1 << 10,
		args: append(append([]string{"pack-objects"}, flags...), "--quiet", "--window=0", "--delta-base-offset", filepath.Join(objects, "pack", "pack")),
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
