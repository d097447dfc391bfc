package mistakes

import (
	"cmp"
	"slices"
	"time"

	"si/learn/evidence"
	"si/learn/place"
)

// DefaultThreshold is how many runs or commits make a mistake worth an entry of the
// knowledge store; two more, one of them after the entry was delivered, make a law
// of it.
const DefaultThreshold = 3

const lawMargin = 2

// The steps that a signature has earned.
const (
	ToKnowledge = "knowledge"
	ToLaw       = "law"
	ToMechanism = "mechanism" // it happened though there is a rule against it
)

// Repeat counts one signature.
type Repeat struct {
	Signature   string   `json:"signature"`
	Open        int      `json:"open"`        // distinct runs or commits of open entries
	Occurrences int      `json:"occurrences"` // of open and promoted ones
	Rows        int      `json:"entries"`     // in the file
	Dates       []string `json:"dates"`       // of the entries that count, one an occurrence, oldest first
	Knowledge   []string `json:"knowledge,omitempty"`
	Delivered   bool     `json:"after_delivery"` // one at least happened after the entry was delivered
	Law         bool     `json:"law"`
	AfterLaw    int      `json:"after_law"` // open entries since it is law
	Rejected    bool     `json:"operator_rejected"`
	Recommended string   `json:"recommended,omitempty"`
	Why         string   `json:"why,omitempty"`
}

type dated struct {
	Entry
	where string
	at    time.Time
}

// history is the ledger's entries with what evidence says of them, by signature in
// the order of the file.
type history struct {
	log        *evidence.Log
	threshold  int
	signatures []string
	entries    map[string][]dated
}

func (l *Ledger) history(p place.Place) (*history, error) {
	log, err := evidence.Load(p)
	if err != nil {
		return nil, err
	}
	h := &history{log: log, threshold: DefaultThreshold, entries: map[string][]dated{}}
	facts := l.Facts(log)
	for i, e := range l.Entries {
		known := facts[i]
		at := known.At
		if at.IsZero() {
			at, _ = time.Parse(time.DateOnly, e.Date) // was checked
		}
		if h.entries[e.Signature] == nil {
			h.signatures = append(h.signatures, e.Signature)
		}
		h.entries[e.Signature] = append(h.entries[e.Signature], dated{e, occurrence(e, known), at})
	}
	for _, entries := range h.entries {
		joinCommits(entries)
	}
	return h, nil
}

// Repeats counts every signature, those that happened most often first.
func Repeats(p place.Place, threshold int) ([]Repeat, error) {
	l, err := Load(p)
	if err != nil {
		return nil, err
	}
	h, err := l.history(p)
	if err != nil {
		return nil, err
	}
	h.threshold = cmp.Or(threshold, DefaultThreshold)
	out := []Repeat{}
	for _, s := range h.signatures {
		r, _ := h.repeat(s)
		out = append(out, r)
	}
	slices.SortStableFunc(out, func(a, b Repeat) int { return cmp.Compare(b.Occurrences, a.Occurrences) })
	return out, nil
}

func (h *history) repeat(signature string) (Repeat, bool) {
	r := Repeat{Signature: signature, Rejected: h.log.Rejected(signature)}
	open, all, law := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, e := range h.entries[signature] {
		r.Rows++
		id, forKnowledge := e.Status.Knowledge()
		switch {
		case e.Status == Open:
			open[e.where] = true
		case forKnowledge:
			if !slices.Contains(r.Knowledge, id) {
				r.Knowledge = append(r.Knowledge, id)
			}
		case e.Status == Law:
			law[e.where], r.Law = true, true
			continue
		default:
			continue
		}
		if !all[e.where] {
			r.Dates = append(r.Dates, e.Date)
		}
		all[e.where] = true
	}
	slices.Sort(r.Dates)
	r.Open, r.Occurrences = len(open), len(all)
	r.Delivered = h.afterDelivery(signature, r.Knowledge)
	if r.Law {
		r.AfterLaw = r.Open
		r.Occurrences += len(law)
	}
	r.recommend(h.threshold)
	return r, r.Rows > 0
}

// afterDelivery reports whether one of the entries happened after a knowledge entry
// that was made of the signature was in a prompt.
func (h *history) afterDelivery(signature string, ids []string) bool {
	for _, id := range ids {
		first, ok := h.log.FirstDelivery(id)
		if ok && slices.ContainsFunc(h.entries[signature], func(e dated) bool {
			return e.at.After(first) && (e.Status == Open || e.Status == ForKnowledge(id))
		}) {
			return true
		}
	}
	return false
}

func (r *Repeat) recommend(threshold int) {
	switch {
	case r.Law && r.AfterLaw > 0:
		r.Recommended, r.Why = ToMechanism, "it happened again though there is a rule against it: the rule does not work, a mechanism is needed"
		if r.Rejected {
			r.Why = "it happened again after a person deleted the rule against it; the rule stays deleted"
		}
	case r.Law || r.Rejected:
	case r.Occurrences >= threshold+lawMargin && r.Delivered:
		r.Recommended, r.Why = ToLaw, "it happened again after the knowledge entry was delivered"
	case r.Open >= threshold && len(r.Knowledge) == 0:
		r.Recommended, r.Why = ToKnowledge, "it happened in several runs or commits"
	}
}
