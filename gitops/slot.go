package gitops

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"si/internal/durable"
)

// slotFolder holds, beside the workspaces, what must not lie inside them: an
// agent or a benchmark writes there.
const slotFolder = ".si"

// slot is our own record of a workspace: whose it is, and the index that was
// written when it was laid. The index tells what changed since, and it cannot
// be talked into calling a changed file unchanged.
type slot struct {
	dir string // <parent of the workspace>/.si/<its name>
}

// owner is the record, written before the folder is made and again when it is
// complete.
type owner struct {
	Repository string   `json:"repository"` // common git folder
	Kind       kind     `json:"kind"`
	Commit     string   `json:"commit"`
	Ready      bool     `json:"ready"`
	Links      []string `json:"links,omitempty"` // put there by Link: no part of a candidate
}

type kind string

const (
	cloned kind = "clone"    // own git folder, for an agent
	linked kind = "worktree" // registered with the repository, for measuring
)

func slotOf(path string) slot {
	return slot{dir: filepath.Join(filepath.Dir(path), slotFolder, filepath.Base(path))}
}

func (s slot) index() string { return filepath.Join(s.dir, "index") }
func (s slot) file() string  { return filepath.Join(s.dir, "owner.json") }

func (s slot) save(o owner) error {
	data, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("record workspace %s: %w", s.dir, err)
	}
	var store durable.Store
	if err := store.Replace(s.file(), data, 0o600); err != nil {
		return fmt.Errorf("record workspace: %w", err)
	}
	return nil
}

func (s slot) load() (owner, bool) {
	var o owner
	data, err := readBounded(s.file(), 1<<20)
	return o, err == nil && json.Unmarshal(data, &o) == nil
}

// reset forgets the index, also a lock that a killed git left beside it.
func (s slot) reset() error {
	for _, f := range []string{s.index(), s.index() + ".lock"} {
		if err := os.Remove(f); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("forget index: %w", err)
		}
	}
	return nil
}

// copyIndex copies an index with its time. git takes a file that is as young as
// the index for possibly changed and looks inside; a copy with a later time
// would hide an edit of the same second and size.
func copyIndex(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return fmt.Errorf("copy index: %w", err)
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return fmt.Errorf("copy index: %w", err)
	}
	tmp := to + ".si-new"
	if err := os.Remove(tmp); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("copy index: %w", err)
	}
	// O_EXCL: whoever could write there may have put a link in the way.
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("copy index: %w", err)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close(), os.Chtimes(tmp, time.Time{}, info.ModTime())); err != nil {
		return fmt.Errorf("copy index to %s: %w", to, err)
	}
	if err := os.Rename(tmp, to); err != nil {
		return fmt.Errorf("copy index: %w", err)
	}
	return nil
}

// readBounded reads a regular file of at most most bytes, not through a link.
func readBounded(path string, most int64) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > most {
		return nil, fmt.Errorf("read %s: %w", path, ErrTooLarge)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	return data, nil
}

func digest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:12])
}
