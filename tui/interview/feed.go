package interview

import (
	"context"
	"sync"

	tea "charm.land/bubbletea/v2"

	"si/track"
)

// Feed carries what happens during a set-up to the screen. Put never blocks and
// nothing is lost: a set-up has some dozens of events. It is safe for concurrent
// use.
type Feed struct {
	mu    sync.Mutex
	queue []tea.Msg
	wake  chan struct{}
}

// NewFeed makes an empty feed.
func NewFeed() *Feed { return &Feed{wake: make(chan struct{}, 1)} }

// Event hears an event of the loop.
func (f *Feed) Event(e track.Event) { f.put(eventMsg{e}) }

func (f *Feed) put(m tea.Msg) {
	f.mu.Lock()
	f.queue = append(f.queue, m)
	f.mu.Unlock()
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// feedMsg is all that has happened since the last one.
type feedMsg struct{ msgs []tea.Msg }

// next waits for what happens next.
func (f *Feed) next(ctx context.Context) tea.Cmd {
	return func() tea.Msg {
		for {
			f.mu.Lock()
			msgs := f.queue
			f.queue = nil
			f.mu.Unlock()
			if len(msgs) > 0 {
				return feedMsg{msgs}
			}
			select {
			case <-f.wake:
			case <-ctx.Done():
				return nil
			}
		}
	}
}

// eventMsg is an event of the loop.
type eventMsg struct{ track.Event }
