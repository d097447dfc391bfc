//go:build unix && !linux

package gitops

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Sync puts on disk all that git wrote. There is no syncfs here, so each file
// of the last hour and its folder are synced.
func (r *Repo) Sync() error {
	since := time.Now().Add(-time.Hour)
	err := filepath.WalkDir(r.common, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return gone(err)
		}
		info, err := d.Info()
		if err != nil {
			return gone(err)
		}
		if info.ModTime().Before(since) || !d.IsDir() && !d.Type().IsRegular() {
			return nil
		}
		return gone(syncPath(path))
	})
	if err != nil {
		return fmt.Errorf("sync repository: %w", err)
	}
	return nil
}

func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err // names the path
	}
	return errors.Join(f.Sync(), f.Close())
}

// gone overlooks files that git took away meanwhile.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
