package benchmark

import (
	"time"

	"golang.org/x/sys/unix"
)

// asleep is how long the machine was suspended since it started: one clock goes on
// then, the other does not.
func asleep() time.Duration {
	var with, without unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &with) != nil || unix.ClockGettime(unix.CLOCK_MONOTONIC, &without) != nil {
		return 0
	}
	return time.Duration(with.Nano() - without.Nano())
}
