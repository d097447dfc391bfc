package glob

import (
	"cmp"
	"slices"
	"unicode/utf8"
)

// tokensMeet reports whether one name matches both segments, neither of which is
// deep.
func tokensMeet(s, t *segment) bool {
	if s.plain && t.plain {
		return s.text == t.text
	}
	a, b := s.tokens, t.tokens
	ok, next := make([]bool, len(b)+1), make([]bool, len(b)+1)
	ok[0] = true
	for j := range b {
		ok[j+1] = ok[j] && b[j].star
	}
	for i := range a {
		next[0] = ok[0] && a[i].star
		for j := range b {
			if a[i].star || b[j].star {
				next[j+1] = next[j] || ok[j+1]
			} else {
				next[j+1] = ok[j] && overlap(a[i].ranges, b[j].ranges)
			}
		}
		ok, next = next, ok
	}
	return ok[len(b)]
}

func overlap(a, b []span) bool {
	for _, x := range a {
		for _, y := range b {
			if x.low <= y.high && y.low <= x.high {
				return true
			}
		}
	}
	return false
}

// complement is every character that is in none of the ranges.
func complement(ranges []span) []span {
	ranges = slices.Clone(ranges)
	slices.SortFunc(ranges, func(a, b span) int { return cmp.Compare(a.low, b.low) })
	var out []span
	from := rune(0)
	for _, s := range ranges {
		if s.low > from {
			out = append(out, span{from, s.low - 1})
		}
		from = max(from, s.high+1)
	}
	if from <= utf8.MaxRune {
		out = append(out, span{from, utf8.MaxRune})
	}
	return out
}
