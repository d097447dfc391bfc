package skills

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	maxArchiveEntries = 2_000_000
	maxArchiveBytes   = 64 << 30
)

// eachEntry calls do for every entry of an archive, and reads it to its end, so that
// its checksum is checked.
func eachEntry(archive string, do func(h *tar.Header, content io.Reader) error) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close() // opened for reading only
	zipped, err := gzip.NewReader(bufio.NewReaderSize(f, 256<<10))
	if err != nil {
		return fmt.Errorf("read %s: %w", archive, err)
	}
	limited := &io.LimitedReader{R: zipped, N: maxArchiveBytes}
	tr := tar.NewReader(limited)
	for n := 0; ; n++ {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil && (n >= maxArchiveEntries || !filepath.IsLocal(h.Name)) {
			err = fmt.Errorf("its entry %q is refused: it is one too many, or leads out of the folder", short(h.Name))
		}
		if err == nil {
			err = do(h, tr)
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", archive, err)
		}
	}
	if _, err := io.Copy(io.Discard, limited); err != nil {
		return fmt.Errorf("read %s: %w", archive, err)
	}
	return nil
}

// verify compares an archive with a folder: every entry must be there with the same
// content. With names, those of the archive must be these, in this order.
func verify(archive, dir string, names []string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close() // opened for reading only
	n, c := 0, &comparer{a: make([]byte, 128<<10), b: make([]byte, 128<<10)}
	err = eachEntry(archive, func(h *tar.Header, content io.Reader) error {
		if names != nil && (n >= len(names) || names[n] != h.Name) {
			return fmt.Errorf("%s is not what stands there", short(h.Name))
		}
		n++
		return c.entry(root, h, content)
	})
	if err == nil && names != nil && n != len(names) {
		err = fmt.Errorf("%d of %d entries are there", n, len(names))
	}
	return err
}

// comparer compares contents through two buffers.
type comparer struct{ a, b []byte }

func (c *comparer) entry(root *os.Root, h *tar.Header, content io.Reader) error {
	info, err := root.Lstat(h.Name)
	if err != nil {
		return err
	}
	same := false
	switch h.Typeflag {
	case tar.TypeDir:
		same = info.IsDir()
	case tar.TypeSymlink:
		to, err := root.Readlink(h.Name)
		same = err == nil && to == h.Linkname
	case tar.TypeReg:
		if same = info.Mode().IsRegular() && info.Size() == h.Size; same {
			same, err = c.file(root, h.Name, content)
		}
	}
	if err == nil && !same {
		err = fmt.Errorf("%s differs", short(h.Name))
	}
	return err
}

func (c *comparer) file(root *os.Root, name string, content io.Reader) (bool, error) {
	f, err := root.Open(name)
	if err != nil {
		return false, err
	}
	defer f.Close() // opened for reading only
	for {
		n, errA := io.ReadFull(f, c.a)
		m, errB := io.ReadFull(content, c.b)
		if !bytes.Equal(c.a[:n], c.b[:m]) {
			return false, nil
		}
		endA, endB := ended(errA), ended(errB)
		switch {
		case endA && endB:
			return true, nil
		case errA != nil && !endA:
			return false, errA
		case errB != nil && !endB:
			return false, errB
		case endA != endB:
			return false, nil
		}
	}
}

func ended(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

// unpack fills an empty folder from an archive. Nothing is written outside of it,
// whatever the archive says.
func unpack(archive, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close() // opened for names only
	return eachEntry(archive, func(h *tar.Header, content io.Reader) error {
		mode := fs.FileMode(h.Mode).Perm()
		switch h.Typeflag {
		case tar.TypeDir:
			return root.Mkdir(h.Name, mode|0o700)
		case tar.TypeSymlink:
			return root.Symlink(h.Linkname, h.Name)
		case tar.TypeReg:
			f, err := root.OpenFile(h.Name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
			if err != nil {
				return err
			}
			_, err = io.Copy(f, content)
			return errors.Join(err, f.Close())
		}
		return fmt.Errorf("%s is neither a file, a folder nor a link", short(h.Name))
	})
}
