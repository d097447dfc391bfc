//go:build unix

package loop

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// stamp tells one state of a file from another: what it is, which one, how long, and
// when the kernel last saw a change of its content or its data.
type stamp struct {
	mode    fs.FileMode
	inode   uint64
	size    int64
	changed [2]int64
}

// stampsOf lists what lies below dir, by its path there.
func stampsOf(dir string) (map[string]stamp, error) {
	out := map[string]stamp{}
	err := eachStamp(dir, func(name string, s stamp) { out[name] = s })
	return out, err
}

// eachStamp walks through what lies below dir, in the order of names.
func eachStamp(dir string, take func(name string, s stamp)) error {
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil || name == "." {
			return err
		}
		s := stamp{mode: info.Mode(), size: info.Size(), changed: [2]int64{info.ModTime().UnixNano()}}
		if st, ok := info.Sys().(*syscall.Stat_t); ok {
			s.inode, s.changed = st.Ino, changeTime(st, s.changed)
		}
		take(name, s)
		return nil
	})
	if err != nil {
		return fmt.Errorf("look at what is in %s: %w", dir, err)
	}
	return nil
}

// bothFolders tells that a folder is still one: what is in it has stamps of its own.
func bothFolders(a, b stamp) bool { return a.mode.IsDir() && b.mode.IsDir() && a.inode == b.inode }

// deepestFirst lists the names so that what is in a folder comes before it.
func deepestFirst(stamps map[string]stamp) []string {
	return slices.SortedFunc(maps.Keys(stamps), func(a, b string) int {
		if d := strings.Count(b, "/") - strings.Count(a, "/"); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
}
