package screen

import (
	"os"

	"golang.org/x/sys/unix"
)

// discardOutput drops what the terminal has not taken, so that restoring it does
// not wait for that, and leaves the alternate screen if it can be done at once.
func discardOutput(out *os.File) {
	fd := int(out.Fd())
	_ = unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCOFLUSH)
	_ = unix.IoctlSetInt(fd, unix.TCXONC, unix.TCOON)
}
