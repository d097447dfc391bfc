package proc

import (
	"fmt"
	"math"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// rssUnit is the unit of ru_maxrss in bytes.
const rssUnit = 1024

// orphansAreAdopted: a supervisor without children has no descendants either.
const orphansAreAdopted = true

// adopt makes this process the parent of every orphan below it, and lets no file
// but the standard three pass to the command. Kernels before 5.11 cannot do the
// latter in one call; there the two pipes are closed on exec, as everywhere.
func adopt() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("adopt orphans: %w", err)
	}
	// "killall si" is meant for the program, which its supervisors clean up after.
	_ = os.WriteFile("/proc/self/comm", []byte("si-supervise"), 0)
	_ = unix.CloseRange(controlFile, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC)
	return nil
}

// commandAttr kills the command with its supervisor: "killall -9 si" reaches
// this program and all supervisors, and would leave agents running until the
// next start.
func commandAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

func dup(from, to int) error { return unix.Dup3(from, to, 0) }

// below lists what lives below this process.
func below(int) []process { return descendantsOf(os.Getpid()) }
