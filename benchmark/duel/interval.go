package duel

import (
	"math"
	"slices"
)

// bounds inverts the test: a gain is possible when the test, with the
// candidate's values moved by it, would not have rejected so far. Each side
// holds with confidence 1-alpha whenever the duel stops, since the test could
// have rejected at any of the looks. Infinite before the first look.
func (n *noisy) bounds() (low, high float64) {
	whole := n.blocks
	if end := len(whole) - 1; end >= 0 && len(whole[end].value) < n.size(end) {
		whole = whole[:end]
	}
	mirror := make([]block, len(whole))
	for i, b := range whole {
		mirror[i] = b.mirrored()
	}
	return n.lowest(whole), -n.lowest(mirror)
}

// lowest is the smallest shift that is not rejected. Rounding and clipping
// leave islands of possible shifts among rejected ones, so it looks from below
// at all places where the ranks change, and then beneath the shift that it
// found, coarsely and at last finely. Islands between those places are missed:
// in simulations less than 0.004 of the noise in total, which costs far less
// coverage than the discrete test leaves unused of alpha.
func (n *noisy) lowest(blocks []block) float64 {
	if runsOf(blocks) < n.rule.look {
		return math.Inf(-1)
	}
	places := n.places(blocks)
	found := n.firstPossible(blocks, places)
	var beneath []float64
	for i := 16; i > 2; i-- {
		beneath = append(beneath, found-float64(i)/4*n.sigma)
	}
	for i := 32; i >= 0; i-- {
		beneath = append(beneath, found-float64(i)/64*n.sigma)
	}
	return n.firstPossible(blocks, append(beneath, places[len(places)-1]))
}

// firstPossible looks at places in rising order, the last of which is not
// rejected, and narrows the gap before the first that is not.
func (n *noisy) firstPossible(blocks []block, places []float64) float64 {
	first := slices.IndexFunc(places, func(shift float64) bool { return !n.rejects(blocks, shift) })
	if first <= 0 {
		return places[0]
	}
	return n.narrow(blocks, places[first-1], places[first])
}

// places are shifts in rising order, from one that separates the arms wholly
// to one that puts every run of the candidate below the champion's.
func (n *noisy) places(blocks []block) []float64 {
	d := differences(blocks)
	slices.Sort(d)
	width := 0.0
	for _, b := range blocks {
		width = max(width, slices.Max(b.value)-slices.Min(b.value))
	}
	// Far enough that each block's mean lies between the arms, and farther
	// than the clipping from both.
	places := []float64{d[0] - 4*width - 4*clip*n.sigma}
	for i, shift := range d {
		if i > 0 {
			places = append(places, d[i-1]/2+shift/2)
		}
		places = append(places, shift)
	}
	return append(places, d[len(d)-1]+n.sigma)
}

// rejects reports whether the test would have ended by now if the candidate's
// gain were shift.
func (n *noisy) rejects(blocks []block, shift float64) bool {
	t := newTest(n.rule, n.sigma)
	for _, b := range blocks {
		if t.add(b.shifted(shift)); t.crossed {
			return true
		}
	}
	return false
}

// narrow halves the gap between a shift that is rejected and one that is not
// to a thousandth of the noise, and returns the end that is rejected: rounded
// away from the estimate, never into it.
func (n *noisy) narrow(blocks []block, rejected, possible float64) float64 {
	for range 60 {
		if possible-rejected <= n.sigma/1000 {
			break
		}
		middle := rejected/2 + possible/2
		if n.rejects(blocks, middle) {
			rejected = middle
		} else {
			possible = middle
		}
	}
	return rejected
}

func runsOf(blocks []block) int {
	sum := 0
	for _, b := range blocks {
		sum += len(b.value)
	}
	return sum
}
