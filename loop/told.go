package loop

import (
	"slices"
	"strings"
	"time"

	"si/loop/report"
	"si/track"
)

// subjectIn is an executor in a round.
type subjectIn struct {
	round   int
	subject string
}

// told is what the journal tells a report.
type told struct {
	started, ended    time.Time
	samples           []pastSample
	guards            map[subjectIn][]report.Guard
	candidateWarnings map[subjectIn][]string
	warnings          []string
	held              []string // what the runs said of what holds agents and benchmarks
}

// mostWarnings bounds the warnings of a report.
const mostWarnings = 20

// readTold reads the journal once.
func readTold(path string) (told, error) {
	t := told{guards: map[subjectIn][]report.Guard{}, candidateWarnings: map[subjectIn][]string{}}
	for ev, err := range track.ReadJournal(path) {
		if err != nil {
			return t, err
		}
		if err := t.hear(ev); err != nil {
			return t, err
		}
	}
	return t, nil
}

func (t *told) hear(ev track.Event) error {
	switch ev.Ev { //nolint:exhaustive // what a report tells
	case track.EvRunStarted:
		if t.started.IsZero() {
			t.started = ev.TS
		}
	case track.EvRunEnded:
		t.ended = ev.TS
	case track.EvMeasured:
		var s track.Sample
		if err := ev.Decode(&s); err != nil {
			return err
		}
		s.Raw = ""
		t.samples = append(t.samples, pastSample{ev.Round, s})
	case track.EvGuard:
		var g track.GuardEvent
		if err := ev.Decode(&g); err != nil {
			return err
		}
		at := subjectIn{ev.Round, g.Subject}
		t.guards[at] = append(t.guards[at], report.Guard{Name: g.Guard, Passed: g.Passed, Reason: g.Reason})
	case track.EvCandidate:
		var c track.CandidateEvent
		if err := ev.Decode(&c); err != nil {
			return err
		}
		t.candidateWarnings[subjectIn{ev.Round, c.Executor}] = c.Warnings
	case track.EvWarning:
		var n track.Note
		if err := ev.Decode(&n); err != nil {
			return err
		}
		t.warn(n.Text)
	}
	return nil
}

func (t *told) warn(text string) {
	to := &t.warnings
	if strings.HasPrefix(text, "sandbox: ") || strings.HasPrefix(text, notEnforced) {
		to = &t.held
	}
	if len(*to) < mostWarnings && !slices.Contains(*to, text) {
		*to = append(*to, text)
	}
}

// notHeld are the sayings that name something which is not enforced.
func (t *told) notHeld() []string {
	var out []string
	for _, text := range t.held {
		if strings.HasPrefix(text, notEnforced) || strings.Contains(text, "not enforced") {
			out = append(out, text)
		}
	}
	return out
}

// runs are the scored runs of a comparison, in order: those of its last attempt,
// where a benchmark turned out to be noisy on the way.
func (t *told) runs(round int, prefix string) []track.Sample {
	var out []track.Sample
	mode := ""
	for _, s := range t.samples {
		if s.round != round || s.Score == nil || !strings.HasPrefix(s.Key, prefix) {
			continue
		}
		now, _, _ := strings.Cut(strings.TrimPrefix(s.Key, prefix), "/")
		if now == "first" {
			continue
		}
		if now != mode {
			out, mode = nil, now
		}
		out = append(out, s.Sample)
	}
	return out
}

// duel is the same for a report; after names the side that is the later tree.
func (t *told) duel(round int, prefix, after string) []report.Sample {
	var out []report.Sample
	for _, s := range t.runs(round, prefix) {
		out = append(out, report.Sample{After: s.Subject == after, Score: *s.Score})
	}
	return out
}

// subScores are the medians of one side's further numbers.
func (t *told) subScores(round int, prefix, side string) track.SubScore {
	var of []track.Sample
	for _, s := range t.runs(round, prefix) {
		if s.Subject == side {
			of = append(of, s)
		}
	}
	return medianSubScores(of)
}
