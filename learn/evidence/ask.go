package evidence

import (
	"slices"
	"time"

	"si/learn/knowledge"
	"si/track"
)

// Counters are the counters of every entry that there is evidence about: what they
// were before it, and what it adds.
func (l *Log) Counters() map[string]knowledge.Counters {
	out := map[string]knowledge.Counters{}
	seen := map[string]bool{}
	for _, line := range l.Lines {
		if line.Delivery != nil {
			seen[line.Delivery.ID] = true
		}
	}
	for _, line := range l.Lines {
		switch {
		case line.Base != nil && seen[line.Base.ID]:
			c := out[line.Base.ID]
			c.Used, c.Helpful, c.OutdatedReports = c.Used+line.Base.Used, c.Helpful+line.Base.Helpful, c.OutdatedReports+line.Base.OutdatedReports
			out[line.Base.ID] = c
		case line.Delivery != nil:
			c := out[line.Delivery.ID]
			c.Used++
			switch line.Delivery.Verdict {
			case track.VerdictHelped:
				c.Helpful++
			case track.VerdictWrong:
				c.OutdatedReports++
			case track.VerdictUnused, track.VerdictMissing:
			}
			out[line.Delivery.ID] = c
		}
	}
	return out
}

// IDs are the entries that there is evidence about, present or not.
func (l *Log) IDs() []string {
	var ids []string
	for _, line := range l.Lines {
		if line.Base != nil {
			ids = append(ids, line.Base.ID)
		}
		if line.Delivery != nil {
			ids = append(ids, line.Delivery.ID)
		}
	}
	return ids
}

// Missing counts deliveries, and those of them on which the agent owed a verdict and
// gave none.
func (l *Log) Missing() (missing, delivered int) {
	for _, line := range l.Lines {
		if line.Delivery != nil {
			delivered++
			if line.Delivery.Verdict == track.VerdictMissing {
				missing++
			}
		}
	}
	return missing, delivered
}

// FirstDelivery is when an entry was first in a prompt.
func (l *Log) FirstDelivery(id string) (time.Time, bool) {
	var first time.Time
	for _, line := range l.Lines {
		if d := line.Delivery; d != nil && d.ID == id && (first.IsZero() || d.At.Before(first)) {
			first = d.At
		}
	}
	return first, !first.IsZero()
}

// LawSince is when a signature became law.
func (l *Log) LawSince(signature string) (time.Time, bool) {
	for _, line := range l.Lines {
		if line.Law != nil && line.Law.Signature == signature {
			return line.Law.At, true
		}
	}
	return time.Time{}, false
}

// Rejected reports whether a person deleted the rule of a signature.
func (l *Log) Rejected(signature string) bool {
	_, ok := l.index[Line{Rejected: &Rejected{Signature: signature}}.key()]
	return ok
}

// Runs are the runs that were folded, in the order of the file.
func (l *Log) Runs() []Run {
	var runs []Run
	for _, line := range l.Lines {
		if line.Run != nil {
			runs = append(runs, *line.Run)
		}
	}
	return runs
}

// NoProof stands in MISTAKES.md where nothing proves a mistake.
const NoProof = "none"

// Mistakes are the facts about the entries of MISTAKES.md with a track, a proof, a date
// and a signature, the oldest first. The signature tells only those without a proof from
// one another: people correct signatures. Where an older version recorded no signature,
// the latest fact is told.
func (l *Log) Mistakes(track, proof, date, signature string) []Mistake {
	var found, unsigned []Mistake
	for _, line := range l.Lines {
		m := line.Mistake
		switch {
		case m == nil || m.Track != track || m.Proof != proof || m.Date != date:
		case proof == NoProof && m.Signature == "":
			unsigned = append(unsigned, *m)
		case proof != NoProof || m.Signature == signature:
			found = append(found, *m)
		}
	}
	if len(found) == 0 && len(unsigned) > 0 {
		return []Mistake{slices.MaxFunc(unsigned, older)}
	}
	slices.SortStableFunc(found, older)
	return found
}

func older(a, b Mistake) int { return a.At.Compare(b.At) }

// Core is the version of the program whose built-in texts were compared last, "" for
// none.
func (l *Log) Core() string {
	version := ""
	for _, line := range l.Lines {
		if line.Core != nil {
			version = line.Core.Version
		}
	}
	return version
}
