package httpmodel

import (
	"context"
	"time"
)

// Clock tells the time and wakes up. Tests have one of their own.
type Clock interface {
	Now() time.Time
	// AfterFunc calls f in a goroutine after d, unless stop was called before.
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

// System is the machine's clock.
type System struct{}

// Now is the time of the machine.
func (System) Now() time.Time { return time.Now() }

// AfterFunc is time.AfterFunc.
func (System) AfterFunc(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }

// sleep waits for d, or until ctx ends.
func sleep(ctx context.Context, c Clock, d time.Duration) error {
	woken := make(chan struct{})
	stop := c.AfterFunc(d, func() { close(woken) })
	defer stop()
	select {
	case <-woken:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
