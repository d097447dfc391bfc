package feed

import (
	"errors"
	"io"
	"os"
	"time"

	"si/track"
	"si/tui/scene"
)

// The bounds of one Read.
const (
	mostEvents = 2000
	mostTime   = 25 * time.Millisecond
)

// Follow follows the journal of a track while a loop, in whichever process,
// writes it.
type Follow struct {
	paths   track.Paths
	now     func() time.Time
	journal *track.JournalReader
	agents  agents
	begun   bool // the documents were read
	caught  bool // the end of the journal was reached once
	faults  int  // damaged lines
}

// NewFollow follows the track at paths. The journal need not be there yet.
func NewFollow(paths track.Paths, now func() time.Time) *Follow {
	return &Follow{paths: paths, now: now, agents: agents{paths: paths}}
}

// Now is the time.
func (f *Follow) Now() time.Time { return f.now() }

// Read reads what the loop has written since the last call.
func (f *Follow) Read() Batch {
	var b Batch
	b.Err = f.events(&b)
	if !f.begun || asksForFacts(b.Events) {
		f.begun = true
		facts := ReadFacts(f.paths)
		b.Facts = &facts
	}
	if !b.More {
		b.Doing = f.agents.read()
		_, held, err := track.LockHolder(f.paths.LockPath())
		b.Alive = held || err != nil
	}
	return b
}

func (f *Follow) events(b *Batch) error {
	if f.journal == nil {
		j, err := track.OpenJournalReader(f.paths.JournalPath(), 0)
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		f.journal = j
	}
	limit := f.now().Add(mostTime)
	for len(b.Events) < mostEvents {
		e, err := f.journal.Next()
		var damage *track.FileError
		switch {
		case errors.Is(err, io.EOF):
			f.caught = true
			return nil
		case errors.As(err, &damage):
			f.faults++ // the loop says so; what follows can be read
			if f.faults > 1000 {
				return err
			}
			continue
		case err != nil:
			return err
		}
		f.agents.see(e)
		b.Events = append(b.Events, e)
		if len(b.Events)%64 == 0 && f.now().After(limit) {
			break
		}
	}
	b.More = true
	return nil
}

// asksForFacts tells whether the documents may have changed.
func asksForFacts(events []track.Event) bool {
	for _, e := range events {
		if e.Ev == track.EvRoundStarted || e.Ev == track.EvRunStarted || e.Ev == track.EvConfigChange {
			return true
		}
	}
	return false
}

// Close lets go of the files.
func (f *Follow) Close() error {
	f.agents.close()
	if f.journal == nil {
		return nil
	}
	return f.journal.Close()
}

// ReadFacts reads what the documents of a track say. What cannot be read is left
// out: the loop itself refuses a broken document and names it.
func ReadFacts(p track.Paths) scene.Facts {
	facts := scene.Facts{Place: p.ProjectRoot}
	if s, err := track.LoadSettings(p); err == nil {
		v := s.Value
		facts.Metric, facts.Direction, facts.Target, facts.Max = v.PrimaryMetric, v.BenchmarkDirection, v.TargetValue, v.MaxIterations
	}
	if g, _, err := track.LoadGoal(p); err == nil {
		facts.Objective = g.Objective
	}
	if b, err := track.LoadBaseline(p); err == nil && b.Exists {
		facts.Baseline = &b.Value.Score
	}
	if l, err := track.LoadList[track.RawRecord](p.RawDataPath); err == nil {
		facts.Records = l.Items
	}
	return facts
}
