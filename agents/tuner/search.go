package tuner

import (
	"math"
	"slices"
)

// Steps of the search, on the axis of value.scale: 1 is a doubling.
const (
	firstStep = 1.0
	longest   = 3.0  // ×8
	shortest  = 0.2  // ×1.15: nearer values are the same value
	untested  = 0.05 // the gain that a knob is worth trying for before anything is known
	faint     = 0.002
)

// proposal is a value worth trying.
type proposal struct {
	knob   Knob
	num    float64
	expect float64 // gain, as a logarithm: only the order matters
	why    string
	builds []string
	avoids []string
}

// point is a tried value on the knob's axis.
type point struct {
	num, at float64
	gain    float64 // against the present value; meaningless on a wall
	wall    bool
}

// landscape is what is known around a knob's present value.
type landscape struct {
	knob   Knob
	here   float64 // the present value on the axis
	points []point // other values, lowest first
	last   float64 // the step by which the present value was reached, 0 when it was not
	tried  map[float64]bool
	banned map[float64]bool // tried from the present value once, however long ago
}

// propose returns the values to try next, best first. Trials are those that count,
// all of them those that there were; up is the side to begin with. Nothing comes
// back when the knob is settled.
func propose(k Knob, trials, all []trial, up bool) []proposal {
	l := survey(k, trials)
	for _, t := range all {
		if t.from == k.value.num {
			l.banned[t.to] = true
		}
	}
	var found []proposal
	if k.value.kind == toggle {
		found = l.flip()
	} else {
		found = l.step(up)
	}
	for i := range found {
		found[i].knob = k
		found[i].builds, found[i].avoids = references(trials)
	}
	return found
}

// references names the plans that the next one builds on, and those it avoids.
func references(trials []trial) (builds, avoids []string) {
	builds, avoids = []string{}, []string{}
	for _, t := range trials {
		switch {
		case t.plan == "": // learned, and of no plan of this track
		case t.outcome == kept || t.outcome == outrun:
			builds = append(builds, t.plan)
		default:
			avoids = append(avoids, t.plan)
		}
	}
	return last(builds), last(avoids)
}

// last keeps a list of references at a length that a reader can follow.
func last(list []string) []string { return list[max(0, len(list)-20):] }

// survey lays the trials out around the present value. Gains chain: a trial says
// how its value did against the one it started from.
func survey(k Knob, trials []trial) landscape {
	v := k.value
	l := landscape{knob: k, here: v.scale(v.num), tried: map[float64]bool{v.num: true}, banned: map[float64]bool{}}
	height := map[float64]float64{}
	walls := map[float64]bool{}
	for _, t := range trials {
		base := height[t.from] // 0 for the first
		height[t.from] = base
		l.tried[t.from], l.tried[t.to] = true, true
		if t.outcome == forbidden {
			walls[t.to] = true
			continue
		}
		delete(walls, t.to)
		height[t.to] = base + t.gain
		if t.outcome == kept && t.to == v.num {
			l.last = v.scale(t.to) - v.scale(t.from)
		}
	}
	for num := range l.tried {
		if num != v.num {
			l.points = append(l.points, point{num, v.scale(num), height[num] - height[v.num], walls[num]})
		}
	}
	slices.SortFunc(l.points, func(a, b point) int {
		if a.at < b.at {
			return -1
		}
		return 1
	})
	return l
}

func (l landscape) flip() []proposal {
	other := 1 - l.knob.value.num
	if l.tried[other] || l.banned[other] {
		return nil
	}
	return []proposal{{num: other, expect: untested, why: "the other position was never tried"}}
}

// step is the direct search: first a doubling or halving, then on in the direction
// that won with longer steps, then between the neighbours that lost.
func (l landscape) step(up bool) []proposal {
	low, high := l.neighbours()
	switch {
	case low == nil && high == nil:
		return l.first(up)
	case high == nil:
		if p, ok := l.onward(*low, 1); ok {
			return []proposal{p}
		}
	case low == nil:
		if p, ok := l.onward(*high, -1); ok {
			return []proposal{p}
		}
	}
	return l.between(low, high)
}

// neighbours are the nearest tried values on both sides.
func (l landscape) neighbours() (low, high *point) {
	for i, p := range l.points {
		if p.at < l.here {
			low = &l.points[i]
		} else if high == nil {
			high = &l.points[i]
		}
	}
	return low, high
}

// first goes to both sides, by a shorter step where the full one was taken before.
func (l landscape) first(up bool) []proposal {
	var out []proposal
	for step := firstStep; step > shortest && len(out) == 0; step /= 2 {
		for _, side := range []bool{up, !up} {
			to, why := l.here+step, "a larger value was not tried"
			if !side {
				to, why = l.here-step, "a smaller value was not tried"
			}
			if num, ok := l.fresh(to); ok {
				out = append(out, proposal{num: num, expect: untested * step, why: why})
			}
		}
	}
	return out
}

// onward goes away from the only known neighbour.
func (l landscape) onward(from point, side float64) (proposal, bool) {
	step, why := firstStep, "the other direction lost"
	if l.last*side > 0 {
		step, why = min(2*math.Abs(l.last), longest), "this direction won last time"
	}
	expect := untested / 2
	if !from.wall {
		slope := math.Abs(from.gain) / max(math.Abs(l.here-from.at), shortest)
		expect = max(slope*step/2, faint)
	}
	for ; step >= shortest; step /= 2 {
		if num, ok := l.fresh(l.here + side*step); ok && (l.knob.value.scale(num)-l.here)*side > 0 {
			return proposal{num: num, expect: expect, why: why}, true
		}
	}
	return proposal{}, false
}

// between looks inside the gaps next to the present value: where a parabola
// through the neighbours has its top, else in the middle of the wider gap.
func (l landscape) between(low, high *point) []proposal {
	var out []proposal
	if low != nil && high != nil && !low.wall && !high.wall {
		at, expect := vertex(l.here, *low, *high)
		if num, ok := l.inside(at, low, high); ok {
			out = append(out, proposal{num: num, expect: max(expect, faint), why: "between the values that lost, where their scores point"})
		}
	}
	for _, side := range []*point{low, high} {
		if side == nil {
			continue
		}
		gap := math.Abs(side.at - l.here)
		if num, ok := l.inside((side.at+l.here)/2, low, high); ok {
			out = append(out, proposal{num: num, expect: faint * min(gap, 1), why: "a shorter step towards the value that lost"})
		}
	}
	slices.SortStableFunc(out, func(a, b proposal) int { return -cmpFloat(a.expect, b.expect) })
	return out
}

// inside is fresh for a place between the neighbours, and far enough from all that
// was tried to be worth a run.
func (l landscape) inside(u float64, low, high *point) (float64, bool) {
	num, ok := l.fresh(u)
	if !ok {
		return 0, false
	}
	at := l.knob.value.scale(num)
	near := math.Abs(at - l.here)
	for _, p := range []*point{low, high} {
		if p != nil {
			near = min(near, math.Abs(at-p.at))
		}
	}
	beyond := low != nil && at <= low.at || high != nil && at >= high.at
	return num, near >= shortest && !beyond
}

// fresh is the knob's value next to u, and whether it was never tried.
func (l landscape) fresh(u float64) (float64, bool) {
	num := l.knob.value.unscale(u)
	usable := !math.IsNaN(num) && !math.IsInf(num, 0) && num != 0 && math.Abs(num) <= maxWhole
	if l.knob.value.kind == fraction {
		usable = usable && num > 1e-6 && num < 1-1e-6
	}
	return num, usable && !l.tried[num] && !l.banned[num]
}

// vertex is the top of the parabola through the present value (height 0) and its
// neighbours, kept off the ends, and its height.
func vertex(here float64, low, high point) (at, height float64) {
	a, b := low.at-here, high.at-here
	curve := (low.gain/a - high.gain/b) / (a - b)
	slope := low.gain/a - curve*a
	if curve >= 0 {
		return here + b/2, 0
	}
	top := -slope / (2 * curve)
	top = min(max(top, 0.8*a), 0.8*b)
	return here + top, slope*top + curve*top*top
}

func cmpFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
