// Package durable writes files so that what was acknowledged is still there
// after a crash or a power cut. A replacement is atomic: a reader sees the old
// content or the new, never a mixture. It does not lock: one writer at a time
// is the caller's promise (package track holds a lock for the loop).
package durable

import (
	"fmt"
	"os"
	"path/filepath"
)

// Op names a durable effect, for the hooks.
type Op string

// The durable effects of a Store.
const (
	OpReplace Op = "replace"
	OpAppend  Op = "append"
	OpRemove  Op = "remove"
)

// Hooks are called around each durable effect. They exist so that a test can
// stop the process at every one of them; both may be nil.
type Hooks struct {
	// Before runs when nothing has been done yet.
	Before func(op Op, path string)
	// After runs when the effect is on disk and not yet known to the caller.
	After func(op Op, path string)
}

// Store performs durable effects. The zero value is ready to use.
type Store struct {
	Hooks Hooks
	base  string // what lies below it must be folders, never links; "" for no such place
}

// Within returns a store that refuses to write through a symbolic link below
// base: whoever can make a link there would choose where we write. base itself
// and what is above it are the user's business.
func (s *Store) Within(base string) *Store {
	return &Store{Hooks: s.Hooks, base: filepath.Clean(base)}
}

// LinkError says that a symbolic link stands where a folder belongs.
type LinkError struct {
	Path string
}

func (e *LinkError) Error() string {
	return fmt.Sprintf("%s is a symbolic link where a folder belongs; remove it, and look who made it", e.Path)
}

// Folder creates dir and its parents durably.
func (s *Store) Folder(dir string) error {
	if err := s.refuseLinks(dir); err != nil {
		return err
	}
	return MkdirAll(dir)
}

// refuseLinks looks at every folder from dir up to the store's base.
func (s *Store) refuseLinks(dir string) error {
	if s == nil || s.base == "" {
		return nil
	}
	rel, err := filepath.Rel(s.base, dir)
	if err != nil || !filepath.IsLocal(rel) {
		return nil
	}
	for dir = filepath.Clean(dir); dir != s.base; dir = filepath.Dir(dir) {
		info, err := os.Lstat(dir)
		if err == nil && info.Mode()&os.ModeSymlink != 0 {
			return &LinkError{Path: dir}
		}
	}
	return nil
}

func (s *Store) around(op Op, path string, effect func() error) error {
	if s != nil && s.Hooks.Before != nil {
		s.Hooks.Before(op, path)
	}
	if err := effect(); err != nil {
		return err
	}
	if s != nil && s.Hooks.After != nil {
		s.Hooks.After(op, path)
	}
	return nil
}

// Replace writes data to path atomically: temporary file in the same folder,
// fsync, rename, fsync of the folder. Missing folders are created and synced.
// A symbolic link at path is replaced, not followed.
func (s *Store) Replace(path string, data []byte, perm os.FileMode) error {
	return s.around(OpReplace, path, func() error {
		if err := s.Folder(filepath.Dir(path)); err != nil {
			return fmt.Errorf("write %s: %w", path, err)
		}
		return replace(path, data, perm)
	})
}

// Remove deletes the file at path and syncs its folder. A file that is not
// there is no error.
func (s *Store) Remove(path string) error {
	return s.around(OpRemove, path, func() error {
		if err := s.refuseLinks(filepath.Dir(path)); err != nil {
			return fmt.Errorf("remove %s: %w", path, err)
		}
		if err := os.Remove(path); err != nil {
			if os.IsNotExist(err) {
				return nil
			}
			return fmt.Errorf("remove %s: %w", path, err)
		}
		return syncDir(filepath.Dir(path))
	})
}

func replace(path string, data []byte, perm os.FileMode) (err error) {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".tmp-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	// A failed fsync may have dropped the pages, so the file is abandoned and
	// never synced a second time.
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	if _, err := f.Write(data); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := f.Chmod(perm); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return syncDir(dir)
}

// MkdirAll creates dir and its parents and syncs each folder that gained an
// entry.
func MkdirAll(dir string) error {
	if info, err := os.Stat(dir); err == nil {
		if !info.IsDir() {
			return fmt.Errorf("create folder %s: a file of that name is in the way", dir)
		}
		return nil
	}
	parent := filepath.Dir(dir)
	if parent != dir {
		if err := MkdirAll(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o755); err != nil && !os.IsExist(err) {
		return fmt.Errorf("create folder: %w", err)
	}
	return syncDir(parent)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync folder: %w", err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("sync folder %s: %w", dir, err)
	}
	return nil
}
