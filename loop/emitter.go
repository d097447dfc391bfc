package loop

import (
	"encoding/json"
	"fmt"
	"time"

	"si/track"
)

// emitter appends events to the journal and then hands them to the listeners.
// It is safe for concurrent use.
type emitter struct {
	journal *track.Journal
	path    string
	run     string
	now     func() time.Time
	listen  []func(track.Event)
}

func openEmitter(cfg Config) (*emitter, error) {
	j, torn, err := track.OpenJournal(cfg.Store, cfg.Paths.JournalPath())
	if err != nil {
		return nil, err
	}
	e := &emitter{journal: j, path: cfg.Paths.JournalPath(), run: cfg.RunID, now: cfg.Now, listen: cfg.Listen}
	if torn > 0 {
		text := fmt.Sprintf("cut off a torn last line of %d bytes, left by a crash", torn)
		err = e.emit(track.EvJournalRepair, 0, "si", track.Note{Text: text})
	}
	return e, err
}

// emit puts one event on disk, then announces it.
func (e *emitter) emit(kind track.Kind, round int, actor string, data any) error {
	raw, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("encode a %s event: %w", kind, err)
	}
	ev := track.Event{TS: e.now().UTC(), Ev: kind, Run: e.run, Round: round, Actor: actor, Data: raw}
	if err := e.journal.Append(ev); err != nil {
		return err
	}
	for _, hear := range e.listen {
		hear(ev)
	}
	return nil
}

// past returns the runs of the benchmark that the journal holds, oldest first, so that a
// run that was paid for is not taken again, and what of the budgets is used.
func (e *emitter) past() ([]pastSample, *ledger, error) {
	var past []pastSample
	spent := newLedger()
	for ev, err := range track.ReadJournal(e.path) {
		if err == nil {
			err = spent.hear(ev)
		}
		if err != nil {
			return nil, nil, err
		}
		if ev.Ev != track.EvMeasured {
			continue
		}
		var s track.Sample
		if err := ev.Decode(&s); err != nil {
			return nil, nil, err
		}
		past = append(past, pastSample{ev.Round, s})
	}
	return past, spent, nil
}

func (e *emitter) close() { _ = e.journal.Close() }
