package cmd

import (
	"os"
	"os/signal"
	"sync"
	"syscall"

	"si/loop"
)

// stops are the stop requests of this process, and what ends hearing them.
func (w World) stops() (<-chan loop.StopKind, func()) {
	if w.Stops != nil {
		return w.Stops, func() {}
	}
	return stopSignals()
}

// stopSignals turns SIGINT, SIGTERM and SIGHUP into stop requests: the first
// asks for a stop after what runs now, the second for one at once. done puts the
// handling back and waits.
func stopSignals() (stops <-chan loop.StopKind, done func()) {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	// Without a handler, a write to a closed pipe (si run --json | head) would end
	// the loop. It is caught and not ignored: children would inherit that.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	out := make(chan loop.StopKind, 4)
	end := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		kind := loop.StopStep
		for {
			select {
			case <-end:
				return
			case <-signals:
				select {
				case out <- kind:
				default: // nobody listens any more
				}
				kind = loop.StopNow
			}
		}
	})
	return out, func() {
		signal.Stop(signals)
		signal.Stop(broken)
		close(end)
		wg.Wait()
	}
}
