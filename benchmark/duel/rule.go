package duel

import "math"

// rule is the plan of one sequential test, frozen when the duel starts: how
// many runs, in which blocks, and how much of alpha is spent after each.
type rule struct {
	alpha float64
	first int // runs of each arm in the first block
	look  int // runs, both arms, at the first look that can reject
	runs  int // the cap, both arms: a whole number of blocks
}

const (
	laterBlock = 2    // runs of each arm in every block but the first
	planPower  = 1.28 // normal quantile of 0.90: how sure the plan wants to be to find its target
	capPower   = 0.84 // normal quantile of 0.80: what all the runs together could still detect
)

// firstBlock is the number of runs of each arm in the first block.
func firstBlock(m Mode) int {
	if m == Expensive {
		return 2
	}
	return 4
}

// newRule plans the number of runs from the noise: k² is the textbook number
// of runs of each arm to find target, and twice that leaves room for a second
// look. More runs than that could not matter, so they are not allowed.
func newRule(c Config, sigma, target float64) rule {
	r := rule{alpha: c.Alpha, first: firstBlock(c.Mode)}
	r.look = firstLook(r.first, c.Alpha)
	k := (upperQuantile(c.Alpha) + planPower) * sigma * math.Sqrt2 / target
	planned := math.Min(4*k*k, float64(c.MaxRuns)) // min before the conversion: k may be huge
	r.runs = r.boundary(int(math.Ceil(planned)), c.MaxRuns)
	return r
}

// boundary is the first end of a block at or after planned runs that is not
// before the first look and not after limit.
func (r rule) boundary(planned, limit int) int {
	runs := r.look
	for runs < planned && runs+2*laterBlock <= limit {
		runs += 2 * laterBlock
	}
	return runs
}

// upperQuantile of the normal distribution: z(1-alpha).
func upperQuantile(alpha float64) float64 { return math.Sqrt2 * math.Erfinv(1-2*alpha) }

// detects is the difference that all the runs could detect, by the textbook.
// The power in it was chosen by simulation: with 0.90 a gain of twice the
// noise is given up 4 times in 100 more often and a null round saves half a
// run; with 0.50 it is the other way round, for a run and a half more.
func (r rule) detects(sigma float64) float64 {
	return (upperQuantile(r.alpha) + capPower) * sigma * math.Sqrt(4/float64(r.runs))
}

// spend is the part of alpha that may have been used after so many runs:
// nothing before a single arrangement is rare enough, half of alpha there (or
// one whole arrangement), then linear to all of it at the cap.
func (r rule) spend(runs int) float64 {
	if runs < r.look {
		return 0
	}
	if runs >= r.runs {
		return r.alpha
	}
	start := max(r.alpha/2, 1/arrangements(r.first, r.look))
	return start + (r.alpha-start)*float64(runs-r.look)/float64(r.runs-r.look)
}

// firstLook is the number of runs after which one arrangement has at most
// three quarters of alpha.
func firstLook(first int, alpha float64) int {
	runs := 2 * first
	for 1/arrangements(first, runs) > 0.75*alpha {
		runs += 2 * laterBlock
	}
	return runs
}

// arrangements is the number of orders in which so many runs, whole blocks,
// could have been taken.
func arrangements(first, runs int) float64 {
	n := choose(first)
	for range (runs - 2*first) / (2 * laterBlock) {
		n *= choose(laterBlock)
	}
	return n
}

// choose is the number of arrangements of a block: 2m over m.
func choose(m int) float64 {
	n := 1.0
	for i := 1; i <= m; i++ {
		n = n * float64(m+i) / float64(i)
	}
	return n
}
