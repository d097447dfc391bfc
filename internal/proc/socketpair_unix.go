//go:build unix

package proc

import (
	"fmt"
	"os"
	"syscall"
)

// socketPair is os.Pipe with sockets: r reads what is written to w, and nothing can be
// read from w. /proc/PID/fd shows both, and opens neither: open(2) refuses sockets.
func socketPair() (r, w *os.File, err error) {
	syscall.ForkLock.RLock() // not every system can make them closed on exec at once
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fds[0])
		syscall.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, fmt.Errorf("make a pair of sockets: %w", err)
	}
	// Only this side is read without blocking: the modes of the two are apart.
	if err := syscall.SetNonblock(fds[0], true); err != nil {
		_, _ = syscall.Close(fds[0]), syscall.Close(fds[1])
		return nil, nil, fmt.Errorf("prepare a pair of sockets: %w", err)
	}
	_ = syscall.Shutdown(fds[0], syscall.SHUT_WR) // nothing is ever written to the child
	return os.NewFile(uintptr(fds[0]), "report"), os.NewFile(uintptr(fds[1]), "report"), nil
}
