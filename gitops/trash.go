package gitops

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

const trashPrefix = "trash-"

// bin deletes folders in the background. Its zero value is ready.
type bin struct {
	running sync.WaitGroup
	mu      sync.Mutex
	errs    []error
	homes   map[string]bool // folders of slots that may be empty at the end
}

// throw moves path out of the way at once, beside itself so that no copy is
// needed, and deletes it in the background. A path that is not there is fine.
func (b *bin) throw(path string) error {
	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	home := filepath.Join(filepath.Dir(path), slotFolder)
	if err := os.MkdirAll(home, 0o755); err != nil {
		return fmt.Errorf("remove %s: %w", path, err)
	}
	dir, err := os.MkdirTemp(home, trashPrefix)
	if err != nil {
		return fmt.Errorf("remove %s: %w", path, err)
	}
	if err := os.Rename(path, filepath.Join(dir, "x")); err != nil {
		return fmt.Errorf("remove %s: %w", path, err)
	}
	b.burn(dir)
	return nil
}

// burn deletes a trash folder in the background.
func (b *bin) burn(dir string) {
	b.mu.Lock()
	if b.homes == nil {
		b.homes = map[string]bool{}
	}
	b.homes[filepath.Dir(dir)] = true
	b.mu.Unlock()
	b.running.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				b.note(fmt.Errorf("delete %s: panic: %v", dir, p))
			}
		}()
		if err := removeAll(dir); err != nil {
			b.note(fmt.Errorf("delete %s: %w", dir, err))
		}
	})
}

// sweep deletes what an earlier program had not finished deleting.
func (b *bin) sweep(home string) {
	entries, err := os.ReadDir(home)
	if err != nil {
		return
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), trashPrefix) {
			b.burn(filepath.Join(home, e.Name()))
		}
	}
}

func (b *bin) note(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.errs = append(b.errs, err)
}

func (b *bin) wait() error {
	b.running.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	for home := range b.homes {
		_ = os.Remove(home) // succeeds only when empty
	}
	err := errors.Join(b.errs...)
	b.errs = nil
	return err
}

// removeAll is os.RemoveAll that opens closed folders: module caches and tests
// make folders that their owner cannot write. Links are not followed.
func removeAll(dir string) error {
	err := os.RemoveAll(dir)
	if err == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir) // the callers say what was being done
}
