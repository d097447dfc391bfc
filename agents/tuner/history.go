package tuner

import (
	"math"
	"strings"

	"si/agents"
	"si/track"
)

// outcome is what became of a value that was tried.
type outcome int

const (
	lost      outcome = iota // measured, not better
	kept                     // merged
	outrun                   // measured better, but never judged: another candidate stood before it
	forbidden                // broke the program, a guard, or was better by too little: a wall
)

// trial is one earlier experiment with a knob.
type trial struct {
	plan     string
	from, to float64
	gain     float64 // log of the relative gain; only where it was measured and not forbidden
	outcome  outcome
	after    int // winners that the champion had taken over when it was tried
}

// record is what the history says about the track's knobs.
type record struct {
	trials  map[string][]trial // by knob, oldest first
	count   int                // of all trials
	winners []string           // the knob of each winner, oldest first; "" for a change of another kind
	streak  []string           // families that won each of the last three rounds
	blocked int                // plans rejected since the last round that had a candidate
	reasons []string           // why plans were rejected
	refuted []refutation       // what the repository learned not to work
}

// streakLength is after how many wins running a family has to pause (H002).
const streakLength = 3

func recordOf(f agents.Facts) record {
	r := record{trials: map[string][]trial{}}
	for _, h := range f.History {
		r.add(h, f.Direction)
	}
	r.streak = streakOf(f.History)
	r.learn(f)
	return r
}

func (r *record) add(h track.History, d track.Direction) {
	items := h.Items()
	won := winnersOf(h)
	if r.blocked += len(h.SI.RejectedPlans); len(items) > 0 {
		r.blocked = len(h.SI.RejectedPlans)
	}
	for _, s := range h.SI.RejectedPlans {
		r.reasons = append(r.reasons, s.Reason)
	}
	before := len(r.winners)
	for range len(won) - countWon(items, won) {
		r.winners = append(r.winners, "") // an older history lists only the last of two winners
	}
	for _, it := range items {
		edit := editOf(it)
		if won[it.PlanID] {
			r.winners = append(r.winners, edit.Knob)
		}
		if t, ok := trialOf(it, edit, h.BaselineScore, won[it.PlanID], d); ok {
			t.after = before
			r.count++
			r.trials[edit.Knob] = append(r.trials[edit.Knob], t)
		}
	}
}

func countWon(items []track.HistoryItem, won map[string]bool) int {
	n := 0
	for _, it := range items {
		if won[it.PlanID] {
			n++
		}
	}
	return n
}

func winnersOf(h track.History) map[string]bool {
	won := map[string]bool{}
	if h.Winner != nil {
		won[h.Winner.PlanID] = true
	}
	for _, w := range h.SI.Winners {
		won[w.PlanID] = true
	}
	return won
}

func editOf(it track.HistoryItem) track.Edit {
	if it.SI == nil || it.SI.Edit == nil {
		return track.Edit{}
	}
	return *it.SI.Edit
}

func trialOf(it track.HistoryItem, e track.Edit, baseline *float64, won bool, d track.Direction) (trial, bool) {
	from, ok1 := parseValue(e.Old)
	to, ok2 := parseValue(e.New)
	if e.Knob == "" || !ok1 || !ok2 {
		return trial{}, false
	}
	t := trial{plan: it.PlanID, from: from.num, to: to.num}
	gain, measured := gainOf(it, baseline, d)
	switch {
	case won:
		t.outcome, t.gain = kept, max(gain, 0)
	case !measured, gain > 0 && judged(it):
		t.outcome = forbidden
	case gain > 0:
		t.outcome, t.gain = outrun, gain
	default:
		t.outcome, t.gain = lost, gain
	}
	return t, true
}

// judged reports whether a measured candidate was refused for what it is, and not
// because another stood before it or conflicted with it.
func judged(it track.HistoryItem) bool {
	return it.SI.Effect != nil || it.FailureAnalysis != nil || strings.HasPrefix(it.SI.Verdict, "refused: guard")
}

// gainOf is how much better an item was, as a logarithm, so that steps add up. A
// judged effect says it better than two single scores.
func gainOf(it track.HistoryItem, baseline *float64, d track.Direction) (float64, bool) {
	if it.SI != nil && it.SI.Effect != nil && it.SI.Effect.Value > -1 {
		return clampGain(math.Log1p(it.SI.Effect.Value)), true
	}
	if it.Score == nil || baseline == nil {
		return 0, false
	}
	a, b := *baseline, *it.Score
	if a <= 0 || b <= 0 {
		return clampGain(sign(d) * (b - a) / max(math.Abs(a), 1e-12)), true
	}
	return clampGain(sign(d) * math.Log(b/a)), true
}

// clampGain bounds what one odd score can make the search believe.
func clampGain(g float64) float64 {
	if math.IsNaN(g) {
		return 0
	}
	return min(max(g, -3), 3)
}

func sign(d track.Direction) float64 {
	if d == track.LowerIsBetter {
		return -1
	}
	return 1
}

// streakOf returns the families with a winner in each of the last rounds.
func streakOf(hist []track.History) []string {
	if len(hist) < streakLength {
		return nil
	}
	counts := map[string]int{}
	for _, h := range hist[len(hist)-streakLength:] {
		won, families := winnersOf(h), map[string]bool{}
		if h.Winner != nil {
			families[h.Winner.ApproachFamily] = true
		}
		for _, it := range h.Losers {
			if won[it.PlanID] {
				families[it.ApproachFamily] = true
			}
		}
		for f := range families {
			counts[f]++
		}
	}
	var out []string
	for f, n := range counts {
		if n == streakLength {
			out = append(out, f)
		}
	}
	return out
}

// moved is how many winners with other knobs the champion has taken over since the
// trial: what the trial said may not hold any more.
func (r record) moved(knob string, t trial) int {
	n := 0
	for _, w := range r.winners[min(t.after, len(r.winners)):] {
		if w != knob {
			n++
		}
	}
	return n
}
