package sandbox

import (
	"fmt"

	"golang.org/x/sys/unix"

	"si/internal/proc"
)

// setLimits limits this process and its descendants.
//
// Memory is RLIMIT_DATA: RLIMIT_AS also counts what is only reserved, of which Go,
// Java and sanitizers have hundreds of gigabytes. In a user namespace RLIMIT_NPROC
// counts the processes of that namespace.
func setLimits(l proc.Limits) error {
	for _, x := range []struct {
		what  string
		which int
		value int64
	}{
		{"file size", unix.RLIMIT_FSIZE, l.FileBytes},
		{"memory", unix.RLIMIT_DATA, l.MemoryBytes},
		{"processes", unix.RLIMIT_NPROC, int64(l.Processes)},
	} {
		if x.value <= 0 {
			continue
		}
		var old unix.Rlimit
		if err := unix.Getrlimit(x.which, &old); err != nil {
			return fmt.Errorf("limit %s: %w", x.what, err)
		}
		limit := min(uint64(x.value), old.Max) // raising is root's right, and never wanted
		if err := unix.Setrlimit(x.which, &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
			return fmt.Errorf("limit %s to %d: %w", x.what, limit, err)
		}
	}
	return nil
}
