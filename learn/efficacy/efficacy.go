// Package efficacy says whether what a repository learned changed anything: in how
// many runs a mistake happened before its knowledge entry was delivered, or its rule
// written, and in how many after. It counts runs that the evidence knows, and judges
// no text.
package efficacy

import (
	"fmt"
	"math"
	"slices"
	"time"

	"si/learn/evidence"
	"si/learn/knowledge"
	"si/learn/mistakes"
	"si/learn/place"
)

// enoughRuns is how many runs after a delivery say something about it.
const enoughRuns = 5

// What a line comes to.
const (
	TooEarly  = "too-early" // not enough runs since
	Helps     = "helps"     // it happens in a smaller share of runs
	NoChange  = "no-change"
	Unseen    = "unseen" // no run before, or none at all that is known to have had it: nothing can be compared
	ByLaw     = "law"
	Retire    = "retire"          // an entry that changed nothing
	Mechanism = "needs-mechanism" // a rule that changed nothing
)

// Line is one remedy against one mistake.
type Line struct {
	Signature  string    `json:"signature"`
	Remedy     string    `json:"remedy"` // the id of an entry, or law
	Since      time.Time `json:"since"`
	RunsBefore int       `json:"runs_before"`
	HitsBefore int       `json:"runs_with_it_before"`
	RunsAfter  int       `json:"runs_after"`
	HitsAfter  int       `json:"runs_with_it_after"`
	P          float64   `json:"p"` // of a fall like this without any effect (Fisher's exact test, one-sided)
	Outcome    string    `json:"outcome"`
	Advice     string    `json:"advice,omitempty"` // retire or needs-mechanism
}

func (l Line) String() string {
	return fmt.Sprintf("%s since %s: in %d of %d runs before, in %d of %d after (p = %.2g), %s", l.Signature, l.Remedy, l.HitsBefore, l.RunsBefore, l.HitsAfter, l.RunsAfter, l.P, l.Outcome)
}

// Measure compares the rates of every signature that has a remedy which was
// delivered, in the order of MISTAKES.md.
func Measure(p place.Place) ([]Line, error) {
	ledger, err := mistakes.Load(p)
	if err != nil {
		return nil, err
	}
	log, err := evidence.Load(p)
	if err != nil {
		return nil, err
	}
	store, err := knowledge.Load(p)
	if err != nil {
		return nil, err
	}
	out := []Line{}
	for _, signature := range signatures(ledger) {
		m := measure{log: log, hits: hits(ledger, log, signature)}
		for _, id := range remedies(ledger, store, signature) {
			if at, ok := log.FirstDelivery(id); ok {
				out = append(out, m.line(signature, id, at))
			}
		}
		if at, ok := log.LawSince(signature); ok {
			out = append(out, m.line(signature, ByLaw, at))
		}
	}
	return out, nil
}

func signatures(l *mistakes.Ledger) []string {
	var out []string
	for _, e := range l.Entries {
		if !slices.Contains(out, e.Signature) {
			out = append(out, e.Signature)
		}
	}
	return out
}

// remedies are the entries that were made of a signature: by the status of the
// mistake, or by what the entry says that it comes from, which stays when the mistake
// is law.
func remedies(l *mistakes.Ledger, s *knowledge.Store, signature string) []string {
	var ids []string
	add := func(id string) {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	for _, e := range l.Entries {
		if id, ok := e.Status.Knowledge(); ok && e.Signature == signature {
			add(id)
		}
	}
	for _, e := range s.Entries {
		if slices.Contains(e.Provenance, knowledge.Provenance{Source: place.Mistakes, Reference: signature}) {
			add(e.ID)
		}
	}
	return ids
}

// hits are the first time that each run had the mistake.
func hits(l *mistakes.Ledger, log *evidence.Log, signature string) map[string][]time.Time {
	out := map[string][]time.Time{}
	for i, m := range l.Facts(log) {
		if l.Entries[i].Signature == signature && m.Run != "" {
			out[m.Run] = append(out[m.Run], m.At)
		}
	}
	return out
}

type measure struct {
	log  *evidence.Log
	hits map[string][]time.Time
}

// line counts. The run in which an entry was first delivered is one after it, and
// what happened in it before the delivery says nothing; a rule is written at the end
// of a run, which is one before it.
func (m measure) line(signature, remedy string, since time.Time) Line {
	l := Line{Signature: signature, Remedy: remedy, Since: since}
	runs := m.log.Runs()
	for i, run := range runs {
		going := remedy != ByLaw && (i+1 == len(runs) || runs[i+1].At.After(since))
		after := !run.At.Before(since) || going
		happened := slices.ContainsFunc(m.hits[run.ID], func(at time.Time) bool { return !after || at.After(since) })
		switch {
		case after:
			l.RunsAfter++
			l.HitsAfter += one(happened)
		default:
			l.RunsBefore++
			l.HitsBefore += one(happened)
		}
	}
	l.conclude()
	return l
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (l *Line) conclude() {
	l.P = fisher(l.HitsBefore, l.RunsBefore, l.HitsAfter, l.RunsAfter)
	switch {
	case l.RunsAfter < enoughRuns:
		l.Outcome = TooEarly
	case l.RunsBefore == 0 || l.HitsBefore+l.HitsAfter == 0:
		l.Outcome = Unseen
	case l.HitsAfter*l.RunsBefore < l.HitsBefore*l.RunsAfter:
		l.Outcome = Helps
	default:
		l.Outcome, l.Advice = NoChange, Retire
		if l.Remedy == ByLaw {
			l.Advice = Mechanism
		}
	}
}

// fisher is the chance of at most hitsAfter hits among the runs after, when the hits
// are dealt out to all runs alike.
func fisher(hitsBefore, before, hitsAfter, after int) float64 {
	hits, all := hitsBefore+hitsAfter, before+after
	if hits == 0 || before == 0 || after == 0 {
		return 1
	}
	p := 0.0
	for k := 0; k <= hitsAfter; k++ {
		p += math.Exp(choose(after, k) + choose(before, hits-k) - choose(all, hits))
	}
	return min(p, 1)
}

// choose is the logarithm of the binomial coefficient, -Inf where there is none.
func choose(n, k int) float64 {
	if k < 0 || k > n {
		return math.Inf(-1)
	}
	lg := func(x int) float64 { v, _ := math.Lgamma(float64(x + 1)); return v }
	return lg(n) - lg(k) - lg(n-k)
}
