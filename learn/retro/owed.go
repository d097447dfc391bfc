package retro

import (
	"iter"
	"time"

	"si/track"
)

// mostTries is how often the retrospective of one run is tried. A judge that fails
// each time must not be paid at every start.
const mostTries = 2

// Owed is a run whose retrospective has not been done.
type Owed struct {
	Run   string
	Begun bool // it was begun, and a crash came
	At    time.Time
}

// OwedRuns finds the runs of a journal that are still to be looked back on: those
// whose retrospective began and did not end, and the last one that ended, or was
// killed, without any. now is the run that asks, which is not over. A run without a
// round has nothing to look back on; older runs are left alone, so that a track which
// was never looked back on does not begin with all of its past.
func OwedRuns(events iter.Seq2[track.Event, error], now string) ([]Owed, error) {
	var runs []*ran
	byID := map[string]*ran{}
	of := func(ev track.Event, id string) *ran {
		if byID[id] == nil {
			byID[id] = &ran{id: id, at: ev.TS}
			runs = append(runs, byID[id])
		}
		return byID[id]
	}
	for ev, err := range events {
		if err != nil {
			return nil, err
		}
		switch ev.Ev { //nolint:exhaustive // the kinds that say what was done
		case track.EvRunStarted:
			of(ev, ev.Run)
		case track.EvRoundEnded, track.EvFinding:
			of(ev, ev.Run).played = true
		case track.EvRetro:
			var r track.RetroEvent
			if err := ev.Decode(&r); err != nil {
				return nil, err
			}
			of(ev, r.Of).take(r)
		}
	}
	var out []Owed
	last := true
	for i := len(runs) - 1; i >= 0; i-- {
		r := runs[i]
		if r.id == now || !r.played {
			continue
		}
		if (r.begun || last) && !r.done && r.failed < mostTries {
			out = append([]Owed{{r.id, r.begun, r.at}}, out...)
		}
		last = false
	}
	return out, nil
}

// ran is what the journal says of one run.
type ran struct {
	id                  string
	at                  time.Time
	played, begun, done bool
	failed              int
}

func (r *ran) take(ev track.RetroEvent) {
	switch ev.Outcome {
	case track.RetroStarted:
		r.begun = true
	case track.RetroUnchanged, track.RetroChanged:
		if ev.Trigger != ByEvery { // one in the middle of a run is not that of its end
			r.done = true
		}
		r.begun = false
	case track.RetroFailed:
		r.failed++
	}
}
