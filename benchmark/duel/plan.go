package duel

import (
	"math"
	"math/rand/v2"
)

// Plan is what a user is told about the cost and the reach of the settings.
type Plan struct {
	// MaxRuns is the most that one duel takes, both arms.
	MaxRuns int
	// Smallest is the smallest gain that a duel keeps 4 times in 5 under
	// normal noise, a fraction of the score; with Linear a multiple of the
	// noise. The screen must have picked the candidate first.
	Smallest float64
	// NullRuns is the mean number of runs of a round in which no candidate is
	// any better, the screen included.
	NullRuns float64
}

// Plan for rounds with this many candidates. In the noisy modes it plays duels
// against random numbers, since what ends a duel early has no formula; that
// takes tens of milliseconds, and equal settings give equal plans.
func (c Config) Plan(candidates int) (Plan, error) {
	if err := c.Validate(); err != nil {
		return Plan{}, err
	}
	c = c.WithDefaults()
	if c.Mode.repeats() {
		return Plan{MaxRuns: 2, Smallest: c.scale().effect(c.margin()), NullRuns: float64(candidates)}, nil
	}
	n := newNoisy(c)
	return Plan{
		MaxRuns:  n.rule.runs,
		Smallest: n.scale.effect(c.smallest(n.least, n.sigma)),
		NullRuns: c.nullRuns(candidates),
	}, nil
}

// smallest searches the gain, a difference, that is kept 4 times in 5.
func (c Config) smallest(least, sigma float64) float64 {
	const duels, share = 200, 0.8
	low, high := 0.0, least+10*sigma
	for range 9 {
		gain := low/2 + high/2
		kept := 0
		rng := rand.New(rand.NewPCG(c.Seed, planStream)) // the same noise for each gain
		for range duels {
			if _, decision := c.playDuel(gain, rng); decision == Accepted {
				kept++
			}
		}
		if float64(kept) >= share*duels {
			high = gain
		} else {
			low = gain
		}
	}
	return high
}

// nullRuns plays rounds in which nothing is better than the champion.
func (c Config) nullRuns(candidates int) float64 {
	const rounds = 400
	rng := rand.New(rand.NewPCG(c.Seed, planStream))
	total := 0
	for range rounds {
		total += candidates + 1
		champion, best := rng.NormFloat64(), math.Inf(-1)
		for range candidates {
			best = max(best, rng.NormFloat64())
		}
		if best >= champion {
			runs, _ := c.playDuel(0, rng)
			total += runs
		}
	}
	return float64(total) / rounds
}

// playDuel plays one duel of normal noise for a candidate with this gain.
func (c Config) playDuel(gain float64, rng *rand.Rand) (runs int, decision Decision) {
	c.Seed = rng.Uint64()
	n := newNoisy(c)
	noise := rand.New(rand.NewPCG(c.Seed, planStream))
	for i, arm := range n.arms {
		value := n.sigma * noise.NormFloat64()
		if arm == Candidate {
			value += gain
		}
		if end, over := n.take(run{arm: arm, value: value}); over {
			return i + 1, end.decision
		}
	}
	return len(n.arms), Refused
}
