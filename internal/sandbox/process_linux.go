package sandbox

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// processesUncounted says why a limit of processes would not be one. Linux 5.14
// began to count them for each user namespace; before, the limit counts all that
// the user runs anywhere.
func processesUncounted() string {
	if os.Geteuid() == 0 {
		return "the kernel exempts root; run as an ordinary user"
	}
	var u unix.Utsname
	major, minor := 0, 0
	if err := unix.Uname(&u); err == nil {
		_, _ = fmt.Sscanf(unix.ByteSliceToString(u.Release[:]), "%d.%d", &major, &minor)
	}
	if major < 5 || major == 5 && minor < 14 {
		return "before Linux 5.14 it would count all processes of the user"
	}
	return ""
}
