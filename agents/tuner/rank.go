package tuner

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"unicode"

	"si/agents"
)

// ranking is everything that a round could try, best first. Each knob appears once.
type ranking struct {
	proposals []proposal
	knobs     int
	reopened  bool // all was settled, and older results were set aside
	refuted   []refutation
}

// rank asks each knob for its next value. When all are settled, the knobs are
// asked again without the trials from before the champion changed elsewhere.
func rank(f agents.Facts, knobs []Knob) ranking {
	rec := recordOf(f)
	out := ranking{knobs: len(knobs), refuted: rec.refuted}
	for _, k := range knobs {
		if p, ok := rec.next(f.Seed, k, false); ok {
			out.proposals = append(out.proposals, p)
		}
	}
	if len(out.proposals) == 0 {
		out.reopened = true
		for _, k := range knobs {
			if p, ok := rec.next(f.Seed, k, true); ok {
				out.proposals = append(out.proposals, p)
			}
		}
	}
	slices.SortStableFunc(out.proposals, func(a, b proposal) int { return cmp.Compare(b.expect, a.expect) })
	out.rotate(rec.blocked)
	return out
}

// rotate moves on when plans are rejected before anything is tried: nothing else
// would change, and the same plan would come for ever.
func (r *ranking) rotate(n int) {
	if len(r.proposals) > 0 {
		n %= len(r.proposals)
		r.proposals = append(slices.Clone(r.proposals[n:]), r.proposals[:n]...)
	}
}

// next is the best proposal for one knob. A value that was better but not judged
// is taken up once the champion has changed; with reopen, what was found against
// older champions does not count.
func (r record) next(seed uint64, k Knob, reopen bool) (proposal, bool) {
	all := slices.Concat(r.wallsOf(k), r.trials[k.Name])
	if p, ok := r.again(k, all); ok && !r.barred(k, p.num) {
		return p, true
	}
	trials := all
	if reopen {
		trials = nil
		for _, t := range all {
			if r.moved(k.Name, t) == 0 {
				trials = append(trials, t)
			}
		}
	}
	found := propose(k, trials, all, draw(seed, "side", k.Name)%2 == 0)
	if len(found) == 0 {
		return proposal{}, false
	}
	p := found[0]
	// Equals are put in an order that the seed chooses, another after each trial.
	p.expect *= 1 + 0.2*float64(draw(seed, fmt.Sprint(r.count), k.Name)%1000)/1000
	return p, true
}

// again takes up a value that was better but stood behind another winner. A plan
// equal to an earlier one may be refused as a repetition, so a number goes a little
// further than that one did. A switch has no other value: it is proposed once more,
// unless that was refused already.
func (r record) again(k Knob, trials []trial) (proposal, bool) {
	if len(trials) == 0 {
		return proposal{}, false
	}
	t, v := trials[len(trials)-1], k.value
	if t.outcome != outrun || t.from != v.num || r.moved(k.Name, t) == 0 {
		return proposal{}, false
	}
	builds, avoids := references(trials)
	p := proposal{knob: k, num: t.to, expect: t.gain, builds: builds, avoids: avoids}
	if v.kind == toggle {
		p.why = "was better in " + t.plan + ", where another change won"
		return p, !r.refused(t.plan)
	}
	p.why = "close to the value of " + t.plan + ", which was better where another change won"
	from, to := v.scale(t.from), v.scale(t.to)
	for _, step := range []float64{0.1, 0.25, 0.5, 1} {
		p.num = v.unscale(to + math.Copysign(step, to-from))
		if !slices.ContainsFunc(trials, func(t trial) bool { return t.to == p.num || t.from == p.num }) {
			return p, true
		}
	}
	return proposal{}, false
}

// refused reports whether a later plan was rejected for repeating this one.
func (r record) refused(plan string) bool {
	return slices.ContainsFunc(r.reasons, func(why string) bool {
		return slices.Contains(strings.FieldsFunc(why, func(c rune) bool { return c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c) }), plan)
	})
}

// draw is a number that depends on nothing but its arguments.
func draw(seed uint64, parts ...string) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, seed)
	for _, p := range parts {
		fmt.Fprintf(h, "/%s", p)
	}
	x := h.Sum64() // its low bits are poor; mix them
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	return x ^ x>>33
}
