package knowledge

import (
	"fmt"
	"slices"
)

// The reasons to retire an entry.
const (
	ReportedWrong = "reported-wrong" // reported wrong more often than helpful
	NeverHelpful  = "never-helpful"  // delivered often and never once helpful
)

// enoughUses is how many deliveries without help speak against an entry. One says
// nothing.
const enoughUses = 3

// Audit measures a store. It changes nothing: which of two entries is the true one
// is a judgement.
type Audit struct {
	Dir         string       `json:"dir"`
	Budget      int          `json:"budget"`
	Entries     int          `json:"entries"`
	Live        int          `json:"live"`
	Superseded  int          `json:"superseded"`
	LiveCost    int          `json:"live_code_points"`       // in a brief
	DeadCost    int          `json:"superseded_code_points"` // of a brief that still held them
	Reachable   int          `json:"reachable"`              // fit into one brief about everything
	Unreachable int          `json:"unreachable"`
	TooBig      []string     `json:"too_big_alone"` // fit into no brief
	Dangling    []Dangling   `json:"dangling_supersedes"`
	Mutual      [][]string   `json:"mutual_supersedes"`
	Counted     bool         `json:"has_evidence"` // some counter is above 0
	Retire      []Retirement `json:"retirement_candidates"`
	Conclusion  []string     `json:"notes"`
	NoFoldYet   bool         `json:"fold_not_happening"`
}

// Dangling is a supersedes of an id that is not in the store: the retirement does
// not happen.
type Dangling struct {
	By string `json:"entry"`
	ID string `json:"missing"`
}

// Retirement is a live entry that its counters speak against.
type Retirement struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
	Counters
}

// Audit measures the store for briefs of at most budget code points; 0 is
// DefaultBudget.
func (s *Store) Audit(budget int) (Audit, error) {
	if budget == 0 {
		budget = DefaultBudget
	}
	a := Audit{Dir: s.Dir, Budget: budget, Entries: len(s.Entries), TooBig: []string{}, Retire: []Retirement{}}
	live := s.Live()
	a.Live, a.Superseded = len(live), len(s.Entries)-len(live)
	brief, err := s.Brief(Request{Paths: []string{"**"}, Budget: budget})
	if err != nil {
		return a, err
	}
	a.Reachable, a.Unreachable = brief.Kept, len(live)-brief.Kept
	a.costs(s, live)
	a.Dangling, a.Mutual = s.dangling(), s.mutual()
	a.retirements(live)
	a.conclude()
	return a, nil
}

func (a *Audit) costs(s *Store, live []Entry) {
	cost := make(map[string]int, len(s.Entries))
	all := 0
	for _, e := range s.Entries {
		cost[e.ID] = points(e.line())
		all += cost[e.ID]
		a.Counted = a.Counted || e.Counters != (Counters{})
	}
	alone := Brief{Dir: s.Dir, Kept: 1, Matched: len(live)}
	if len(live) > 1 {
		alone.Omitted.Budget = len(live) - 1
	}
	room := a.Budget - points(alone.header()) - points(alone.tail())
	for _, e := range live {
		a.LiveCost += cost[e.ID]
		if cost[e.ID] > room {
			a.TooBig = append(a.TooBig, e.ID)
		}
	}
	a.DeadCost = all - a.LiveCost
}

func (s *Store) dangling() []Dangling {
	out := []Dangling{}
	for _, e := range s.Entries {
		for _, id := range e.Supersedes {
			if _, ok := s.byID[id]; !ok {
				out = append(out, Dangling{e.ID, id})
			}
		}
	}
	return out
}

// mutual finds entries that retire each other: neither is delivered. One that names
// itself is listed alone.
func (s *Store) mutual() [][]string {
	out := [][]string{}
	for i, e := range s.Entries {
		for _, id := range e.Supersedes {
			j, ok := s.byID[id]
			switch {
			case ok && i == j:
				out = append(out, []string{e.ID})
			case ok && i < j && slices.Contains(s.Entries[j].Supersedes, e.ID):
				out = append(out, []string{e.ID, id})
			}
		}
	}
	return out
}

func (a *Audit) retirements(live []Entry) {
	a.NoFoldYet = !a.Counted && len(live) > 0
	for _, e := range live {
		reason := ""
		switch {
		case e.OutdatedReports > e.Helpful:
			reason = ReportedWrong
		case e.Used >= enoughUses && e.Helpful == 0:
			reason = NeverHelpful
		default:
			continue
		}
		a.Retire = append(a.Retire, Retirement{e.ID, reason, e.Counters})
	}
}

func (a *Audit) conclude() {
	note := func(format string, args ...any) { a.Conclusion = append(a.Conclusion, fmt.Sprintf(format, args...)) }
	a.Conclusion = []string{}
	if a.NoFoldYet {
		note("no entry has a counter above 0: the fold of verdicts into the counters is not happening, so nothing can be said about which entries earn their place")
	}
	if a.Unreachable > 0 {
		note("%d of %d live entries cannot be in one brief of %d code points: merge entries with 'si knowledge add --supersedes', or scope them with --applies-to", a.Unreachable, a.Live, a.Budget)
	}
	if len(a.Dangling) > 0 {
		note("an id that is not in the store retires nothing: correct it or remove it")
	}
}
