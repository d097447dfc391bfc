package acp

import "time"

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

// alarm rings once.
type alarm struct {
	rang chan struct{}
	stop func() bool
}

// ringAfter sets an alarm; one of 0 never rings.
func ringAfter(c Clock, d time.Duration) alarm {
	if d <= 0 {
		return alarm{stop: func() bool { return true }}
	}
	rang := make(chan struct{}, 1)
	return alarm{rang, c.AfterFunc(d, func() { rang <- struct{}{} })}
}
