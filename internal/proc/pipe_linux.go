package proc

import (
	"os"

	"golang.org/x/sys/unix"
)

// pipeSize is as much as an ordinary user may ask for. With less, programs that
// exit without waiting for their last write cut their own output short: one
// agent program lost everything beyond 128 KiB.
const pipeSize = 1 << 20

// widen enlarges the pipe. Beyond the user's quota the kernel refuses, and the
// usual 64 KiB has to do.
func widen(f *os.File) {
	raw, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		_, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeSize)
	})
}
