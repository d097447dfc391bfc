package duel

import (
	"math"
	"math/rand/v2"
)

// noisy judges benchmarks whose runs differ: blocks of runs in random order,
// a look at the randomisation test after each block, and an end without
// success as soon as a worthwhile gain has become implausible.
type noisy struct {
	scale  scale
	rule   rule
	sigma  float64 // of one run, on the scale
	least  float64 // min_effect on the scale
	arms   []Arm
	blocks []block
	test   *test
}

// Streams of random numbers that must differ though their seeds may not.
const (
	duelStream   = 0x6475656c
	screenStream = 0x73637265
	planStream   = 0x706c616e
)

func newNoisy(cfg Config) *noisy {
	s := cfg.scale()
	n := &noisy{scale: s, sigma: s.noise(cfg.Sigma), least: s.difference(cfg.MinEffect)}
	n.rule = newRule(cfg, n.sigma, s.difference(cfg.Target))
	n.arms = n.rule.draw(rand.New(rand.NewPCG(cfg.Seed, duelStream)))
	n.test = newTest(n.rule, n.sigma)
	return n
}

// draw returns the order of all runs that the rule allows: each block is one
// of its arrangements, all equally likely.
func (r rule) draw(rng *rand.Rand) []Arm {
	arms := make([]Arm, 0, r.runs)
	for len(arms) < r.runs {
		size := r.block(len(arms))
		b := make([]Arm, size)
		for i := range size / 2 {
			b[i] = Candidate
		}
		rng.Shuffle(size, func(i, j int) { b[i], b[j] = b[j], b[i] })
		arms = append(arms, b...)
	}
	return arms
}

// block is the size, both arms, of the block that starts after so many runs.
func (r rule) block(runs int) int {
	if runs == 0 {
		return 2 * r.first
	}
	return 2 * laterBlock
}

func (n *noisy) order() []Arm { return n.arms }

func (n *noisy) take(next run) (ruling, bool) {
	last := n.put(next)
	if len(last.value) == n.size(len(n.blocks)-1) {
		n.test.add(last)
		if n.test.crossed {
			return n.accept(), true
		}
	}
	if n.futile() {
		return refused("a gain of %s or more has become implausible", n.scale.text(n.want())), true
	}
	if n.runs() == n.rule.runs {
		return refused("no gain could be told from the noise in %d runs", n.rule.runs), true
	}
	return ruling{}, false
}

// put appends the run to its block and returns that block.
func (n *noisy) put(next run) block {
	end := len(n.blocks) - 1
	if end < 0 || len(n.blocks[end].value) == n.size(end) {
		n.blocks = append(n.blocks, block{})
		end++
	}
	b := &n.blocks[end]
	b.candidate = append(b.candidate, next.arm == Candidate)
	b.value = append(b.value, next.value)
	return *b
}

// size of the block with this index, both arms.
func (n *noisy) size(index int) int { return n.rule.block(index) }

func (n *noisy) runs() int {
	sum := 0
	for _, b := range n.blocks {
		sum += len(b.value)
	}
	return sum
}

// accept decides after the test has rejected "changes nothing".
func (n *noisy) accept() ruling {
	if gain := shiftEstimate(n.blocks); gain < n.least {
		return refused("real but too small: the gain of %s is below min_effect", n.scale.text(gain))
	}
	return ruling{decision: Accepted, reason: "better than the champion beyond the noise"}
}

// want is the gain that going on must still be plausible for: one worth
// keeping, and one that all the runs could find.
func (n *noisy) want() float64 { return max(n.least, n.rule.detects(n.sigma)) }

// Futility: how many standard errors of doubt the candidate has. More while
// there is hardly anything to judge by.
const (
	earlyDoubt  = 1.3
	doubt       = 1.0
	earlyWeight = 0.9 // just below that of two runs of each arm
)

// futile is not part of the test: going on in spite of it would not break the
// level, so it is free to assume what it likes about the noise.
func (n *noisy) futile() bool {
	want := n.want()
	mean, weight := weightedMean(n.blocks, max(3*n.sigma, 2*want))
	if weight == 0 {
		return false
	}
	z := doubt
	if weight < earlyWeight {
		z = earlyDoubt
	}
	return mean+z*n.sigma/math.Sqrt(weight) < want
}

func (n *noisy) report(v *Verdict) {
	v.P = n.test.p
	v.Sigma = n.sigma * n.scale.unit
	v.Effect = n.scale.effect(shiftEstimate(n.blocks))
	low, high := n.bounds()
	v.Low, v.High = n.scale.effect(low), n.scale.effect(high)
}
