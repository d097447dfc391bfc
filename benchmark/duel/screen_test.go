package duel

import (
	"math"
	"slices"
	"testing"
)

func TestScreenOrder(t *testing.T) {
	firsts := map[int]int{}
	for seed := range uint64(400) {
		order := ScreenOrder(Noisy, 3, seed)
		if !slices.Equal(order, ScreenOrder(Noisy, 3, seed)) {
			t.Fatal("the same seed gave two orders")
		}
		firsts[order[0]]++
		slices.Sort(order)
		if !slices.Equal(order, []int{ScreenChampion, 0, 1, 2}) {
			t.Fatalf("seed %d runs %v", seed, order)
		}
	}
	for subject, n := range firsts {
		if n < 60 || n > 140 {
			t.Errorf("subject %d is first in %d of 400 screens, want about 100", subject, n)
		}
	}
	if order := ScreenOrder(Deterministic, 3, 1); len(order) != 3 || slices.Contains(order, ScreenChampion) {
		t.Errorf("deterministic: %v, want the candidates only", order)
	}
}

func TestRank(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name     string
		cfg      Config
		champion float64
		scores   []float64
		want     []int
	}{
		{"best first", Config{Mode: Noisy, HigherIsBetter: true}, 100, []float64{101, 103, 102}, []int{1, 2, 0}},
		{"lower is better", Config{Mode: Noisy}, 100, []float64{99, 97, 98}, []int{1, 2, 0}},
		{"below the champion's own run", Config{Mode: Noisy, HigherIsBetter: true}, 100, []float64{99, 98}, nil},
		{"equal to it", Config{Mode: Noisy, HigherIsBetter: true}, 100, []float64{100, 99}, []int{0}},
		{"failed ones are left out", Config{Mode: Noisy, HigherIsBetter: true}, 100, []float64{nan, 101, math.Inf(1)}, []int{1}},
		{"equal ones keep their order", Config{Mode: Noisy, HigherIsBetter: true}, 1, []float64{2, 3, 2, 3}, []int{1, 3, 0, 2}},
		{"deterministic ties are no gain", Config{Mode: Deterministic, HigherIsBetter: true}, 100, []float64{100, 100.001}, []int{1}},
		{"quasi-deterministic margin", Config{Mode: QuasiDeterministic, HigherIsBetter: true, Tolerance: 0.01}, 100, []float64{100.9, 101.1}, []int{1}},
		{"none", Config{Mode: Noisy}, 100, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Rank(c.cfg, c.champion, c.scores)
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("ranked %v (%v), want %v", got, err, c.want)
			}
		})
	}
	many := make([]float64, 40) // few enough are sorted stably by any sort
	want := make([]int, len(many))
	for i := range many {
		many[i], want[i] = float64(2-i%2), i
	}
	slices.SortStableFunc(want, func(a, b int) int { return a%2 - b%2 })
	if got, err := Rank(Config{Mode: Noisy, HigherIsBetter: true}, 1, many); err != nil || !slices.Equal(got, want) {
		t.Errorf("forty ranked %v (%v), want %v", got, err, want)
	}
	if _, err := Rank(Config{Mode: Noisy}, nan, []float64{1}); err == nil {
		t.Error("a champion without a score was ranked against")
	}
}
