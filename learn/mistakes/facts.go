package mistakes

import (
	"strings"

	"si/learn/evidence"
)

// Facts say what the evidence knows of each entry, in the order of the entries: the
// run or the commit in which it happened, and when. Nothing is known of one that a
// person wrote. Entries with one signature, track, proof and date are told from one
// another by their order alone: the lowest in the file has the oldest fact, and those
// that are more than the facts have the last one, since a copied row is no new run.
func (l *Ledger) Facts(log *evidence.Log) []evidence.Mistake {
	type row struct{ track, proof, date, signature string }
	seen := map[row]int{}
	out := make([]evidence.Mistake, len(l.Entries))
	for i := len(l.Entries) - 1; i >= 0; i-- {
		e := l.Entries[i]
		k := row{e.Initiative, e.Proof, e.Date, e.Signature}
		if facts := log.Mistakes(e.Initiative, e.Proof, e.Date, e.Signature); len(facts) > 0 {
			out[i] = facts[min(seen[k], len(facts)-1)]
		}
		seen[k]++
	}
	return out
}

// occurrence names the run or commit in which an entry happened. Where neither is
// known, a day of a track counts once.
func occurrence(e Entry, known evidence.Mistake) string {
	switch {
	case known.Run != "":
		return "run " + known.Run
	case known.Commit != "":
		return inCommit + known.Commit
	case commitForm.MatchString(e.Proof):
		return inCommit + e.Proof
	}
	return "day " + e.Initiative + " " + e.Date
}

const inCommit = "commit "

// joinCommits gives the occurrences in one commit one name: people write its id as
// short as they like.
func joinCommits(entries []dated) {
	for i := range entries {
		for _, other := range entries {
			if a := entries[i].where; strings.HasPrefix(a, inCommit) && strings.HasPrefix(other.where, inCommit) && strings.HasPrefix(a, other.where) {
				entries[i].where = other.where
			}
		}
	}
}
