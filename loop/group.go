package loop

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
)

// group runs tasks side by side and waits for all of them. The first error
// cancels the others; a panic is an error.
type group struct {
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
	mu     sync.Mutex
	err    error
}

func newGroup(ctx context.Context) *group {
	ctx, cancel := context.WithCancel(ctx)
	return &group{ctx: ctx, cancel: cancel}
}

func (g *group) run(name string, task func(context.Context) error) {
	g.wg.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				g.fail(fmt.Errorf("%s: panic: %v\n%s", name, p, debug.Stack()))
			}
		}()
		if err := task(g.ctx); err != nil {
			g.fail(err)
		}
	})
}

func (g *group) fail(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	// A stop lets the other tasks finish: their work is paid for.
	if g.err == nil {
		g.err = err
	}
	if err != errStop { //nolint:errorlint // the bare sentinel: a wrapped one is somebody else's
		g.cancel()
	}
}

func (g *group) wait() error {
	g.wg.Wait()
	g.cancel()
	return g.err
}

// abandon cancels what runs, waits for it and returns err.
func (g *group) abandon(err error) error {
	g.cancel()
	g.wg.Wait()
	return err
}
