package gitops

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Modes of a Link.
const (
	LinkCopy = "copy" // a copy, which the workspace may change
	LinkLink = "link" // a symbolic link to the user's own folder
)

// Link is a path of the user's checkout that a workspace needs and no commit
// has: dependencies, an .env file.
type Link struct {
	Path string // relative to the checkout, separated by /
	Mode string // LinkCopy or LinkLink
}

const includeFile = ".worktreeinclude"

// Link brings paths of the user's checkout into the workspace, and all that
// .worktreeinclude names there. Links of the user's that lead out of the
// checkout are not followed, and what is there already is left alone: both are
// warnings. Reset takes away what was brought.
func (w *Workspace) Link(ctx context.Context, links []Link) (warnings []string, err error) {
	included, err := w.repo.included(ctx)
	if err != nil {
		return nil, err
	}
	from, err := os.OpenRoot(w.repo.top)
	if err != nil {
		return nil, fmt.Errorf("link dependencies: %w", err)
	}
	defer from.Close() // nothing was written through it
	to, err := os.OpenRoot(w.path)
	if err != nil {
		return nil, fmt.Errorf("link dependencies: %w", err)
	}
	defer to.Close() // each file was closed by itself
	c := carrier{from: from, to: to, top: w.repo.top}
	for _, l := range slices.Concat(links, included) {
		if err := ctx.Err(); err != nil {
			return c.warnings, fmt.Errorf("link dependencies: %w", err)
		}
		if err := c.bring(l); err != nil {
			return c.warnings, fmt.Errorf("link %s into %s: %w", printable(l.Path), w.path, err)
		}
	}
	w.owner.Links = append(w.owner.Links, c.brought...)
	return c.warnings, w.slot.save(w.owner)
}

// included lists the files that .worktreeinclude names and git ignores.
func (r *Repo) included(ctx context.Context) ([]Link, error) {
	file := filepath.Join(r.top, includeFile)
	if _, err := readBounded(file, 1<<20); err != nil {
		return nil, nil // absent is the common case
	}
	const op = "read"
	named, err := r.git.git(ctx, call{
		op: op, path: file, in: r.here(), args: []string{"ls-files", "-z", "--others", "--ignored", "--exclude-from=" + file},
	})
	if err != nil || len(named.out) == 0 {
		return nil, err
	}
	// check-ignore refuses literal pathspecs; a leading ./ keeps a name that
	// begins with a colon from being a pattern.
	var ask strings.Builder
	for _, p := range fields(named.out) {
		ask.WriteString("./" + p + "\x00")
	}
	ignored, err := r.git.git(ctx, call{
		op: op, path: file, in: r.here(), codes: []int{1}, stdin: []byte(ask.String()),
		env: []string{"GIT_LITERAL_PATHSPECS=0"}, args: []string{"check-ignore", "-z", "--stdin"},
	})
	if err != nil {
		return nil, err
	}
	var links []Link
	for _, p := range fields(ignored.out) {
		links = append(links, Link{Path: strings.TrimPrefix(p, "./"), Mode: LinkCopy})
	}
	return links, nil
}

// carrier copies between two folders and never leaves either.
type carrier struct {
	from, to *os.Root
	top      string
	brought  []string
	warnings []string
}

func (c *carrier) warn(format string, args ...any) {
	c.warnings = append(c.warnings, fmt.Sprintf(format, args...))
}

func (c *carrier) bring(l Link) error {
	path := filepath.Clean(l.Path)
	if !filepath.IsLocal(path) || path == "." || slices.Contains(strings.Split(path, "/"), ".git") {
		return errors.New("not a path inside the checkout")
	}
	info, err := c.from.Lstat(path)
	if err != nil {
		c.warn("%s is not in your checkout, or lies behind a link that leads out of it", printable(path))
		return nil
	}
	if _, err := c.to.Lstat(path); err == nil {
		c.warn("%s is in the workspace already and was left as it is", printable(path))
		return nil
	}
	if dir := filepath.Dir(path); dir != "." {
		if err := c.to.MkdirAll(dir, 0o755); err != nil {
			return err // wrapped by Link
		}
	}
	switch l.Mode {
	case LinkLink:
		c.warn("%s is a link into your checkout: what is written through it changes your files", printable(path))
		err = c.to.Symlink(filepath.Join(c.top, path), path)
	case LinkCopy:
		if _, statErr := c.from.Stat(filepath.Join(path, "pyvenv.cfg")); statErr == nil {
			c.warn("%s is a Python environment: its programs point back at the original", printable(path))
		}
		err = c.copy(path, info)
	default:
		err = fmt.Errorf("unknown mode %q; use %s or %s", l.Mode, LinkCopy, LinkLink)
	}
	c.brought = append(c.brought, path)
	return err // wrapped by Link
}

func (c *carrier) copy(path string, info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return c.copyDir(path, info)
	case info.Mode()&fs.ModeSymlink != 0:
		return c.copyLink(path)
	case info.Mode().IsRegular():
		return c.copyFile(path, info)
	}
	c.warn("%s is neither a file, a folder nor a link and was left out", printable(path))
	return nil
}

func (c *carrier) copyDir(path string, info fs.FileInfo) error {
	if err := c.to.Mkdir(path, 0o700); err != nil {
		return err // wrapped by Link
	}
	dir, err := c.from.Open(path)
	if err != nil {
		return err // wrapped by Link
	}
	entries, err := dir.ReadDir(-1)
	if err = errors.Join(err, dir.Close()); err != nil {
		return err
	}
	for _, e := range entries {
		child := filepath.Join(path, e.Name())
		info, err := c.from.Lstat(child)
		if err == nil {
			err = c.copy(child, info)
		}
		if err != nil {
			return err
		}
	}
	// Last: the folder may be closed for writing.
	return c.to.Chmod(path, info.Mode().Perm()) // wrapped by Link
}

// copyLink keeps links that stay inside the checkout; another one would be a way
// out of the workspace.
func (c *carrier) copyLink(path string) error {
	target, err := c.from.Readlink(path)
	if err != nil {
		return err // wrapped by Link
	}
	if filepath.IsAbs(target) || !filepath.IsLocal(filepath.Join(filepath.Dir(path), target)) {
		c.warn("%s is a link that leads out of the checkout and was left out", printable(path))
		return nil
	}
	return c.to.Symlink(target, path) // wrapped by Link
}

func (c *carrier) copyFile(path string, info fs.FileInfo) error {
	in, err := c.from.Open(path)
	if err != nil {
		return err // wrapped by Link
	}
	defer in.Close() // opened for reading only
	out, err := c.to.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err // wrapped by Link
	}
	// Files are handed to copy_file_range, which shares blocks where it can.
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
