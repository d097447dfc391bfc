package loop

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"si/internal/stamps"
)

// Before each run, tree and HOME of an arm are what they were when its set-up command
// had ended: a run that computes its answer once and remembers it finds nothing the
// next time.

// Bounds of the copies of what a set-up command made in a tree or a HOME.
const (
	copiedBytes = 512 << 20
	copiedFiles = 50_000
)

// copiesPrefix begins the names of the folders with copies.
const copiesPrefix = "made_"

// copiesOf is where copies of what the set-up made in dir lie.
func (b *lab) copiesOf(dir string) string {
	return filepath.Join(b.folder(), copiesPrefix+filepath.Base(dir))
}

// freeze remembers tree and HOME as the set-up left them; laid and home are what they
// were before it.
func (b *lab) freeze(a *arm, laid, home *snapshot) error {
	inTree, inHome, err := b.keeps()
	if err != nil {
		return err
	}
	if a.laid, err = b.copyMade(laid, inTree); err != nil {
		return err
	}
	a.home, err = b.copyMade(home, inHome)
	return err
}

// copyMade takes the snapshot of a folder, with copies of what is not as it was before.
func (b *lab) copyMade(before *snapshot, keep keeps) (*snapshot, error) {
	copies := b.copiesOf(before.dir)
	if err := removeAll(copies); err != nil {
		return nil, fmt.Errorf("remove old copies: %w", err)
	}
	s, err := takeSnapshot(before.dir, keep, append([]string{copies}, before.layers...)...)
	if err != nil {
		return nil, err
	}
	var made []string
	bytes := int64(0)
	for _, name := range stamps.Differing(before.stamps, s.stamps) {
		if at, there := s.stamps[name]; there && !at.IsDir() {
			made, bytes = append(made, name), bytes+at.Size
		}
	}
	if len(made) > copiedFiles || bytes > copiedBytes {
		return s, b.tellTooMuch(before.dir, len(made), bytes)
	}
	for _, name := range made {
		to := filepath.Join(copies, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return nil, fmt.Errorf("copy what the set-up made: %w", err)
		}
		if err := copyOne(to, filepath.Join(before.dir, name)); err != nil {
			return nil, fmt.Errorf("copy what the set-up made: %w", err)
		}
	}
	return s, nil
}

// tellTooMuch says once why runs may take long.
func (b *lab) tellTooMuch(dir string, files int, bytes int64) error {
	if b.told {
		return nil
	}
	b.told = true
	return b.l.note("the set-up made %d files, %d MB, in %s, too much for a copy: a run that changes some of it costs a new set-up; "+
		"a folder that may stay as runs leave it, such as a build cache, can be named in si.measure.keep", files, bytes>>20, filepath.Base(dir))
}

// putBack makes an arm what its set-up left, and tells whether that was possible. The
// run of another tree could have written there as well as its own.
func (b *lab) putBack(a *arm) bool {
	return a.fault != "" || a.homeVersion == b.homeVersion && a.laid.restore() == nil && a.home.restore() == nil
}

// keeps are the paths that the user lets stay from run to run, in the tree and in HOME.
func (b *lab) keeps() (tree, home keeps, err error) {
	for _, p := range b.l.settings.Value.SI.Measure.Keep {
		below, ofHome := strings.CutPrefix(p, "~/")
		if below = filepath.Clean(below); !filepath.IsLocal(below) || below == "." {
			return nil, nil, fmt.Errorf("%s: si.measure.keep: %q: %w", b.l.settings.Path, p, errKeep)
		}
		if ofHome {
			home = append(home, below)
		} else {
			tree = append(tree, below)
		}
	}
	return tree, home, nil
}

var errKeep = errors.New("give a path inside the tree, or one of the benchmark's HOME that begins with ~/")
