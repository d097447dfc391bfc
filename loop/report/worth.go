package report

import (
	"slices"

	"si/track"
)

// worths are all of them, in the order in which a reader wants them counted.
func worths() []Worth {
	return []Worth{WorthReal, WorthNeeded, WorthRides, WorthHarmful, WorthBuiltOn, WorthReplaced, WorthUndecided, WorthUntried}
}

// known makes what this version does not know a gain that nobody looked at.
func known(w Worth) Worth {
	if !slices.Contains(worths(), w) {
		return WorthUntried
	}
	return w
}

// word is the verdict in a table.
func (w Worth) word() string {
	switch known(w) {
	case WorthReal:
		return "real"
	case WorthRides:
		return "rides along"
	case WorthHarmful:
		return "harmful"
	case WorthNeeded:
		return "needed"
	case WorthBuiltOn:
		return "built upon"
	case WorthReplaced:
		return "replaced"
	case WorthUndecided:
		return "undecided"
	case WorthUntried:
	}
	return "not measured"
}

// many is the verdict after a number of gains.
func (w Worth) many(n int) string {
	are := "are"
	if n == 1 {
		are = "is"
	}
	switch known(w) {
	case WorthReal, WorthHarmful, WorthNeeded:
		return are + " " + w.word()
	case WorthRides:
		if n == 1 {
			return "rides along"
		}
		return "ride along"
	case WorthBuiltOn:
		return "cannot be left out alone"
	case WorthReplaced, WorthUndecided:
		return are + " " + w.word()
	case WorthUntried:
	}
	if n == 1 {
		return "was not measured"
	}
	return "were not measured"
}

// meaning explains the verdict in one line.
func (w Worth) meaning() string {
	switch known(w) {
	case WorthReal:
		return "without it the result is worse"
	case WorthRides:
		return "without it the result is as good"
	case WorthHarmful:
		return "without it the result is better"
	case WorthNeeded:
		return "without it the benchmark does not run"
	case WorthBuiltOn:
		return "a later gain builds on it: it cannot be left out alone"
	case WorthReplaced:
		return "a later gain has replaced it: leaving it out changes nothing"
	case WorthUndecided:
		return "the runs do not tell"
	case WorthUntried:
	}
	return "it was not left out and measured again"
}

// meanings explains each verdict that the gains have, once.
func meanings(gains []Gain) (list []fact) {
	for _, w := range worths() {
		if slices.ContainsFunc(gains, func(g Gain) bool { return known(g.LeftOut.Worth) == w }) {
			list = append(list, fact{Name: w.word(), Text: w.meaning()})
		}
	}
	return list
}

// tone is how the verdict is coloured.
func (w Worth) tone() string {
	switch known(w) {
	case WorthReal, WorthNeeded:
		return "good"
	case WorthHarmful:
		return "bad"
	case WorthRides, WorthBuiltOn, WorthReplaced, WorthUndecided, WorthUntried:
	}
	return "open"
}

// cost says what leaving a gain out costs.
func cost(l LeftOut) string {
	switch known(l.Worth) {
	case WorthNeeded:
		return "everything: no score without it"
	case WorthReplaced:
		return "nothing: the tree stays the same"
	case WorthBuiltOn:
		return "cannot be left out alone"
	case WorthRides:
		return nothingOr(l.Effect)
	case WorthReal, WorthHarmful, WorthUndecided, WorthUntried:
	}
	return effect(l.Effect)
}

func nothingOr(e *track.Effect) string {
	if e == nil {
		return "nothing that can be measured"
	}
	return effect(e)
}
