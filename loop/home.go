package loop

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"si/internal/stamps"
	"si/track"
)

// Each arm has a HOME of its own: what the run of one tree leaves there (a build
// cache, a start-up file of an interpreter) must not reach the run of another. So
// that not every tree begins with a cold cache, a new HOME is as the first good run
// of the unchanged tree left it.

// homeOf is the HOME of an arm. Arms have names of equal length, and so have these.
func (b *lab) homeOf(a *arm) string {
	return filepath.Join(b.folder(), strings.Replace(filepath.Base(a.path), "arm_", "home_", 1))
}

// firstHome is what new HOMEs are copies of.
func (b *lab) firstHome() string { return filepath.Join(b.folder(), "home") }

// moveIn gives an arm a fresh HOME: one that was there is put back to what it was,
// since few of its files were touched.
func (b *lab) moveIn(a *arm) (*snapshot, error) {
	home := b.homeOf(a)
	if stamps.Sure && a.home != nil && a.homeVersion == b.homeVersion {
		if s, err := b.asFirst(a); err == nil && s.restore() == nil {
			return s, nil
		} // what a run has made of it cannot be put back: it is made anew
	}
	if err := removeAll(home); err != nil {
		return nil, fmt.Errorf("empty the benchmark's HOME: %w", err)
	}
	a.homeVersion = b.homeVersion
	if _, err := os.Lstat(b.firstHome()); errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(home, 0o700); err != nil {
			return nil, fmt.Errorf("make the benchmark's HOME: %w", err)
		}
	} else if err := copyTree(home, b.firstHome()); err != nil {
		return nil, err
	}
	return takeSnapshot(home, nil, b.firstHome())
}

// asFirst is the snapshot of an arm's HOME in which everything is as in the first one.
// What the set-up command made, and what is kept from run to run, is not of it.
func (b *lab) asFirst(a *arm) (*snapshot, error) {
	first, err := stamps.Of(b.firstHome())
	if err != nil {
		return nil, err
	}
	for name, s := range first {
		known, ok := a.home.stamps[name]
		info, err := os.Lstat(filepath.Join(b.copiesOf(b.homeOf(a)), name))
		if bySetUp := err == nil && !info.IsDir(); ok && !bySetUp && known.IsDir() == s.IsDir() {
			first[name] = known
		} else {
			first[name] = stamps.Stamp{Mode: s.Mode} // like nothing that can lie there
		}
	}
	return &snapshot{dir: b.homeOf(a), layers: []string{b.firstHome()}, stamps: first}, nil
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
	if err := copyTree(part, b.homeOf(a)); err != nil {
		return err
	}
	if err := removeAll(b.firstHome()); err != nil {
		return fmt.Errorf("keep the benchmark's HOME: %w", err)
	}
	if err := os.Rename(part, b.firstHome()); err != nil {
		return fmt.Errorf("keep the benchmark's HOME: %w", err)
	}
	b.homeVersion++ // copies of the old one are none of this one
	a.homeVersion = b.homeVersion
	_, keep, err := b.keeps()
	if err != nil {
		return err
	}
	if err := removeAll(b.copiesOf(b.homeOf(a))); err != nil { // they are in the first HOME now
		return fmt.Errorf("keep the benchmark's HOME: %w", err)
	}
	a.home, err = takeSnapshot(b.homeOf(a), keep, b.firstHome())
	return err
}

// dropHomes removes what an earlier loop left: HOMEs, and copies of what a set-up made.
func (b *lab) dropHomes() error {
	for _, pattern := range []string{"home_*", copiesPrefix + "*"} {
		left, err := filepath.Glob(filepath.Join(b.folder(), pattern))
		if err != nil {
			return fmt.Errorf("look for the benchmark's HOMEs: %w", err)
		}
		for _, home := range left {
			if err := removeAll(home); err != nil {
				return fmt.Errorf("remove the HOME of an earlier loop: %w", err)
			}
		}
	}
	return nil
}

// copyTree copies folders, files and links. What is none of these (a socket, a
// pipe) is of no use to a later run and is left out.
func copyTree(to, from string) error {
	err := filepath.WalkDir(from, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		return copyOne(filepath.Join(to, name), path)
	})
	if err != nil {
		return fmt.Errorf("copy the benchmark's HOME: %w", err)
	}
	return nil
}

// copyOne copies a folder without what is in it, a file with its time, or a link.
func copyOne(to, from string) error {
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	switch mode := info.Mode(); {
	case mode.IsDir():
		return os.MkdirAll(to, 0o700)
	case mode.Type() == fs.ModeSymlink:
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	case !mode.IsRegular():
		return nil
	}
	return copyFile(to, from, info)
}

func copyFile(to, from string, info fs.FileInfo) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close() // it was only read
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm()|0o200)
	if err != nil {
		return err
	}
	if _, err = io.Copy(out, in); err != nil {
		return errors.Join(err, out.Close())
	}
	if err := out.Close(); err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}

// openFolders gives every folder the mode that copies have.
func openFolders(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			return os.Chmod(path, 0o700)
		}
		return err
	})
}

// removeAll removes a tree also where its folders are read-only, as those of a
// module cache are.
func removeAll(dir string) error {
	if err := os.RemoveAll(dir); err == nil {
		return nil
	}
	return errors.Join(openFolders(dir), os.RemoveAll(dir))
}
