//go:build !linux

package benchmark

import "time"

// asleep is 0: no clock tells here how long the machine was suspended.
func asleep() time.Duration { return 0 }
