package mistakes

import "strings"

// alike lists existing signatures that may mean the same as a new one: nearly the
// same letters, or mostly the same words.
func (l *Ledger) alike(signature string) []string {
	var out []string
	seen := map[string]bool{signature: true}
	for _, e := range l.Entries {
		if !seen[e.Signature] && near(signature, e.Signature) {
			out = append(out, e.Signature)
		}
		seen[e.Signature] = true
	}
	return out
}

func near(a, b string) bool {
	if distance(a, b) <= max(len(a), len(b))/6 {
		return true
	}
	first, second := strings.Split(a, "-"), strings.Split(b, "-")
	shared := 0
	for _, x := range first {
		for _, y := range second {
			if x == y || len(x) > 4 && len(y) > 4 && distance(x, y) <= 2 {
				shared++
				break
			}
		}
	}
	return 2*shared >= max(len(first), len(second)) && shared >= min(2, len(first), len(second))
}

// distance is that of Levenshtein: letters to insert, delete or replace.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		last := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := last
			if a[i] != b[j] {
				cost = 1 + min(last, row[j], row[j+1])
			}
			last, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
