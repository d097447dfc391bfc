package loop

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"si/track"
)

// StopKind says when a stop takes effect.
type StopKind string

// The kinds of a stop. StopStep lets what runs now finish; StopNow ends it.
const (
	StopStep StopKind = "step"
	StopNow  StopKind = "now"
)

// inboxPoll is how often the control inbox is looked at: often enough for a
// person who waits, and one readdir a time.
const inboxPoll = 250 * time.Millisecond

// stopper hears stop requests: of this process by a channel, of others by files
// in the control inbox.
type stopper struct {
	asked  atomic.Bool
	cancel context.CancelCauseFunc
	events *emitter
	inbox  string
	done   chan struct{}
	wg     sync.WaitGroup
}

func startStopper(cfg Config, events *emitter, cancel context.CancelCauseFunc) *stopper {
	s := &stopper{cancel: cancel, events: events, inbox: cfg.Paths.ControlDir(), done: make(chan struct{})}
	s.clearInbox()
	s.wg.Go(func() { s.listen(cfg.Stops) })
	return s
}

// clearInbox drops what was meant for an earlier run: a stop that came too late
// for that one must not end this one.
func (s *stopper) clearInbox() {
	s.eachRequest(func(string) {})
}

func (s *stopper) listen(stops <-chan StopKind) {
	tick := time.NewTicker(inboxPoll)
	defer tick.Stop()
	for {
		select {
		case <-s.done:
			return
		case kind := <-stops:
			s.apply(track.Control{Act: "stop", When: string(kind)})
		case <-tick.C:
			s.readInbox()
		}
	}
}

func (s *stopper) close() {
	close(s.done)
	s.wg.Wait()
}

// readInbox carries out the requests in the inbox.
func (s *stopper) readInbox() {
	s.eachRequest(func(path string) {
		if c, err := readControl(path); err == nil {
			s.apply(c)
		}
	})
}

// eachRequest hands over the files of the inbox, oldest first, and removes
// them. A file that is none of ours is left alone.
func (s *stopper) eachRequest(handle func(path string)) {
	entries, err := os.ReadDir(s.inbox)
	if err != nil || len(entries) == 0 {
		return
	}
	sort.Slice(entries, func(i, j int) bool { return entries[i].Name() < entries[j].Name() })
	for _, e := range entries {
		if !e.Type().IsRegular() || !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		path := filepath.Join(s.inbox, e.Name())
		handle(path)
		_ = os.Remove(path)
	}
}

func readControl(path string) (c track.Control, err error) {
	info, err := os.Lstat(path)
	if err != nil {
		return c, err
	}
	if !info.Mode().IsRegular() || info.Size() > 1<<20 {
		return c, errors.New("not a control request")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return c, err
	}
	return c, json.Unmarshal(data, &c)
}

func (s *stopper) apply(c track.Control) {
	if c.Act != "stop" {
		return
	}
	// The request is carried out also when the disk is full and it cannot be
	// written down: that is when a user stops a loop.
	_ = s.events.emit(track.EvControl, 0, "user", c)
	s.asked.Store(true)
	if StopKind(c.When) == StopNow {
		s.cancel(ErrInterrupted)
	}
}

// pending returns errStop once a stop was asked for. Set-up has no stopper.
func (s *stopper) pending() error {
	if s != nil && s.asked.Load() {
		return errStop
	}
	return nil
}
