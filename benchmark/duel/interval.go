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

// lowest is the smallest shift that is not rejected. Clipping can make the
// rejected shifts more than one stretch, so it looks from below at all places
// where the ranks change before it narrows the first gap.
func (n *noisy) lowest(blocks []block) float64 {
	if runsOf(blocks) < n.rule.look {
		return math.Inf(-1)
	}
	places := n.places(blocks)
	first := slices.IndexFunc(places, func(shift float64) bool { return !n.rejects(blocks, shift) })
	switch first {
	case -1: // cannot be: above all differences nothing is rejected
		return math.Inf(-1)
	case 0:
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
	// Twice the width: then the block's mean lies between the arms, and
	// more than the clipping away from both.
	places := []float64{d[0] - 4*width - 4*clip*n.sigma}
	for _, part := range []float64{2, 1, 0.5, 0.25, 0.125} {
		places = append(places, d[0]-part*(width+n.sigma))
	}
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
