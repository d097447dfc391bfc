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
	return s.around(OpReplace, path, func() error { return replace(path, data, perm) })
}

// Remove deletes the file at path and syncs its folder. A file that is not
// there is no error.
func (s *Store) Remove(path string) error {
	return s.around(OpRemove, path, func() error {
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
	if err := MkdirAll(dir); err != nil {
		return err
	}
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
