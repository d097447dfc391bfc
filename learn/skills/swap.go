package skills

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"si/internal/durable"
)

// A change of more than one skill builds the next library beside the one that
// stands, and the two change places in one call of the system. Where that call is
// missing they change places by two renames; a library that a crash left between them
// is put in place by the next process that opens it.

const (
	swapFile   = "skills-swap.json" // in the state base: a swap is under way
	markerFile = ".si-swap"         // in the next library: which swap it is
	nextPrefix = "skills-next-"
	maxSwap    = 4 << 10
)

// swap is the content of swapFile.
type swap struct {
	Next string `json:"next"` // folder in the state base, also the id
	Keep string `json:"keep"` // folder in the state base that the old library becomes; "" removes it
}

func (l *Library) at(name string) string { return filepath.Join(l.base, name) }

// Transact builds the next library and puts it in the place of the one that stands.
// The lock must be held: call it within Change. build gets an empty folder of the
// state base; keep names the folder that the old library becomes, "" removes it.
// Killed at any instant, either the old or the new library stands, whole.
func (l *Library) transact(keep string, build func(next string) error) error {
	if err := durable.MkdirAll(l.base); err != nil {
		return err
	}
	if err := l.sweep(); err != nil {
		return err
	}
	next, err := os.MkdirTemp(l.base, nextPrefix)
	if err != nil {
		return fmt.Errorf("build the next library: %w", err)
	}
	err = around(l.hooks, OpTree, next, func() error {
		err := errors.Join(os.Chmod(next, 0o755), build(next))
		if err == nil {
			err = os.WriteFile(filepath.Join(next, markerFile), []byte(filepath.Base(next)), 0o644)
		}
		if err == nil {
			err = syncTree(next)
		}
		return err
	})
	if err != nil {
		_ = os.RemoveAll(next)
		return fmt.Errorf("build the next library: %w", err)
	}
	return l.exchange(swap{Next: filepath.Base(next), Keep: keep})
}

// exchange writes down what is to be done, does it, and cleans up.
func (l *Library) exchange(s swap) error {
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	store := durable.Store{Hooks: l.hooks}
	if err := store.Replace(l.at(swapFile), data, 0o644); err != nil {
		return fmt.Errorf("put the next library in place: %w", err)
	}
	err = around(l.hooks, OpSwap, l.Dir(), func() error { return l.swapFolders(s) })
	if err != nil {
		return fmt.Errorf("put the next library in place: %w", err)
	}
	return l.settle()
}

func (l *Library) swapFolders(s swap) error {
	next := l.at(s.Next)
	if _, err := os.Lstat(l.Dir()); errors.Is(err, fs.ErrNotExist) {
		return errors.Join(os.Rename(next, l.Dir()), syncFolder(l.base))
	}
	err := exchangeFolders(l.Dir(), next)
	if errors.Is(err, errors.ErrUnsupported) {
		err = os.Rename(l.Dir(), l.at(s.old()))
		if err == nil {
			err = os.Rename(next, l.Dir())
		}
	}
	return errors.Join(err, syncFolder(l.base))
}

// old is where the replaced library lies until it is kept or removed.
func (s swap) old() string { return s.Next + "-old" }

func (l *Library) swapPending() bool {
	_, err := os.Lstat(l.at(swapFile))
	return err == nil
}

// settle ends a swap, its own or one that a crash interrupted: what was not yet in
// place is thrown away, what was is kept. The lock must be held.
func (l *Library) settle() error {
	data, err := os.ReadFile(l.at(swapFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var s swap
	if err == nil && len(data) <= maxSwap {
		err = json.Unmarshal(data, &s)
	}
	if err == nil && !s.sound() {
		err = errors.New("it names no folder of ours")
	}
	if err != nil {
		return fmt.Errorf("end an interrupted change of the skills: %s cannot be used: %w; remove it when %s is complete", l.at(swapFile), err, l.Dir())
	}
	if err := l.endSwap(s); err != nil {
		return fmt.Errorf("end an interrupted change of the skills (%s): %w", l.at(swapFile), err)
	}
	store := durable.Store{Hooks: l.hooks}
	return store.Remove(l.at(swapFile))
}

// sound refuses names that lead out of the state base.
func (s swap) sound() bool {
	keep := s.Keep == "" || strings.HasPrefix(s.Keep, "skills-")
	return keep && strings.HasPrefix(s.Next, nextPrefix) && s.Next == filepath.Base(s.Next) && (s.Keep == "" || s.Keep == filepath.Base(s.Keep))
}

func (l *Library) endSwap(s swap) error {
	next, old := l.at(s.Next), l.at(s.old())
	if _, err := os.Lstat(l.Dir()); errors.Is(err, fs.ErrNotExist) { // between two renames
		if err := os.Rename(next, l.Dir()); err != nil {
			return err
		}
	}
	marker, err := os.ReadFile(filepath.Join(l.Dir(), markerFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if string(marker) != s.Next { // not in place: the old library stands
		return l.removeTree(next)
	}
	if _, err := os.Lstat(next); err == nil { // after an exchange the old one has its name
		if err := os.Rename(next, old); err != nil {
			return err
		}
	}
	if err := l.keepOld(s, old); err != nil {
		return err
	}
	// The marker goes last but one: without it the swap would look as not done.
	return syncFolder(l.base)
}

func (l *Library) keepOld(s swap, old string) error {
	if _, err := os.Lstat(old); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if s.Keep == "" {
		return l.removeTree(old)
	}
	return around(l.hooks, OpRename, l.at(s.Keep), func() error { return os.Rename(old, l.at(s.Keep)) })
}

func (l *Library) removeTree(dir string) error {
	return around(l.hooks, OpTree, dir, func() error { return os.RemoveAll(dir) })
}

// sweep removes libraries that were being built when a process ended. The lock is
// held, so nobody builds one now.
func (l *Library) sweep() error {
	entries, err := os.ReadDir(l.base)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), nextPrefix) {
			if err := os.RemoveAll(l.at(e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close() // opened for reading only
	return d.Sync()
}
