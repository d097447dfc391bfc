package sim

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"si/benchmark/duel"
)

// Late is what the candidates of a late campaign are worth, when the easy gains
// have been made: one of Rare has the gain, the others do nothing.
type Late struct {
	Rounds int     // of a campaign, with three candidates each
	Rare   int     // one candidate of so many is better
	Gain   float64 // by as much
}

// LateCampaign is 20 rounds in which one candidate of 45 is worth 4 %: on the
// average there are 1.3 to be found.
func LateCampaign() Late { return Late{Rounds: 20, Rare: 45, Gain: 0.04} }

// Tally is what campaigns kept.
type Tally struct {
	Campaigns       int
	Good, Worthless int     // changes that were kept
	Final           float64 // mean true gain at the end
	Claimed         float64 // mean gain that the rule itself believes in; only of the older rule, whose bar is a single run
}

// Share is the share of the kept changes that are worth nothing.
func (t Tally) Share() float64 {
	if t.Good+t.Worthless == 0 {
		return 0
	}
	return float64(t.Worthless) / float64(t.Good+t.Worthless)
}

// Campaigns plays n campaigns by the duel with the settings of cfg, and as many by
// the older rule on the same kind of noise.
func Campaigns(m Model, cfg duel.Config, late Late, n int, seed uint64) (ours, older Tally, err error) {
	rng := rand.New(rand.NewPCG(seed, uint64(late.Rare)))
	ours.Campaigns, older.Campaigns = n, n
	for i := range n {
		gains := late.draw(rng)
		if err := ours.play(m.New(rng), cfg, gains, rng); err != nil {
			return ours, older, fmt.Errorf("simulate campaign %d of %s: %w", i+1, m.Name, err)
		}
		older.playOlder(m.New(rng), gains)
	}
	ours.Final /= float64(n)
	older.Final /= float64(n)
	older.Claimed /= float64(n)
	return ours, older, nil
}

// draw gives the worth of every candidate, by round.
func (l Late) draw(rng *rand.Rand) [][]float64 {
	rounds := make([][]float64, l.Rounds)
	for i := range rounds {
		rounds[i] = make([]float64, candidates)
		for j := range rounds[i] {
			if rng.IntN(l.Rare) == 0 {
				rounds[i][j] = l.Gain
			}
		}
	}
	return rounds
}

func (t *Tally) play(bench Bench, cfg duel.Config, gains [][]float64, rng *rand.Rand) error {
	first := round{bench: bench, cfg: cfg}
	if err := first.setUp(); err != nil {
		return err
	}
	champion := 0.0
	for _, worth := range gains {
		r := round{bench: above{bench, champion}, cfg: first.cfg, gains: worth}
		r.cfg.Seed = rng.Uint64()
		r.screen()
		ranked, err := duel.Rank(r.cfg, r.champion, r.scores)
		if err != nil {
			return err
		}
		if err := r.fights(ranked); err != nil {
			return err
		}
		for _, i := range r.kept {
			champion = t.keep(champion, worth[i])
		}
	}
	t.Final += champion
	return nil
}

func (t *Tally) keep(champion, worth float64) float64 {
	if worth > 0 {
		t.Good++
	} else {
		t.Worthless++
	}
	return (1+champion)*(1+worth) - 1
}

// playOlder keeps the first, best first, whose run and whose run after the merge
// are not below the best score so far, which then is that run's.
func (t *Tally) playOlder(bench Bench, gains [][]float64) {
	start := bench.Run(0)
	best, champion := start, 0.0
	for _, worth := range gains {
		order := make([]int, len(worth))
		scores := make([]float64, len(worth))
		for i := range worth {
			order[i], scores[i] = i, bench.Run((1+champion)*(1+worth[i])-1)
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
		for _, i := range order {
			if scores[i] < best {
				break
			}
			if again := bench.Run((1+champion)*(1+worth[i]) - 1); again >= best {
				best, champion = again, t.keep(champion, worth[i])
				break
			}
		}
	}
	t.Final += champion
	t.Claimed += best/start - 1
}

// above is a benchmark on a champion that is better by so much.
type above struct {
	Bench
	champion float64
}

// Run takes a run of a candidate that is better than the champion by gain.
func (a above) Run(gain float64) float64 { return a.Bench.Run((1+a.champion)*(1+gain) - 1) }
