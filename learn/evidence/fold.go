package evidence

import (
	"context"
	"fmt"
	"iter"

	"si/learn/knowledge"
	"si/learn/place"
	"si/track"
)

// Folded is what a fold changed.
type Folded struct {
	Facts int      // new ones
	Files []string // of the knowledge store
}

// Fold takes the deliveries and verdicts of a journal into the evidence, then
// writes the counters that follow into the store. The same events folded again
// change nothing; killed between the two files, the next fold writes the second.
func Fold(ctx context.Context, p place.Place, trackName string, events iter.Seq2[track.Event, error]) (Folded, error) {
	facts, err := collect(trackName, events)
	if err != nil {
		return Folded{}, fmt.Errorf("fold the evidence: %w", err)
	}
	release, err := p.Lock(ctx)
	if err != nil {
		return Folded{}, err
	}
	defer release()
	store, err := knowledge.Load(p)
	if err != nil {
		return Folded{}, err
	}
	before, err := Load(p)
	if err != nil {
		return Folded{}, err
	}
	facts = append(bases(store, before, facts), facts...)
	if err := Append(p, facts...); err != nil {
		return Folded{}, err
	}
	after, err := Load(p)
	if err != nil {
		return Folded{}, err
	}
	files, err := knowledge.SetCounters(p, after.Counters())
	return Folded{Facts: len(after.Lines) - len(before.Lines), Files: files}, err
}

// bases keeps what counters say at the first evidence about their entry: a store
// that was counted by others is counted on from there.
func bases(store *knowledge.Store, known *Log, facts []Line) []Line {
	seen := map[string]bool{}
	for _, id := range known.IDs() {
		seen[id] = true
	}
	var out []Line
	for _, f := range facts {
		if f.Delivery == nil || seen[f.Delivery.ID] {
			continue
		}
		seen[f.Delivery.ID] = true
		if e, ok := store.Entry(f.Delivery.ID); ok && e.Counters != (knowledge.Counters{}) {
			out = append(out, Line{Base: &Base{ID: e.ID, Counters: e.Counters}})
		}
	}
	return out
}

// task is one agent's work. A journal holds it once, though a crash may have had it
// begun in one run and ended in the next.
type task struct {
	round int
	agent string
}

// collect makes facts of events. Verdicts on what was not delivered count for
// nothing: an agent may name any entry.
func collect(trackName string, events iter.Seq2[track.Event, error]) ([]Line, error) {
	var facts []Line
	open := map[task]map[string]*Delivery{}
	for ev, err := range events {
		if err != nil {
			return nil, err
		}
		switch ev.Ev { //nolint:exhaustive // the other kinds say nothing about knowledge
		case track.EvRunStarted:
			facts = append(facts, Line{Run: &Run{ID: ev.Run, Track: trackName, At: ev.TS}})
		case track.EvBriefDelivered:
			var d track.BriefDelivered
			if err := ev.Decode(&d); err != nil {
				return nil, err
			}
			t := task{ev.Round, d.Agent}
			if open[t] == nil {
				open[t] = map[string]*Delivery{}
			}
			for _, id := range d.IDs {
				if open[t][id] == nil && knowledge.IsID(id) { // another attempt is the same delivery
					open[t][id] = &Delivery{ev.Run, ev.Round, d.Agent, id, track.VerdictMissing, ev.TS}
					facts = append(facts, Line{Delivery: open[t][id]})
				}
			}
		case track.EvBriefVerdict:
			var v track.BriefVerdict
			if err := ev.Decode(&v); err != nil {
				return nil, err
			}
			for id, verdict := range v.Verdicts {
				if d := open[task{ev.Round, v.Agent}][id]; d != nil && valid(verdict) {
					d.Verdict = verdict
				}
			}
		}
	}
	return facts, nil
}

func valid(v track.KnowledgeVerdict) bool {
	return v == track.VerdictHelped || v == track.VerdictWrong || v == track.VerdictUnused
}
