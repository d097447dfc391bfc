package agents

import (
	"fmt"
	"slices"
	"strings"

	"si/internal/clean"
	"si/track"
)

const (
	maxCandidates = 16 // of one round that are listed
	noteRoom      = 256
)

// historyText is the rounds so far in at most limit bytes, newest first: the
// newest whole, older ones on one line each, the oldest only counted. Two
// thirds of the room are for whole rounds.
func historyText(rounds []track.History, limit int) string {
	var b strings.Builder
	at := len(rounds) - 1
	for ; at >= 0; at-- {
		text := wholeRound(rounds[at])
		if b.Len()+len(text) > limit*2/3 {
			break
		}
		b.WriteString(text)
	}
	for ; at >= 0; at-- {
		text := shortRound(rounds[at])
		if b.Len()+len(text) > limit-noteRoom {
			break
		}
		b.WriteString(text)
	}
	if at >= 0 {
		fmt.Fprintf(&b, "%d older rounds are not shown\n", at+1)
	}
	return b.String()
}

func wholeRound(h track.History) string {
	var b strings.Builder
	fmt.Fprintf(&b, "round %d", h.Iteration)
	if base := number(h.BaselineScore); base != "" {
		fmt.Fprintf(&b, ", began at %s", base)
	}
	b.WriteByte('\n')
	kept, refused := sorted(h)
	for i, item := range slices.Concat(kept, refused) {
		if i == maxCandidates {
			fmt.Fprintf(&b, "  and %d more candidates\n", len(kept)+len(refused)-i)
			break
		}
		writeCandidate(&b, item, i < len(kept))
	}
	for i, s := range h.SI.RejectedPlans {
		if i == maxCandidates {
			break
		}
		fmt.Fprintf(&b, "  never tried: %s, rejected: %s\n", clean.Line(s.ID, 60), clean.Line(s.Reason, 160))
	}
	return b.String()
}

func writeCandidate(b *strings.Builder, item track.HistoryItem, kept bool) {
	word := "refused"
	if kept {
		word = "kept"
	}
	fmt.Fprintf(b, "  %s: %s [%s]", word, clean.Line(item.PlanID, 60), clean.Line(item.ApproachFamily, 60))
	if score := number(item.Score); score != "" {
		fmt.Fprintf(b, " score %s", score)
	}
	if item.SI != nil && item.SI.Effect != nil {
		fmt.Fprintf(b, " (%+.2f %%)", item.SI.Effect.Value*100)
	}
	fmt.Fprintf(b, " %s\n", clean.Line(item.Hypothesis, 240))
	if f := item.FailureAnalysis; f != nil {
		fmt.Fprintf(b, "    %s: %s; lesson: %s\n", clean.Line(string(f.Category), 40), clean.Line(f.What, 160), clean.Line(f.Lesson, 160))
	}
}

func shortRound(h track.History) string {
	kept, refused := sorted(h)
	var b strings.Builder
	fmt.Fprintf(&b, "round %d", h.Iteration)
	write := func(word string, items []track.HistoryItem) {
		for i, item := range items {
			if i == maxCandidates {
				break
			}
			fmt.Fprintf(&b, "; %s [%s] %s", word, clean.Line(item.ApproachFamily, 30), clean.Line(item.Hypothesis, 60))
		}
	}
	write("kept", kept)
	write("refused", refused)
	b.WriteByte('\n')
	return b.String()
}

// sorted splits the candidates of a round into those that were merged, of which
// the documents name only the last as winner, and the others.
func sorted(h track.History) (kept, refused []track.HistoryItem) {
	if h.Winner != nil {
		kept = append(kept, *h.Winner)
	}
	for _, item := range h.Losers {
		if merged(h, item.PlanID) {
			kept = append(kept, item)
		} else {
			refused = append(refused, item)
		}
	}
	return kept, refused
}

func merged(h track.History, planID string) bool {
	return slices.ContainsFunc(h.SI.Winners, func(m track.Merged) bool { return m.PlanID == planID })
}
