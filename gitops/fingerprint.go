package gitops

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Bounds of what a fingerprint reads.
const (
	hashedPaths = 2000     // dirty paths whose content is hashed
	hashedBytes = 16 << 20 // of one; larger ones count by size and time
	statusBytes = 8 << 20  // of git status: a folder full of untracked files
	keptBytes   = 64 << 10 // of a configuration file or hook, to restore it
	guardFiles  = 500      // hooks and info files
)

// Fingerprint is the state of the user's side at one moment: refs that are not
// ours, HEAD, stash, configuration, hooks, info, index and uncommitted files.
// Remote-tracking refs, FETCH_HEAD and reflogs are left out, since people and
// editors fetch.
type Fingerprint struct {
	repo   *Repo
	head   Head
	refs   map[string]string
	stash  []string // newest first
	guards map[string]guard
	index  *indexList
	files  map[string]string // uncommitted path → digest of what is on disk
}

// guard is a file that changes what git does or runs.
type guard struct {
	kind Kind
	sum  string
	mode os.FileMode
	data []byte // to restore it, nil when too large
}

// Fingerprint takes one. ours tells which full ref names are ours.
func (r *Repo) Fingerprint(ctx context.Context, ours func(ref string) bool) (Fingerprint, error) {
	f := Fingerprint{repo: r, refs: map[string]string{}, guards: map[string]guard{}}
	var err error
	if f.head, err = r.Head(ctx); err != nil {
		return f, err
	}
	refs, err := r.Refs(ctx, "refs/")
	if err != nil {
		return f, err
	}
	for _, ref := range refs {
		if ref.Name == "refs/stash" {
			if f.stash, err = r.stashes(ctx); err != nil {
				return f, err
			}
		} else if watched(ref.Name) && (ours == nil || !ours(ref.Name)) {
			f.refs[ref.Name] = ref.ID
		}
	}
	r.guards(f.guards)
	if f.index, err = r.indexEntries(ctx); err != nil {
		return f, err
	}
	f.files, err = r.uncommitted(ctx, f.head, f.index)
	return f, err
}

// watched tells which refs people and agents have no reason to move by fetching.
func watched(ref string) bool {
	return slices.ContainsFunc([]string{"refs/heads/", "refs/tags/", "refs/notes/", "refs/replace/"}, func(p string) bool {
		return strings.HasPrefix(ref, p)
	})
}

// stashes lists the stash entries, newest first.
func (r *Repo) stashes(ctx context.Context) ([]string, error) {
	a, err := r.git.git(ctx, call{
		op: "list the stash of", path: r.top, in: r.here(),
		args: []string{"log", "--walk-reflogs", "-z", "--no-color", "--no-show-signature", "--no-patch", "--format=%H", "refs/stash", "--"},
	})
	return fields(a.out), err
}

// Disregard leaves a path of the checkout (a file or a folder, relative) out of
// later fingerprints and lists of dirty paths: the base of a track lies there.
func (r *Repo) Disregard(path string) {
	r.admin.Lock()
	defer r.admin.Unlock()
	r.own = append(r.own, strings.TrimSuffix(filepath.ToSlash(filepath.Clean(path)), "/"))
}

func (r *Repo) disregarded(path string) bool {
	r.admin.Lock()
	defer r.admin.Unlock()
	return slices.ContainsFunc(r.own, func(own string) bool {
		return path == own || path == own+"/" || strings.HasPrefix(path, own+"/")
	})
}

// DirtyPaths lists what is not committed in the user's checkout, a folder of
// untracked files as one path that ends in /.
func (r *Repo) DirtyPaths(ctx context.Context) ([]string, error) {
	return r.status(ctx, "normal")
}

func (r *Repo) status(ctx context.Context, untracked string) ([]string, error) {
	dirty, _, _, err := r.askStatus(ctx, "--untracked-files="+untracked)
	return dirty, err
}

// askStatus runs git status. ignored is what git was asked to name besides, and
// whole is false when it printed more than is read.
func (r *Repo) askStatus(ctx context.Context, flags ...string) (dirty, ignored []string, whole bool, err error) {
	a, err := r.git.git(ctx, call{
		op: "read the status of", path: r.top, in: r.here(), limit: workLimit, max: statusBytes, cut: true,
		args: append([]string{"status", "--porcelain=v1", "-z", "--no-renames", "--ignore-submodules=dirty"}, flags...),
	})
	if err != nil {
		return nil, nil, false, err
	}
	list := fields(a.out)
	if a.cut && len(list) > 0 {
		list = list[:len(list)-1]
	}
	for _, f := range list {
		switch {
		case len(f) <= 3:
		case f[:2] == "!!":
			ignored = append(ignored, f[3:])
		case !r.disregarded(f[3:]):
			dirty = append(dirty, f[3:])
		}
	}
	return dirty, ignored, !a.cut, nil
}

func (r *Repo) digests(paths []string) map[string]string {
	files := make(map[string]string, len(paths))
	for i, p := range paths {
		if i < hashedPaths {
			files[p] = digestFile(filepath.Join(r.top, p))
		} else {
			files[p] = "changed"
		}
	}
	return files
}

// digestFile describes what is at a path; links are not followed.
func digestFile(path string) string {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return "deleted"
	case info.Mode()&os.ModeSymlink != 0:
		target, _ := os.Readlink(path)
		return "link to " + target
	case !info.Mode().IsRegular():
		return info.Mode().Type().String()
	case info.Size() > hashedBytes:
		return fmt.Sprintf("%d bytes of %s", info.Size(), info.ModTime().UTC())
	}
	f, err := os.Open(path)
	if err != nil {
		return "unreadable"
	}
	defer f.Close() // opened for reading only
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(f, hashedBytes)); err != nil {
		return "unreadable"
	}
	return fmt.Sprintf("%s %o", hex.EncodeToString(h.Sum(nil)[:12]), info.Mode().Perm())
}

// guards reads what git and its hooks would obey.
func (r *Repo) guards(into map[string]guard) {
	for _, dir := range []string{r.common, r.gitDir} {
		r.guardFile(into, KindConfig, filepath.Join(dir, "config"))
		r.guardFile(into, KindConfig, filepath.Join(dir, "config.worktree"))
		r.guardTree(into, KindInfo, filepath.Join(dir, "info"))
		r.guardTree(into, KindHooks, filepath.Join(dir, "hooks"))
	}
	if hooks := r.conf["core.hookspath"]; hooks != "" {
		if !filepath.IsAbs(hooks) {
			hooks = filepath.Join(r.top, hooks)
		}
		r.guardTree(into, KindHooks, hooks)
	}
	for _, included := range r.includes() {
		r.guardFile(into, KindConfig, included)
	}
}

// includes finds the files that the repository's configuration includes. A
// plain search for "path =" finds every form of include; a line too many only
// watches a file too many.
func (r *Repo) includes() []string {
	file := filepath.Join(r.common, "config")
	data, err := readBounded(file, 1<<20)
	if err != nil || !bytes.Contains(bytes.ToLower(data), []byte("[include")) {
		return nil
	}
	var paths []string
	for line := range strings.SplitSeq(string(data), "\n") {
		key, value, ok := strings.Cut(line, "=")
		if !ok || !strings.EqualFold(strings.TrimSpace(key), "path") {
			continue
		}
		p := strings.Trim(strings.TrimSpace(value), `"`)
		if home, ok := strings.CutPrefix(p, "~/"); ok {
			p = filepath.Join(r.git.lookup("HOME"), home)
		} else if !filepath.IsAbs(p) {
			p = filepath.Join(filepath.Dir(file), p)
		}
		paths = append(paths, p)
	}
	return paths
}

func (r *Repo) guardTree(into map[string]guard, kind Kind, dir string) {
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || len(into) >= guardFiles {
			return filepath.SkipDir
		}
		// update-server-info writes info/refs for dumb servers: nothing obeys it.
		if !d.IsDir() && (kind != KindInfo || d.Name() != "refs") {
			r.guardFile(into, kind, path)
		}
		return nil
	})
}

func (r *Repo) guardFile(into map[string]guard, kind Kind, path string) {
	info, err := os.Lstat(path)
	if err != nil {
		return
	}
	g := guard{kind: kind, sum: digestFile(path), mode: info.Mode()}
	if data, err := readBounded(path, keptBytes); err == nil {
		if path == filepath.Join(r.common, "info", "exclude") {
			rest := r.withoutOurs(data)
			g.sum = digest(string(rest))
		}
		g.data = data
	}
	into[path] = g
}
