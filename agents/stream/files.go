package stream

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"si/internal/proc"
)

// files is the folder of one run: what si writes there the program reads.
type files struct{ dir string }

func newFiles(parent, log string) (*files, error) {
	if log != "" {
		if err := os.MkdirAll(filepath.Dir(log), 0o755); err != nil {
			return nil, err
		}
	}
	if parent != "" {
		if err := os.MkdirAll(parent, 0o700); err != nil {
			return nil, err
		}
	}
	dir, err := os.MkdirTemp(parent, "si-task-")
	if err != nil {
		return nil, err
	}
	return &files{dir}, nil
}

func (f *files) write(all map[string][]byte) error {
	for name, data := range all {
		if !filepath.IsLocal(name) || filepath.Base(name) != name {
			return fmt.Errorf("write the file %q of a run: it is no plain name", name)
		}
		if err := os.WriteFile(filepath.Join(f.dir, name), data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// contain lets the program read the folder, wherever it lies.
func (f *files) contain(c *proc.Containment) *proc.Containment {
	if c == nil {
		return nil
	}
	own := *c
	own.ReadOnly = append(slices.Clone(c.ReadOnly), f.dir)
	return &own
}

// remove is best effort: the parent is cleaned at every start.
func (f *files) remove() { _ = os.RemoveAll(f.dir) }
