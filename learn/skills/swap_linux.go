package skills

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// exchangeFolders lets two folders change places in one step. Where the file system
// cannot, the error is errors.ErrUnsupported.
func exchangeFolders(a, b string) error {
	err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return errors.ErrUnsupported
	}
	if err != nil {
		return fmt.Errorf("exchange %s and %s: %w", a, b, err)
	}
	return nil
}

// syncTree brings all of a new folder to the disk: one call for its file system
// instead of one for each file.
func syncTree(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close() // opened for reading only
	return unix.Syncfs(int(d.Fd()))
}
