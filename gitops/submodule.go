package gitops

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// deepest is how far submodules inside submodules are followed.
const deepest = 5

// complete fills in what a checkout of the tree alone lacks, from the user's own
// disk only, and notes what is still missing.
func (w *Workspace) complete(ctx context.Context, treeish string) error {
	files, err := w.repo.files(ctx, treeish)
	if err != nil {
		return err
	}
	var modules []Entry
	var attributes []string
	for _, f := range files {
		if f.Type == "commit" {
			modules = append(modules, f)
		} else if f.Path == ".gitattributes" || strings.HasSuffix(f.Path, "/.gitattributes") {
			attributes = append(attributes, f.Path)
		}
	}
	if err := w.modules(ctx, w.path, w.repo.top, w.repo.common, modules, deepest); err != nil {
		return err
	}
	w.pointers(files, attributes)
	return nil
}

// modules lays the submodules below dir. Nothing is fetched, and nothing is
// written to the user's configuration, as git submodule would: each one borrows
// the objects that the user's checkout has. gitDir is the folder that holds
// modules/, user the checkout that the paths belong to.
func (w *Workspace) modules(ctx context.Context, dir, user, gitDir string, links []Entry, depth int) error {
	if len(links) == 0 || depth == 0 {
		return nil
	}
	names, err := w.repo.moduleNames(ctx, dir)
	if err != nil {
		w.warn("submodules not laid: %v", err)
		return nil
	}
	for _, link := range links {
		name, ok := names[link.Path]
		if !ok {
			continue // a commit that .gitmodules does not name is nobody's submodule
		}
		from := moduleDir(gitDir, user, name, link.Path)
		if from == "" {
			w.warn("submodule %s is empty: your checkout does not have it; run git submodule update --init --recursive there", link.Path)
			continue
		}
		if err := w.module(ctx, filepath.Join(dir, link.Path), filepath.Join(user, link.Path), from, link.ID, depth); err != nil {
			if ctx.Err() != nil {
				return err
			}
			w.warn("submodule %s is empty: %v", link.Path, err)
		}
	}
	return nil
}

func (w *Workspace) module(ctx context.Context, dir, user, from, commit string, depth int) error {
	r := w.repo
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return nil // laid already
	}
	if err := r.borrow(ctx, from, dir, commit); err != nil {
		return err
	}
	in := place{gitDir: from, workTree: dir, index: filepath.Join(dir, ".git", "index")}
	_, err := r.git.git(ctx, call{
		op: "lay submodule", path: dir, in: in, limit: workLimit, args: []string{"read-tree", "--reset", "-u", commit},
	})
	if err != nil {
		return err
	}
	a, err := r.git.git(ctx, call{op: "list tree of submodule", path: dir, in: place{gitDir: from}, args: []string{"ls-tree", "-r", "-z", "--full-tree", commit}})
	if err != nil {
		return err
	}
	var inner []Entry
	for _, line := range fields(a.out) {
		if e, ok := parseEntry(line); ok && e.Type == "commit" {
			inner = append(inner, e)
		}
	}
	return w.modules(ctx, dir, user, from, inner, depth-1)
}

// moduleNames reads path → name from .gitmodules of a checkout.
func (r *Repo) moduleNames(ctx context.Context, dir string) (map[string]string, error) {
	file := filepath.Join(dir, ".gitmodules")
	if _, err := readBounded(file, 1<<20); err != nil {
		return nil, err
	}
	a, err := r.git.git(ctx, call{
		op: "read", path: file, dir: dir, in: r.store(), codes: []int{1},
		args: []string{"config", "-z", "--no-includes", "--file", file, "--get-regexp", `^submodule\..*\.path$`},
	})
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	for _, kv := range fields(a.out) {
		key, path, _ := strings.Cut(kv, "\n")
		names[path] = strings.TrimSuffix(strings.TrimPrefix(key, "submodule."), ".path")
	}
	return names, nil
}

// moduleDir finds the git folder of a submodule on the user's side: absorbed
// below modules/, or inside the checkout as before git 1.7.8.
func moduleDir(gitDir, user, name, path string) string {
	if !filepath.IsLocal(name) || !filepath.IsLocal(path) {
		return "" // a name of ../.. is an attack (CVE-2018-11235)
	}
	for _, dir := range []string{filepath.Join(gitDir, "modules", name), filepath.Join(user, path, ".git")} {
		if info, err := os.Lstat(filepath.Join(dir, "objects")); err == nil && info.IsDir() {
			return dir
		}
	}
	return ""
}

const lfsHead = "version https://git-lfs.github.com/spec/"

// pointers warns when files that git LFS should have replaced are still its
// pointers: a benchmark would read those.
func (w *Workspace) pointers(files []Entry, attributes []string) {
	uses := false
	for _, p := range attributes {
		data, err := readBounded(filepath.Join(w.path, p), 1<<20)
		uses = uses || err == nil && bytes.Contains(data, []byte("filter=lfs"))
	}
	if !uses {
		return
	}
	var found []string
	for _, f := range files {
		if !strings.HasPrefix(f.Mode, "100") {
			continue
		}
		// A pointer is under 1 KB (git-lfs, docs/spec.md).
		data, err := readBounded(filepath.Join(w.path, f.Path), 1024)
		if err == nil && bytes.HasPrefix(data, []byte(lfsHead)) {
			found = append(found, f.Path)
		}
	}
	if len(found) > 0 {
		w.warn("git LFS pointers instead of content: %s; install git-lfs and run git lfs pull in your checkout", listed(found))
	}
}

func (w *Workspace) warn(format string, args ...any) {
	w.warnings = append(w.warnings, fmt.Sprintf(format, args...))
}
