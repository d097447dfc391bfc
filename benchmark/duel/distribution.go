package duel

import "math/bits"

// distribution counts arrangements by the sum that they give the candidate:
// count[i] of them give low+i. Counts are whole numbers, exact in a float64
// up to 2^53, which is a duel of 80 runs; beyond that the error is relative.
type distribution struct {
	low   int
	count []float64
}

// arrangedSums is the distribution of the sum of half of scores over all ways
// to choose that half; the length of scores is even and at most 8.
func arrangedSums(scores []int) distribution {
	reach := 0
	for _, s := range scores {
		reach += max(s, -s)
	}
	d := distribution{low: -reach, count: make([]float64, 2*reach+1)}
	for mask := range uint(1) << len(scores) {
		if bits.OnesCount(mask) != len(scores)/2 {
			continue
		}
		sum := 0
		for rest := mask; rest != 0; rest &= rest - 1 {
			sum += scores[bits.TrailingZeros(rest)]
		}
		d.count[sum-d.low]++
	}
	return d.trimmed()
}

// trimmed drops empty counts at both ends, at least one count stays.
func (d distribution) trimmed() distribution {
	for len(d.count) > 1 && d.count[len(d.count)-1] == 0 {
		d.count = d.count[:len(d.count)-1]
	}
	for len(d.count) > 1 && d.count[0] == 0 {
		d.low, d.count = d.low+1, d.count[1:]
	}
	return d
}

// plus is the distribution of the sum of two independent arrangements.
func (d distribution) plus(e distribution) distribution {
	out := distribution{low: d.low + e.low, count: make([]float64, len(d.count)+len(e.count)-1)}
	for j, n := range e.count {
		if n == 0 {
			continue
		}
		row := out.count[j : j+len(d.count)]
		for i, m := range d.count {
			row[i] += n * m
		}
	}
	return out
}

// tail counts the arrangements with at least this sum.
func (d distribution) tail(sum int) float64 {
	n := 0.0
	for i := max(sum-d.low, 0); i < len(d.count); i++ {
		n += d.count[i]
	}
	return n
}

// cut removes the largest sums as long as their arrangements together are
// within budget, and returns how many arrangements went.
func (d distribution) cut(budget float64) (distribution, float64) {
	gone, end := 0.0, len(d.count)
	for end > 0 && gone+d.count[end-1] <= budget {
		end--
		gone += d.count[end]
	}
	d.count = d.count[:end]
	return d, gone
}

// above reports whether the sum lies beyond all that the distribution holds.
func (d distribution) above(sum int) bool { return sum >= d.low+len(d.count) }
