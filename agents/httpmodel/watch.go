package httpmodel

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

var (
	errWall = errors.New("its limit of time is over")
	errIdle = errors.New("the model's server sent nothing for too long")
)

// limitWall ends ctx with errWall after d; 0 is no limit.
func limitWall(ctx context.Context, c Clock, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := func() bool { return true }
	if d > 0 {
		stop = c.AfterFunc(d, func() { cancel(errWall) })
	}
	return ctx, func() { stop(); cancel(nil) }
}

// idleWatch cancels a request to which the server has sent no byte for limit. It
// looks again when the limit would be over, instead of setting a timer for each
// byte.
type idleWatch struct {
	clock  Clock
	limit  time.Duration
	cancel context.CancelCauseFunc

	mu   sync.Mutex
	last time.Time
	stop func() bool
	over bool
}

// watchIdle returns a context that ends with errIdle; limit 0 is none.
func watchIdle(ctx context.Context, c Clock, limit time.Duration) (context.Context, *idleWatch) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &idleWatch{clock: c, limit: limit, cancel: cancel, last: c.Now()}
	if limit > 0 {
		w.arm(limit)
	}
	return ctx, w
}

// arm is called with mu held, or before anybody else knows w.
func (w *idleWatch) arm(d time.Duration) { w.stop = w.clock.AfterFunc(d, w.look) }

func (w *idleWatch) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return
	}
	if quiet := w.clock.Now().Sub(w.last); quiet < w.limit {
		w.arm(w.limit - quiet)
		return
	}
	w.over = true
	w.cancel(errIdle)
}

func (w *idleWatch) heard() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = w.clock.Now()
}

func (w *idleWatch) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	if w.stop != nil {
		w.stop()
	}
	w.cancel(nil)
}

// heardReader tells the watch of every byte.
type heardReader struct {
	r io.Reader
	w *idleWatch
}

func (h heardReader) Read(p []byte) (int, error) {
	n, err := h.r.Read(p)
	if n > 0 {
		h.w.heard()
	}
	return n, err
}
