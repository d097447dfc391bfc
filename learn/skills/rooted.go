package skills

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"si/internal/durable"
)

// The durable effects of this package beside those of durable.Store.
const (
	OpRename durable.Op = "rename"
	OpTree   durable.Op = "tree" // a whole folder is made or removed
	OpSwap   durable.Op = "swap" // two folders change places
)

// rooted reads and writes below one folder and cannot leave it: a link that leads
// out is refused by the system at the moment of use, however late it was made.
type rooted struct {
	root  *os.Root
	dir   string
	hooks durable.Hooks
}

func openRooted(dir string, hooks durable.Hooks) (*rooted, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &rooted{root, dir, hooks}, nil
}

func (r *rooted) close() { _ = r.root.Close() }

func (r *rooted) around(op durable.Op, rel string, effect func() error) error {
	return around(r.hooks, op, r.dir+"/"+rel, effect)
}

func around(h durable.Hooks, op durable.Op, path string, effect func() error) error {
	if h.Before != nil {
		h.Before(op, path)
	}
	if err := effect(); err != nil {
		return err
	}
	if h.After != nil {
		h.After(op, path)
	}
	return nil
}

// read returns a regular file of at most limit bytes.
func (r *rooted) read(rel string, limit int64) ([]byte, error) {
	f, err := r.root.OpenFile(rel, os.O_RDONLY|unix.O_NONBLOCK, 0) // a pipe would block
	if err != nil {
		return nil, err
	}
	defer f.Close() // opened for reading only
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", rel)
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s has more than %d bytes, the most that is read", rel, limit)
	}
	return data, err
}

// replace writes a file atomically; its folder is there.
func (r *rooted) replace(rel string, data []byte) error {
	return r.around(durable.OpReplace, rel, func() error {
		temp := path.Join(path.Dir(rel), ".si-new-"+strings.TrimPrefix(path.Base(rel), "."))
		_ = r.root.Remove(temp) // a crash left it; one writer at a time
		f, err := r.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return err
		}
		_, err = f.Write(data)
		err = errors.Join(err, f.Sync(), f.Close())
		if err == nil {
			err = r.root.Rename(temp, rel)
		}
		if err != nil {
			_ = r.root.Remove(temp)
			return err
		}
		return r.sync(path.Dir(rel))
	})
}

func (r *rooted) rename(from, to string) error {
	return r.around(OpRename, to, func() error {
		if err := r.root.Rename(from, to); err != nil {
			return err
		}
		return errors.Join(r.sync(path.Dir(from)), r.sync(path.Dir(to)))
	})
}

func (r *rooted) removeAll(rel string) error {
	return r.around(OpTree, rel, func() error {
		if err := r.root.RemoveAll(rel); err != nil {
			return err
		}
		return r.sync(path.Dir(rel))
	})
}

// mkdir makes one folder, if it is not there.
func (r *rooted) mkdir(rel string) error {
	if err := r.root.Mkdir(rel, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return r.sync(path.Dir(rel))
}

func (r *rooted) exists(rel string) bool {
	_, err := r.root.Lstat(rel)
	return err == nil
}

func (r *rooted) sync(rel string) error {
	d, err := r.root.Open(rel)
	if err != nil {
		return err
	}
	defer d.Close() // opened for reading only
	return d.Sync()
}
