package mcpserver

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// longest is the most bytes of a socket's address, its end included (unix(7)).
const longest = 108

// reach is an address for the socket at path: a longer one than fits leads through an
// open folder. done gives the folder back when the address was used.
func reach(path string) (address string, done func(), err error) {
	if len(path) < longest {
		return path, func() {}, nil
	}
	dir, err := os.OpenFile(filepath.Dir(path), unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(path)), func() { _ = dir.Close() }, nil
}
