// Package likeness says how much two short texts say with the same words. It finds
// what may be covered already; whether it is, a reader judges. No model, and the same
// texts give the same number.
package likeness

import (
	"strings"
	"unicode"
)

// Words are the distinct words of a text that carry its meaning: lower-case, endings
// cut, without the commonest ones.
func Words(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if !common[w] {
			out[stem(w)] = true
		}
	}
	return out
}

// common words say nothing about what a text is about.
var common = func() map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields("a an and are as at be been before by can do does each every for from has have if in into is it its may must never no not of on only or " +
		"out over should so such than that the their then there these they this to was were when where which while will with you your always") {
		set[w] = true
	}
	return set
}()

// stem cuts the commonest endings of English words, so that "edits" and "editing"
// meet "edit".
func stem(w string) string {
	for _, end := range []string{"ing", "ed", "es", "s"} {
		if cut, ok := strings.CutSuffix(w, end); ok && len(cut) >= 3 {
			return cut
		}
	}
	return w
}

// Of is the share of the words of both texts together that both have: 0 to 1.
func Of(a, b map[string]bool) float64 {
	both := shared(a, b)
	if all := len(a) + len(b) - both; all > 0 {
		return float64(both) / float64(all)
	}
	return 0
}

// Within is the share of the words of part that whole has: a sentence inside a page.
func Within(part, whole map[string]bool) float64 {
	if len(part) == 0 {
		return 0
	}
	return float64(shared(part, whole)) / float64(len(part))
}

func shared(a, b map[string]bool) int {
	n := 0
	for w := range a {
		if b[w] {
			n++
		}
	}
	return n
}
