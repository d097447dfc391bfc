package loop

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"si/internal/stamps"
)

// snapshot is what a folder held when it was taken: stamps tell what has changed since,
// and layers hold copies to put back. A run that remembers something there for the
// next one finds it gone.
type snapshot struct {
	dir    string
	layers []string // folders with copies; the first that has a path counts
	stamps map[string]stamps.Stamp
	keep   keeps
	undone undone // by the last restore
}

// errNoCopy says that something was changed of which there is no copy.
var errNoCopy = errors.New("what was changed there cannot be put back")

// takeSnapshot remembers what is below dir, but for what is kept from run to run.
func takeSnapshot(dir string, keep keeps, layers ...string) (*snapshot, error) {
	s := &snapshot{dir: dir, layers: layers, keep: keep}
	var err error
	s.stamps, err = s.now()
	return s, err
}

// now lists what is there, after it has made every folder readable.
func (s *snapshot) now() (map[string]stamps.Stamp, error) {
	if err := openClosed(s.dir); err != nil {
		return nil, fmt.Errorf("look at what is in %s: %w", s.dir, err)
	}
	found := map[string]stamps.Stamp{}
	err := stamps.Walk(s.dir, func(name string, at stamps.Stamp) bool {
		if s.keep.has(name) {
			return false
		}
		found[name] = at
		return true
	})
	return found, err
}

// touched lists what is not as it was, what is in a folder before the folder.
func (s *snapshot) touched() ([]string, error) {
	now, err := s.now()
	if err != nil {
		return nil, err
	}
	return stamps.Differing(s.stamps, now), nil
}

// restore puts back what differs. errNoCopy leaves everything as it is.
func (s *snapshot) restore() error {
	now, err := s.now()
	if err != nil {
		return err
	}
	differing := stamps.Differing(s.stamps, now)
	for _, name := range differing {
		if was, ok := s.stamps[name]; ok && !was.IsDir() && s.copyOf(name) == "" {
			return fmt.Errorf("%w: %s", errNoCopy, name)
		}
	}
	s.undone = undoing(differing, now)
	lost, err := s.remove(differing, now)
	if err != nil {
		return err
	}
	slices.Reverse(lost) // folders before what is in them
	for _, name := range lost {
		if err := s.putBack(name, s.stamps[name]); err != nil {
			return fmt.Errorf("put back what a run changed: %w", err)
		}
	}
	return s.smooth(now)
}

// remove takes away what differs and returns what is lacking then.
func (s *snapshot) remove(differing []string, now map[string]stamps.Stamp) (lost []string, err error) {
	gone := map[string]bool{}
	for _, name := range differing {
		was, is := s.stamps[name], now[name]
		if was.IsDir() && is.IsDir() && was.Inode == is.Inode { // its mode is another one
			if err := os.Chmod(filepath.Join(s.dir, name), fs.FileMode(was.Mode&0o777)); err != nil {
				return nil, fmt.Errorf("put back what a run changed: %w", err)
			}
			continue
		}
		gone[name] = true
		if _, there := now[name]; !there {
			continue
		}
		if err := removeAll(filepath.Join(s.dir, name)); err != nil {
			return nil, fmt.Errorf("remove what a run left: %w", err)
		}
	}
	for name := range s.stamps {
		for dir := name; dir != "."; dir = filepath.Dir(dir) {
			if gone[dir] { // with all that was in it
				lost = append(lost, name)
				break
			}
		}
	}
	slices.SortFunc(lost, stamps.Deeper)
	return lost, nil
}

// copyOf is where a copy of name lies, "" when there is none.
func (s *snapshot) copyOf(name string) string {
	for _, layer := range s.layers {
		path := filepath.Join(layer, name)
		if _, err := os.Lstat(path); err == nil {
			return path
		}
	}
	return ""
}

func (s *snapshot) putBack(name string, was stamps.Stamp) error {
	path := filepath.Join(s.dir, name)
	if was.IsDir() {
		if err := os.MkdirAll(path, 0o700); err != nil {
			return err
		}
		if err := os.Chmod(path, fs.FileMode(was.Mode&0o777)); err != nil {
			return err
		}
	} else if from := s.copyOf(name); from == "" {
		return fmt.Errorf("%w: %s", errNoCopy, name)
	} else if err := copyOne(path, from); err != nil {
		return err
	}
	at, err := stamps.At(path)
	s.stamps[name] = at
	return err
}

// smooth takes from the folders what a run can write to them besides files: their
// times and their extended attributes.
func (s *snapshot) smooth(now map[string]stamps.Stamp) error {
	if err := clearAttributes(s.dir); err != nil {
		return err
	}
	for name, was := range s.stamps {
		if !was.IsDir() || now[name] == was {
			continue
		}
		path := filepath.Join(s.dir, name)
		if err := clearAttributes(path); err != nil {
			return err
		}
		if err := os.Chtimes(path, time.Time{}, longAgo()); err != nil {
			return fmt.Errorf("put back the time of a folder: %w", err)
		}
		at, err := stamps.At(path)
		if err != nil {
			return err
		}
		s.stamps[name] = at
	}
	return os.Chtimes(s.dir, time.Time{}, longAgo())
}

// longAgo is the time of all folders that were touched.
func longAgo() time.Time { return time.Unix(1_000_000_000, 0) }

// openClosed makes the folders below dir readable where a run has closed them.
func openClosed(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if d == nil || !d.IsDir() {
			return err
		}
		info, statErr := os.Lstat(path)
		if statErr != nil || info.Mode().Perm()&0o700 == 0o700 {
			return err
		}
		return os.Chmod(path, info.Mode().Perm()|0o700)
	})
}

// keeps are the paths that stay from run to run: relative to their folder, and all that
// is below them.
type keeps []string

func (k keeps) has(name string) bool {
	return slices.ContainsFunc(k, func(p string) bool { return name == p || strings.HasPrefix(name, p+"/") })
}
