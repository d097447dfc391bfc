package sim

import (
	"math"
	"math/rand/v2"
)

// Bench is a simulated benchmark on one machine. Run takes the next run of a
// tree whose true score is 1+gain times the baseline's; runs follow one
// another in time, so noise may depend on those before.
type Bench interface {
	Run(gain float64) float64
}

// Model makes benchmarks with one kind of noise.
type Model struct {
	Name string
	New  func(*rand.Rand) Bench
}

// Models are the kinds of noise that the rule is judged by.
func Models() []Model {
	return []Model{
		{"gaussian 1 %", func(r *rand.Rand) Bench { return &times{noise: func() float64 { return 0.01 * r.NormFloat64() }} }},
		{"gaussian 3 %", func(r *rand.Rand) Bench { return &times{noise: func() float64 { return 0.03 * r.NormFloat64() }} }},
		{"heavy tails", func(r *rand.Rand) Bench { return &times{noise: func() float64 { return 0.01 * student(r, 2) }} }},
		{"drift", newDrift},
		{"accuracy of 200", func(r *rand.Rand) Bench { return &accuracy{rng: r, items: 200, rate: 0.8} }},
		{"bursts", newBursts},
	}
}

// times is a benchmark whose noise multiplies the score.
type times struct{ noise func() float64 }

func (t *times) Run(gain float64) float64 { return 100 * (1 + gain) * math.Exp(t.noise()) }

// student draws from Student's t, whose tails are heavier the fewer the
// degrees of freedom: with 2 its variance is infinite.
func student(r *rand.Rand, degrees int) float64 {
	squares := 0.0
	for range degrees {
		z := r.NormFloat64()
		squares += z * z
	}
	return r.NormFloat64() / math.Sqrt(squares/float64(degrees))
}

// newDrift is a machine that warms up or cools down: 0.3 % a run in one
// direction, which turns now and then, under noise of 1 %.
func newDrift(r *rand.Rand) Bench {
	level, slope := 0.0, 0.003
	if r.IntN(2) == 0 {
		slope = -slope
	}
	return &times{noise: func() float64 {
		if r.IntN(20) == 0 {
			slope = -slope
		}
		level += slope
		return level + 0.01*r.NormFloat64()
	}}
}

// newBursts is a machine with neighbours: noise of 1 % that remembers the run
// before, and busy times of about four runs that cost 5 %.
func newBursts(r *rand.Rand) Bench {
	const memory = 0.6
	state, busy := r.NormFloat64(), false
	return &times{noise: func() float64 {
		state = memory*state + math.Sqrt(1-memory*memory)*r.NormFloat64()
		if busy {
			busy = r.IntN(4) != 0
		} else {
			busy = r.IntN(20) == 0
		}
		noise := 0.01 * state
		if busy {
			noise -= 0.05
		}
		return noise
	}}
}

// accuracy is the share of items solved, each on its own.
type accuracy struct {
	rng   *rand.Rand
	items int
	rate  float64
}

func (a *accuracy) Run(gain float64) float64 {
	solved := 0
	for range a.items {
		if a.rng.Float64() < a.rate*(1+gain) {
			solved++
		}
	}
	return float64(solved) / float64(a.items)
}
