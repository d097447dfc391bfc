// Package sim plays tournament rounds on simulated benchmarks and counts what
// the duel keeps, next to what the older rule keeps on the same scores. It is
// the judge of any change to the duel.
package sim

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"si/benchmark/duel"
)

const (
	candidates = 3
	setupRuns  = 6
	setupLimit = 100
)

// Count is what happened in a number of rounds of one kind. In a round with a
// gain the candidate that has it is the first of three, the others do
// nothing.
type Count struct {
	Rounds   int
	Gain     float64 // of the first candidate; 0: a null round
	Kept     int     // rounds that kept the gain, or, in a null round, anything
	Wrong    int     // rounds with a gain that kept one of the others
	SeedKept int     // the same as Kept by the older rule on the same scores
	Runs     int     // of all rounds, without those that only the older rule took
}

// Rate is the share of rounds that kept, and its standard error.
func (c Count) Rate() (rate, stderr float64) { return share(c.Kept, c.Rounds) }

// SeedRate is the same for the older rule.
func (c Count) SeedRate() (rate, stderr float64) { return share(c.SeedKept, c.Rounds) }

// MeanRuns is the mean number of runs of a round.
func (c Count) MeanRuns() float64 { return float64(c.Runs) / float64(c.Rounds) }

func share(n, of int) (rate, stderr float64) {
	rate = float64(n) / float64(of)
	return rate, math.Sqrt(rate * (1 - rate) / float64(of))
}

// Play simulates rounds with the settings of cfg; its Sigma and Seed are set
// anew in each round, the noise estimated from six runs as at set-up.
func Play(m Model, cfg duel.Config, gain float64, rounds int, seed uint64) (Count, error) {
	c := Count{Rounds: rounds, Gain: gain}
	rng := rand.New(rand.NewPCG(seed, math.Float64bits(gain)))
	for i := range rounds {
		r := round{bench: m.New(rng), cfg: cfg, gains: make([]float64, candidates)}
		r.gains[0] = gain
		if err := r.play(rng.Uint64()); err != nil {
			return c, fmt.Errorf("simulate round %d of %s: %w", i+1, m.Name, err)
		}
		c.add(r)
	}
	return c, nil
}

func (c *Count) add(r round) {
	c.Runs += r.runs
	right := func(kept []int) bool { return len(kept) > 0 && (c.Gain == 0 || slices.Contains(kept, 0)) }
	if right(r.kept) {
		c.Kept++
	}
	if c.Gain != 0 && slices.ContainsFunc(r.kept, func(i int) bool { return i != 0 }) {
		c.Wrong++
	}
	if right(r.seedKept) {
		c.SeedKept++
	}
}

// round is one tournament.
type round struct {
	bench    Bench
	cfg      duel.Config
	gains    []float64 // by candidate
	champion float64   // its score in the screen
	scores   []float64 // of the candidates in the screen
	runs     int
	kept     []int // candidates
	seedKept []int
}

func (r *round) play(seed uint64) error {
	if err := r.setUp(); err != nil {
		return err
	}
	r.cfg.Seed = seed
	r.screen()
	ranked, err := duel.Rank(r.cfg, r.champion, r.scores)
	if err != nil {
		return err
	}
	if err := r.fights(ranked); err != nil {
		return err
	}
	r.seedRule()
	return nil
}

// setUp estimates the noise as a track does before its first round, from six
// runs, or from more when these happen to be equal. They are not counted: a
// campaign takes them once.
func (r *round) setUp() error {
	var scores []float64
	for len(scores) < setupLimit {
		scores = append(scores, r.bench.Run(0))
		if len(scores) < setupRuns {
			continue
		}
		if noise := duel.Classify(scores, true, r.cfg.WithDefaults().MinEffect); noise.Sigma > 0 {
			r.cfg.Sigma, r.cfg.HigherIsBetter = noise.Sigma, true
			return nil
		}
	}
	return fmt.Errorf("%d runs of the baseline are equal: only noisy benchmarks can be simulated", setupLimit)
}

func (r *round) screen() {
	r.scores = make([]float64, len(r.gains))
	for _, subject := range duel.ScreenOrder(r.cfg.Mode, len(r.gains), r.cfg.Seed) {
		if subject == duel.ScreenChampion {
			r.champion = r.bench.Run(0)
		} else {
			r.scores[subject] = r.bench.Run(r.gains[subject])
		}
		r.runs++
	}
}

// fights duels the leader and, merged onto each winner, the one after it,
// until one is refused. Of expensive benchmarks only the leader duels.
func (r *round) fights(ranked []int) error {
	champion := 0.0
	for _, candidate := range ranked {
		gain := (1+champion)*(1+r.gains[candidate]) - 1
		decision, err := r.fight(champion, gain)
		if err != nil {
			return err
		}
		if decision != duel.Accepted {
			break
		}
		r.kept, champion = append(r.kept, candidate), gain
		if r.cfg.Mode == duel.Expensive {
			break
		}
		r.cfg.Seed++
	}
	return nil
}

func (r *round) fight(champion, candidate float64) (duel.Decision, error) {
	d, err := duel.New(r.cfg)
	if err != nil {
		return duel.Undecided, err
	}
	for arm, more := d.Next(); more; arm, more = d.Next() {
		gain := champion
		if arm == duel.Candidate {
			gain = candidate
		}
		if err := d.Add(r.bench.Run(gain)); err != nil {
			return duel.Undecided, err
		}
		r.runs++
	}
	return d.Decision(), nil
}

// seedRule is the older rule in a first round: the scores of the screen, best
// first; the first that is not below the baseline's, then and in one more
// run after its merge, is kept.
func (r *round) seedRule() {
	order := make([]int, len(r.scores))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(r.scores[b], r.scores[a]) })
	for _, i := range order {
		if r.scores[i] >= r.champion && r.bench.Run(r.gains[i]) >= r.champion {
			r.seedKept = []int{i}
			return
		}
	}
}
