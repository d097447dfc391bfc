package loop

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"si/track"
)

// Each arm has a HOME of its own: what the run of one tree leaves there (a build
// cache, a start-up file of an interpreter) must not reach the run of another. So
// that not every tree begins with a cold cache, a new HOME is a copy of the one that
// the first good run of the unchanged tree left.

// homeOf is the HOME of an arm. Arms have names of equal length, and so have these.
func (b *lab) homeOf(a *arm) string {
	return filepath.Join(b.folder(), strings.Replace(filepath.Base(a.path), "arm_", "home_", 1))
}

// firstHome is what new HOMEs are copies of.
func (b *lab) firstHome() string { return filepath.Join(b.folder(), "home") }

// moveIn gives an arm a fresh HOME.
func (b *lab) moveIn(a *arm) error {
	home := b.homeOf(a)
	if err := removeAll(home); err != nil {
		return fmt.Errorf("empty the benchmark's HOME: %w", err)
	}
	if _, err := os.Lstat(b.firstHome()); errors.Is(err, fs.ErrNotExist) {
		return os.MkdirAll(home, 0o700)
	}
	return copyHome(home, b.firstHome())
}

// keepFirstHome makes the HOME of a good run of an unchanged tree the one that
// others begin with, if there is none yet.
func (b *lab) keepFirstHome(a *arm, s track.Sample) error {
	if s.Score == nil || s.Subject != "start" && s.Subject != "champion" {
		return nil
	}
	if _, err := os.Lstat(b.firstHome()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return b.keepHome(a)
}

// keepHome makes the HOME of an arm, in which only unchanged code has run, the one
// that others begin with.
func (b *lab) keepHome(a *arm) error {
	part := b.firstHome() + ".part"
	if err := removeAll(part); err != nil {
		return fmt.Errorf("keep the benchmark's HOME: %w", err)
	}
	if err := copyHome(part, b.homeOf(a)); err != nil {
		return err
	}
	if err := removeAll(b.firstHome()); err != nil {
		return fmt.Errorf("keep the benchmark's HOME: %w", err)
	}
	if err := os.Rename(part, b.firstHome()); err != nil {
		return fmt.Errorf("keep the benchmark's HOME: %w", err)
	}
	return nil
}

// dropHomes removes what an earlier loop left.
func (b *lab) dropHomes() error {
	left, err := filepath.Glob(filepath.Join(b.folder(), "home_*"))
	if err != nil {
		return fmt.Errorf("look for the benchmark's HOMEs: %w", err)
	}
	for _, home := range left {
		if err := removeAll(home); err != nil {
			return fmt.Errorf("remove the HOME of an earlier loop: %w", err)
		}
	}
	return nil
}

// copyHome copies folders, files and links. What is none of these (a socket, a
// pipe) is of no use to a later run and is left out.
func copyHome(to, from string) error {
	err := os.CopyFS(to, plainFiles{os.DirFS(from)})
	if err != nil {
		return fmt.Errorf("copy the benchmark's HOME: %w", err)
	}
	return nil
}

// plainFiles is a tree without what cannot be copied.
type plainFiles struct{ fs.FS }

// ReadDir leaves out what is no folder, file or link.
func (p plainFiles) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(p.FS, name)
	var kept []fs.DirEntry
	for _, e := range entries {
		if t := e.Type(); t.IsDir() || t.IsRegular() || t == fs.ModeSymlink {
			kept = append(kept, e)
		}
	}
	return kept, err
}

// ReadLink makes links copied as links.
func (p plainFiles) ReadLink(name string) (string, error) { return fs.ReadLink(p.FS, name) }

// Lstat goes with ReadLink.
func (p plainFiles) Lstat(name string) (fs.FileInfo, error) { return fs.Lstat(p.FS, name) }

// removeAll removes a tree also where its folders are read-only, as those of a
// module cache are.
func removeAll(dir string) error {
	if err := os.RemoveAll(dir); err == nil {
		return nil
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			return os.Chmod(path, 0o700) //nolint:gosec // a folder of ours that is being removed
		}
		return err
	})
	return errors.Join(err, os.RemoveAll(dir))
}
