package loop

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"si/agents"
	"si/internal/clean"
	"si/track"
)

const (
	diaryFlush = 100 * time.Millisecond // how long an entry can wait for the disk
	diaryMax   = 4 << 20                // bytes of the file, after which it begins anew
	diaryWait  = 256 << 10              // bytes that can wait for the disk; more is dropped
	entryMax   = 4 << 10                // bytes of one text
)

// diary writes what an agent does to a file that screens follow. It never makes an
// agent wait: what the disk does not take in time is dropped and counted. Nothing is
// synced: a crash loses a tenth of a second, and what was used in it counts for nothing.
type diary struct {
	file *os.File
	wake chan struct{}
	done chan struct{}
	wg   sync.WaitGroup

	mu      sync.Mutex
	waiting []byte
	spare   []byte
	size    int64
	dropped int
}

// openDiary begins the file at path. A link that stands there is not followed.
func openDiary(path string) (*diary, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("begin the activity file %s: %w", path, err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, fmt.Errorf("begin the activity file: %w", err)
	}
	d := &diary{file: f, wake: make(chan struct{}, 1), done: make(chan struct{})}
	d.wg.Go(d.write)
	return d, nil
}

// note takes one event of an agent. It is safe for concurrent use.
func (d *diary) note(e agents.Event) {
	line := activityOf(e)
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.waiting) > diaryWait {
		d.dropped++
		return
	}
	line.Dropped, d.dropped = d.dropped, 0
	data, err := json.Marshal(line)
	if err != nil { // a number that JSON has no word for
		d.dropped++
		return
	}
	d.waiting = append(append(d.waiting, data...), '\n')
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

func activityOf(e agents.Event) track.Activity {
	a := track.Activity{
		At: e.At, Kind: string(e.Kind), Tool: clean.Line(e.Tool, 200), ToolID: clean.Line(e.ToolID, 200), Failed: e.Failed,
		Session: clean.Line(e.Session, 200), Model: clean.Line(e.Model, 200), Usage: e.Usage, CostUSD: e.CostUSD,
	}
	text := e.Text
	if len(text) > entryMax {
		text = text[:entryMax] + "…"
	}
	a.Text = clean.Text([]byte(text))
	if !e.Until.IsZero() {
		until := e.Until
		a.Until = &until
	}
	return a
}

// write brings entries to the disk, ten times a second while there are some.
func (d *diary) write() {
	timer := time.NewTimer(0)
	<-timer.C
	defer timer.Stop()
	for {
		select {
		case <-d.done:
			d.flush()
			return
		case <-d.wake:
			d.flush()
		}
		timer.Reset(diaryFlush)
		select {
		case <-timer.C:
		case <-d.done:
			d.flush()
			return
		}
	}
}

// flush writes what waits. A file that has grown too long begins anew: who follows
// it sees it shrink.
func (d *diary) flush() {
	d.mu.Lock()
	data := d.waiting
	d.waiting, d.spare = d.spare[:0], nil
	d.mu.Unlock()
	if len(data) > 0 {
		if d.size+int64(len(data)) > diaryMax {
			if d.file.Truncate(0) == nil {
				_, _ = d.file.Seek(0, 0)
				d.size = 0
			}
		}
		n, _ := d.file.Write(data) // a full disk costs the picture, not the agent
		d.size += int64(n)
	}
	d.mu.Lock()
	d.spare = data
	d.mu.Unlock()
}

func (d *diary) close() {
	close(d.done)
	d.wg.Wait()
	_ = d.file.Close()
}
