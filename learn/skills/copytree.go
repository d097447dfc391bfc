package skills

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// linkTree makes next, an empty folder beside the library, hold all that the library
// holds. Files are hard links: nothing here writes into a file, all is replaced.
func (l *Library) linkTree(next string) error {
	base, err := os.OpenRoot(l.base)
	if err != nil {
		return err
	}
	defer base.Close() // opened for names only
	from, to := filepath.Base(l.Dir()), filepath.Base(next)
	return fs.WalkDir(base.FS(), from, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := path.Join(to, p[len(from):])
		switch {
		case p == from, path.Base(p) == markerFile:
			return nil
		case e.IsDir():
			return copyFolder(base, e, target)
		case e.Type() == fs.ModeSymlink:
			return copyLink(base, p, target)
		case e.Type().IsRegular():
			if err := base.Link(p, target); err == nil {
				return nil
			}
			return copyFile(base, p, target) // a file system without hard links
		}
		return fmt.Errorf("%s is neither a file, a folder nor a link; move it out of the library", filepath.Join(l.base, p))
	})
}

func copyFolder(base *os.Root, e fs.DirEntry, target string) error {
	info, err := e.Info()
	if err != nil {
		return err
	}
	return base.Mkdir(target, info.Mode().Perm()|0o700)
}

func copyLink(base *os.Root, p, target string) error {
	to, err := base.Readlink(p)
	if err != nil {
		return err
	}
	return base.Symlink(to, target)
}

func copyFile(base *os.Root, p, target string) error {
	in, err := base.Open(p)
	if err != nil {
		return err
	}
	defer in.Close() // opened for reading only
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := base.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
