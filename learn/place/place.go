// Package place knows where the learned files of a repository lie, and reads and
// writes them. What it reads may be hostile: only regular files inside the
// repository are read, up to a limit. A file is replaced whole or not at all, by
// one writer at a time. It does not know what the files say.
package place

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"si/internal/durable"
)

// maxFile bounds a learned file in bytes.
const maxFile = 4 << 20

// The folders that hold the learned files, in the order in which they are looked
// for; a repository that has neither gets the second.
const (
	older = ".tyran"
	newer = ".si"
)

// Place is a checkout with learned files.
type Place struct {
	top   string // resolved
	dir   string
	store *durable.Store
}

// Open finds the learned files of the checkout at top. It creates nothing.
func Open(store *durable.Store, top string) (Place, error) {
	real, err := filepath.EvalSymlinks(top)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return Place{}, fmt.Errorf("find the learned files: %w", err)
	}
	p := Place{top: real, dir: newer, store: store}
	if info, err := os.Lstat(filepath.Join(real, older)); err == nil && info.IsDir() {
		p.dir = older
	}
	return p, nil
}

// Top is the absolute path of the checkout.
func (p Place) Top() string { return p.top }

// Dir is the folder of the learned files, relative to Top: .tyran or .si.
func (p Place) Dir() string { return p.dir }

// Mistakes is the file of what went wrong, as a path from Top with slashes. So are
// the paths of all learned files.
const Mistakes = "MISTAKES.md"

// Knowledge is the folder of the knowledge store.
func (p Place) Knowledge() string { return p.dir + "/knowledge" }

// Evidence is the file of what the counters were folded from.
func (p Place) Evidence() string { return p.dir + "/evidence.jsonl" }

// Policy is the file that says who decides about which path.
func (p Place) Policy() string { return p.dir + "/policies/autonomy.yaml" }

// Proposals is the folder of changes that wait for a person.
func (p Place) Proposals() string { return p.dir + "/proposals" }

// Records is the folder of the records of retrospectives.
func (p Place) Records() string { return p.dir + "/retro" }

// Prompts is the folder of overrides of the built-in prompts.
func (p Place) Prompts() string { return p.dir + "/prompts" }

// Skills is the folder of the repository's own skills.
func (p Place) Skills() string { return p.dir + "/skills" }

// Config is the file of what set-up established about the repository.
func (p Place) Config() string { return p.dir + "/config.yaml" }

// Rules is the file that every agent reads and that holds the law: CLAUDE.md, or
// AGENTS.md where only that is there.
func (p Place) Rules() string {
	const first, second = "CLAUDE.md", "AGENTS.md"
	_, err := os.Lstat(filepath.Join(p.top, first))
	if _, other := os.Lstat(filepath.Join(p.top, second)); errors.Is(err, fs.ErrNotExist) && other == nil {
		return second
	}
	return first
}

// Read returns the content of a learned file; absent is nil and no error. A link
// is followed only inside the checkout.
func (p Place) Read(name string) ([]byte, error) {
	target, err := p.target(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(target, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0) // a pipe would block
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	defer f.Close() // opened for reading only
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a regular file; move it away")
	}
	var data []byte
	if err == nil {
		data, err = io.ReadAll(io.LimitReader(f, maxFile+1))
	}
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("it is larger than %d bytes; move it away", maxFile)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if data == nil {
		data = []byte{} // an empty file is there
	}
	return data, nil
}

// target is the file that a name means: where its links lead, which must be in the
// checkout.
func (p Place) target(name string) (string, error) {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return "", fmt.Errorf("find %q: it is no path inside the repository", name)
	}
	full := filepath.Join(p.top, filepath.FromSlash(name))
	real, err := filepath.EvalSymlinks(full)
	if errors.Is(err, fs.ErrNotExist) {
		return p.absent(name, full)
	}
	if err != nil {
		return "", fmt.Errorf("find %s: %w", name, err)
	}
	return real, p.inside(name, real)
}

// absent is the target of a name that does not exist: the deepest folder that does
// must be in the checkout, and no link may hang in the air.
func (p Place) absent(name, full string) (string, error) {
	for dir, rest := full, ""; ; {
		if info, err := os.Lstat(dir); err == nil {
			if info.Mode()&os.ModeSymlink != 0 {
				if _, err := filepath.EvalSymlinks(dir); err != nil {
					return "", fmt.Errorf("find %s: %s is a symbolic link to something that does not exist; remove it or make its target", name, dir)
				}
			}
			real, err := filepath.EvalSymlinks(dir)
			if err == nil {
				err = p.inside(name, real)
			}
			return filepath.Join(real, rest), err
		}
		rest = filepath.Join(filepath.Base(dir), rest)
		dir = filepath.Dir(dir)
	}
}

func (p Place) inside(name, real string) error {
	rel, err := filepath.Rel(p.top, real)
	if err != nil || !filepath.IsLocal(rel) {
		return fmt.Errorf("find %s: it leads out of the repository, to %s; make it a file of the repository", name, real)
	}
	return nil
}

// Files lists the regular files of a learned folder with one of the extensions,
// sorted, as paths from Top. An absent folder has none.
func (p Place) Files(folder string, exts ...string) ([]string, error) {
	dir, err := p.target(folder)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", folder, err)
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() && !strings.HasPrefix(e.Name(), ".") && slices.Contains(exts, filepath.Ext(e.Name())) {
			names = append(names, path.Join(folder, e.Name()))
		}
	}
	return names, nil
}
