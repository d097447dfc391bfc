package place

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
)

// Limits of all learned files together.
const (
	maxFiles = 20_000
	maxBytes = 64 << 20
)

// Owns reports whether a path from Top is a learned file, which a commit of what
// was learned may change.
func (p Place) Owns(name string) bool {
	if slices.Contains([]string{Mistakes, "CLAUDE.md", "AGENTS.md"}, name) {
		return true
	}
	rel, err := filepath.Rel(p.dir, name)
	return err == nil && rel != "." && filepath.IsLocal(rel)
}

// Snapshot reads every learned file, by its path from Top.
func (p Place) Snapshot() (map[string][]byte, error) {
	files, size := map[string][]byte{}, 0
	take := func(name string) error {
		data, err := p.Read(name)
		if err != nil || data == nil {
			return err
		}
		files[name] = data
		if size += len(data); size > maxBytes || len(files) > maxFiles {
			return fmt.Errorf("read the learned files: there are more than %d files or %d bytes in %s; remove what is not needed", maxFiles, maxBytes, p.dir)
		}
		return nil
	}
	for _, name := range []string{Mistakes, "CLAUDE.md", "AGENTS.md"} {
		if err := take(name); err != nil {
			return nil, err
		}
	}
	root := filepath.Join(p.top, p.dir)
	err := filepath.WalkDir(root, func(full string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && full == root {
			return nil
		}
		if err != nil || !d.Type().IsRegular() { // folders, and what a repository may plant
			return err
		}
		rel, err := filepath.Rel(p.top, full)
		if err != nil {
			return err
		}
		return take(filepath.ToSlash(rel))
	})
	if err != nil {
		return nil, err
	}
	return files, nil
}

// Changes are the files that differ between two snapshots, with their new content;
// nil is a file that is gone. This is what a commit of learned files holds.
func Changes(before, after map[string][]byte) map[string][]byte {
	out := map[string][]byte{}
	for name, data := range after {
		if old, ok := before[name]; !ok || !bytes.Equal(old, data) {
			out[name] = data
		}
	}
	for name := range before {
		if _, ok := after[name]; !ok {
			out[name] = nil
		}
	}
	return out
}

// Lay writes files, as a snapshot has them, into the checkout.
func (p Place) Lay(files map[string][]byte) error {
	for name, data := range files {
		if !p.Owns(name) {
			return fmt.Errorf("write %s: it is not a learned file", name)
		}
		if err := p.Write(name, data); err != nil {
			return err
		}
	}
	return nil
}
