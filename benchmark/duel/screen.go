package duel

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
)

// ScreenChampion stands for the champion in the order of a screen.
const ScreenChampion = -1

// ScreenOrder is the order in which the champion and the candidates, by index,
// are run once each before a duel: random, so that drift favours none. In the
// deterministic modes the champion's score is known and it is left out.
func ScreenOrder(mode Mode, candidates int, seed uint64) []int {
	var order []int
	if !mode.repeats() {
		order = append(order, ScreenChampion)
	}
	for i := range candidates {
		order = append(order, i)
	}
	rng := rand.New(rand.NewPCG(seed, screenStream))
	rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	return order
}

// Rank returns the candidates, by index, that are worth a duel, best first:
// those not below the champion's own run, in the deterministic modes those
// better than it by the margin. None ends the round. A candidate whose score
// is not finite gave none and is left out; of equal ones the first is first.
func Rank(cfg Config, champion float64, candidates []float64) ([]int, error) {
	if !finite(champion) {
		return nil, fmt.Errorf("duel: rank candidates: the champion's score %v is not a finite number: take its run again", champion)
	}
	cfg = cfg.WithDefaults()
	s, values := cfg.scale(), make([]float64, len(candidates))
	var ranked []int
	for i, score := range candidates {
		if !finite(score) {
			continue
		}
		values[i] = s.value(score)
		gain := values[i] - s.value(champion)
		if gain > cfg.margin() || (gain == 0 && !cfg.Mode.repeats()) {
			ranked = append(ranked, i)
		}
	}
	slices.SortStableFunc(ranked, func(a, b int) int { return cmp.Compare(values[b], values[a]) })
	return ranked, nil
}
