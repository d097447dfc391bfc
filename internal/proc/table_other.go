//go:build unix && !linux

package proc

import (
	"errors"
	"os"
	"syscall"
)

func (p process) signal(sig syscall.Signal) { _ = syscall.Kill(p.pid, sig) }

// groupOf stands for the whole group that pid led, while it has members.
func groupOf(pid int) []process {
	if errors.Is(syscall.Kill(-pid, 0), syscall.ESRCH) {
		return nil
	}
	return []process{{pid: -pid}}
}

// descendantsOf knows nothing: there is no process table to read here.
func descendantsOf(int) []process { return nil }

// orphansOf finds the group only.
func orphansOf(leader int, _ string) []process { return groupOf(leader) }

// nameOf has no table to look in.
func nameOf(*os.File) string { return "" }

// endHolders finds nobody; the reader is cut off instead.
func endHolders(string, int) int { return 0 }
