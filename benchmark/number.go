package benchmark

import (
	"errors"
	"math"
	"slices"
	"strconv"

	"si/internal/lazyre"
)

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

var (
	errNotNumber = errors.New("is not a number")
	errNotFinite = errors.New("is not a finite number")
)

// decimal is what counts as a number. strconv alone would also take
// hexadecimal floats, "inf" and "nan".
var decimal = lazyre.New(`^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$`)

// notFinite are the words by which the usual languages print what is no
// number; they are told apart from other text so that they are never skipped.
var notFinite = lazyre.New(`(?i)^[+-]?(nan|inf|infinity|1\.#(inf|ind|qnan))$`)

// parseNumber reads a finite decimal number.
func parseNumber(text string) (float64, error) {
	if notFinite.MatchString(text) {
		return 0, errNotFinite
	}
	if !decimal.MatchString(text) {
		return 0, errNotNumber
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !finite(v) {
		return 0, errNotFinite // out of range: the text is well formed
	}
	return v, nil
}

// median of values, which must not be empty; they stay as they are.
func median(values []float64) float64 {
	v := slices.Clone(values)
	slices.Sort(v)
	n := len(v)
	if n%2 == 1 {
		return v[n/2]
	}
	// Halves first: the sum of two large values could overflow.
	return v[n/2-1]/2 + v[n/2]/2
}

// geomean of values, which must not be empty; false when one is not positive.
func geomean(values []float64) (float64, bool) {
	sum := 0.0
	for _, v := range values {
		if v <= 0 {
			return 0, false
		}
		sum += math.Log(v)
	}
	return math.Exp(sum / float64(len(values))), true
}

func sortedSet(texts []string) []string {
	if len(texts) == 0 {
		return nil
	}
	s := slices.Clone(texts)
	slices.Sort(s)
	return slices.Compact(s)
}
