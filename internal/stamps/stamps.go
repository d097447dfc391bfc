//go:build unix

// Package stamps tells whether files were changed, by what the kernel keeps of
// each: it sets the time of a change itself, which no program can set back. It
// reads no content. On systems whose time of change it does not read, Sure is false:
// there a program could hide a change.
package stamps

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// step is how far apart two changes must be for their times to differ: the clock of
// file systems moves in steps of some milliseconds.
const step = 100 * time.Millisecond

// Stamp tells one state of a file from another: what it is, which one, how long, and
// when the kernel last saw a change of its content or its data.
type Stamp struct {
	Mode    uint32 // as in stat(2), with the type
	Inode   uint64
	Size    int64
	Changed [2]int64 // seconds and nanoseconds
}

// IsDir tells whether it is a folder.
func (s Stamp) IsDir() bool { return s.Mode&unix.S_IFMT == unix.S_IFDIR }

// IsRegular tells whether it is a file.
func (s Stamp) IsRegular() bool { return s.Mode&unix.S_IFMT == unix.S_IFREG }

// SameDir tells that a folder is still one: what is in it has stamps of its own.
func SameDir(a, b Stamp) bool {
	return a.IsDir() && b.IsDir() && a.Inode == b.Inode && a.Mode == b.Mode
}

// At returns the stamp of what is at path; a link is not followed.
func At(path string) (Stamp, error) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return Stamp{}, &fs.PathError{Op: "lstat", Path: path, Err: err}
	}
	return Stamp{Mode: uint32(st.Mode), Inode: st.Ino, Size: st.Size, Changed: changed(&st)}, nil
}

// Settled tells that the change is so old at now that a later one has another time.
func (s Stamp) Settled(now time.Time) bool {
	return now.Sub(time.Unix(s.Changed[0], s.Changed[1])) > step
}

// Walk gives each path below dir, relative and in the order of names, with its
// stamp. What is gone meanwhile is left out. A folder for which take returns false
// is not entered.
func Walk(dir string, take func(name string, s Stamp) bool) error {
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if os.IsNotExist(err) && path != dir {
			return nil
		}
		if err != nil || path == dir {
			return err
		}
		s, err := At(path)
		if os.IsNotExist(err) {
			return nil
		}
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err == nil && !take(name, s) && d.IsDir() {
			return fs.SkipDir
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("look at what is in %s: %w", dir, err)
	}
	return nil
}

// Of lists what lies below dir, by its path there.
func Of(dir string) (map[string]Stamp, error) {
	out := map[string]Stamp{}
	err := Walk(dir, func(name string, s Stamp) bool {
		out[name] = s
		return true
	})
	return out, err
}

// Differing lists the names whose stamps are not the same in both, so that what is in
// a folder comes before it. A folder differs only when it is another one, or has
// another mode.
func Differing(a, b map[string]Stamp) []string {
	names := map[string]Stamp{}
	for name, s := range a {
		if t, both := b[name]; !both || s != t && !SameDir(s, t) {
			names[name] = s
		}
	}
	for name, s := range b {
		if _, both := a[name]; !both {
			names[name] = s
		}
	}
	return DeepestFirst(names)
}

// DeepestFirst lists the names so that what is in a folder comes before it.
func DeepestFirst(of map[string]Stamp) []string {
	return slices.SortedFunc(maps.Keys(of), Deeper)
}

// Deeper orders paths so that what is in a folder comes before it.
func Deeper(a, b string) int {
	if d := strings.Count(b, "/") - strings.Count(a, "/"); d != 0 {
		return d
	}
	return strings.Compare(a, b)
}
