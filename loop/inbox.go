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

// maxControl is the longest request that is read, in bytes.
const maxControl = 1 << 20

// inbox hears requests: of this process by a channel, of others by files in the
// control inbox. It hands them to the helm.
type inbox struct {
	dir  string
	helm *helm
	done chan struct{}
	wg   sync.WaitGroup
}

func openInbox(cfg Config, h *helm) *inbox {
	b := &inbox{dir: cfg.Paths.ControlDir(), helm: h, done: make(chan struct{})}
	b.clear()
	b.wg.Go(func() { b.listen(cfg.Stops) })
	return b
}

// clear drops what was meant for an earlier run: a stop that came too late for
// that one must not end this one.
func (b *inbox) clear() {
	b.each(func(string) {})
}

func (b *inbox) listen(stops <-chan StopKind) {
	tick := time.NewTicker(inboxPoll)
	defer tick.Stop()
	for {
		select {
		case <-b.done:
			return
		case kind := <-stops:
			b.helm.apply(track.Control{Act: track.ActStop, When: string(kind)})
		case <-tick.C:
			b.read()
		}
	}
}

func (b *inbox) close() {
	close(b.done)
	b.wg.Wait()
}

// read carries out the requests in the inbox.
func (b *inbox) read() {
	b.each(func(path string) {
		if c, err := readControl(path); err == nil {
			b.helm.apply(c)
		}
	})
}

// each hands over the files of the inbox, oldest first, and removes them. A file
// that is none of ours is left alone.
func (b *inbox) each(handle func(path string)) {
	entries, err := os.ReadDir(b.dir)
	if err != nil || len(entries) == 0 {
		return
	}
	sort.Slice(entries, func(i, j int) bool { return entries[i].Name() < entries[j].Name() })
	for _, e := range entries {
		if !e.Type().IsRegular() || !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		path := filepath.Join(b.dir, e.Name())
		handle(path)
		_ = os.Remove(path)
	}
}

func readControl(path string) (c track.Control, err error) {
	info, err := os.Lstat(path)
	if err != nil {
		return c, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxControl {
		return c, errors.New("not a control request")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return c, err
	}
	return c, json.Unmarshal(data, &c)
}

// steer opens the inbox of a run and the helm that it moves.
func (l *Loop) steer(cancel context.CancelCauseFunc) *inbox {
	l.helm = newHelm(l.events, cancel)
	return openInbox(l.cfg, l.helm)
}
