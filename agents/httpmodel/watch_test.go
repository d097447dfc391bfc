package httpmodel

import (
	"context"
	"errors"
	"testing"
	"time"
)

// handClock is wound by hand.
type handClock struct {
	now time.Time
	set []func()
	at  []time.Time
}

func (c *handClock) Now() time.Time { return c.now }

func (c *handClock) AfterFunc(d time.Duration, f func()) func() bool {
	c.set, c.at = append(c.set, f), append(c.at, c.now.Add(d))
	i := len(c.set) - 1
	return func() bool {
		c.set[i] = func() {}
		return true
	}
}

func (c *handClock) pass(d time.Duration) {
	c.now = c.now.Add(d)
	for i := 0; i < len(c.set); i++ {
		if f := c.set[i]; !c.at[i].After(c.now) {
			c.set[i] = func() {}
			f()
		}
	}
}

func TestTheIdleWatchCountsFromTheLastByte(t *testing.T) {
	c := &handClock{now: time.Unix(0, 0)}
	ctx, w := watchIdle(t.Context(), c, 15*time.Minute)
	for range 10 {
		c.pass(10 * time.Minute)
		w.heard()
	}
	if ctx.Err() != nil {
		t.Fatalf("a server that is heard every 10 minutes is idle: %v", context.Cause(ctx))
	}
	c.pass(14 * time.Minute)
	if ctx.Err() != nil {
		t.Fatal("too early")
	}
	c.pass(time.Minute)
	if !errors.Is(context.Cause(ctx), errIdle) {
		t.Errorf("cause %v", context.Cause(ctx))
	}
	w.end()
}

func TestAWatchThatHasEndedIsSilent(t *testing.T) {
	c := &handClock{now: time.Unix(0, 0)}
	ctx, w := watchIdle(t.Context(), c, time.Minute)
	w.end()
	c.pass(time.Hour)
	if errors.Is(context.Cause(ctx), errIdle) {
		t.Error("it rang")
	}
}

func TestPausesGrowAndAreBounded(t *testing.T) {
	s := &session{o: Options{Jitter: func() float64 { return 0.999 }}}
	var last time.Duration
	for n := range 80 {
		d := s.pause(n)
		if d < last || d > 30*time.Second {
			t.Errorf("pause %d is %s after %s", n, d, last)
		}
		last = d
	}
	s.o.Jitter = func() float64 { return 0 }
	if d := s.pause(0); d != 500*time.Millisecond {
		t.Errorf("the shortest pause is %s", d)
	}
}
