package knowledge

import (
	"cmp"
	"slices"

	"si/learn/glob"
)

// prior is how many deliveries the author's confidence counts for against what
// deliveries have shown.
const prior = 4

// usefulness is the share of deliveries in which the entry is expected to help:
// its confidence and its record together. A report that it is wrong counts against
// it beyond the delivery in which it was made.
func usefulness(e Entry) float64 {
	return (prior*e.Confidence + float64(e.Helpful)) / (prior + float64(max(e.Used, e.Helpful)) + float64(2*e.OutdatedReports))
}

// rank sorts the best first; equals keep the store's order.
func rank(entries []Entry) {
	slices.SortStableFunc(entries, func(a, b Entry) int { return cmp.Compare(usefulness(b), usefulness(a)) })
}

// matching selects the entries that some path touches. No path selects those about
// the whole repository alone; with paths these are selected too.
func matching(entries []Entry, paths []string) []Entry {
	asked := make([][]glob.Pattern, 0, len(paths))
	for _, p := range paths {
		asked = append(asked, asPatterns(p))
	}
	known := map[string]bool{} // many entries have the same globs
	touches := func(text string, p glob.Pattern) bool {
		met, done := known[text]
		if !done {
			met = meetsAny(p, asked)
			known[text] = met
		}
		return met
	}
	var out []Entry
	for _, e := range entries {
		found := e.Global()
		for i := 0; i < len(e.globs) && !found; i++ {
			found = touches(e.AppliesTo[i], e.globs[i])
		}
		if found {
			out = append(out, e)
		}
	}
	return out
}

func meetsAny(p glob.Pattern, asked [][]glob.Pattern) bool {
	for _, forms := range asked {
		for _, f := range forms {
			if glob.Intersects(p, f) {
				return true
			}
		}
	}
	return false
}

// asPatterns are the meanings of an input: the path that is written there, whose
// name may hold brackets, and the glob that it may be.
func asPatterns(text string) []glob.Pattern {
	forms := []glob.Pattern{glob.Literal(text)}
	if p, err := glob.Parse(text); err == nil && special(text) {
		forms = append(forms, p)
	}
	return forms
}

func special(text string) bool {
	for _, c := range text {
		switch c {
		case '*', '?', '[', '{', '\\':
			return true
		}
	}
	return len(text) > 0 && text[len(text)-1] == '/'
}
