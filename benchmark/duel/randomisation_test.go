package duel

import (
	"cmp"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// path is one of all the ways in which the runs of some blocks could have
// been ordered, judged by enumeration alone.
type path struct {
	candidates []uint // by block: bit i says that run i was the candidate's
	sum        int
	crossed    bool
	p          float64
}

// enumerate plays the sequential test over every arrangement, by sorting them
// at each look, and returns the paths and the level that was really used.
func enumerate(r rule, values [][]float64, sigma float64) ([]path, float64) {
	paths, crossed, runs, total := []path{{}}, 0, 0, 1.0
	for _, v := range values {
		scores := block{value: v}.scores(sigma)
		paths = extend(paths, scores)
		total *= choose(len(v) / 2)
		crossed *= int(choose(len(v) / 2))
		runs += len(v)
		crossed += look(paths, r.spend(runs)*total, crossed, total)
	}
	return paths, float64(crossed) / total
}

func extend(paths []path, scores []int) []path {
	var out []path
	for _, p := range paths {
		for mask := range uint(1) << len(scores) {
			if bits.OnesCount(mask) != len(scores)/2 {
				continue
			}
			q := p
			q.candidates = append(slices.Clone(p.candidates), mask)
			for i, s := range scores {
				if mask>>i&1 == 1 {
					q.sum += s
				}
			}
			out = append(out, q)
		}
	}
	return out
}

// look lets the largest sums cross, all paths of one sum together.
func look(paths []path, allowed float64, before int, total float64) int {
	var alive []*path
	for i := range paths {
		if !paths[i].crossed {
			alive = append(alive, &paths[i])
		}
	}
	slices.SortFunc(alive, func(a, b *path) int { return cmp.Compare(b.sum, a.sum) })
	crossed, open := 0, true
	for start := 0; start < len(alive); {
		end := start
		for end < len(alive) && alive[end].sum == alive[start].sum {
			end++
		}
		open = open && float64(before+end) <= allowed*(1+1e-9)
		for _, p := range alive[start:end] {
			p.p = float64(before+end) / total
			p.crossed = open
		}
		if open {
			crossed = end
		}
		start = end
	}
	return crossed
}

// follow runs the package's own test along one path.
func follow(r rule, values [][]float64, sigma float64, p path) *test {
	t := newTest(r, sigma)
	for i, v := range values {
		b := block{value: v}
		for j := range v {
			b.candidate = append(b.candidate, p.candidates[i]>>j&1 == 1)
		}
		if t.add(b); t.crossed {
			break
		}
	}
	return t
}

func TestLevelEqualsEnumeration(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	normal := func() float64 { return rng.NormFloat64() }
	noises := map[string]func() float64{
		"normal":    normal,
		"constant":  func() float64 { return 1 },
		"two ties":  func() float64 { return float64(rng.IntN(2)) },
		"few steps": func() float64 { return float64(rng.IntN(4)) / 2 },
		"outliers":  func() float64 { return math.Exp(3 * normal()) },
		"huge":      func() float64 { return farthest * normal() },
	}
	rules := map[string]struct {
		rule   rule
		blocks []int
	}{
		"alpha 0.01, cap 12": {rule{alpha: 0.01, first: 4, look: 12, runs: 12}, []int{8, 4}},
		"alpha 0.05, cap 12": {rule{alpha: 0.05, first: 4, look: 8, runs: 12}, []int{8, 4}},
		"expensive":          {rule{alpha: 0.10, first: 2, look: 8, runs: 8}, []int{4, 4}},
		"small, four looks":  {rule{alpha: 0.20, first: 2, look: 8, runs: 16}, []int{4, 4, 4, 4}},
	}
	for noise, draw := range noises {
		for name, c := range rules {
			t.Run(name+", "+noise, func(t *testing.T) {
				compare(t, c.rule, values(c.blocks, draw))
			})
		}
	}
}

func values(sizes []int, draw func() float64) [][]float64 {
	out := make([][]float64, len(sizes))
	for i, size := range sizes {
		for range size {
			out[i] = append(out[i], draw())
		}
	}
	return out
}

func compare(t *testing.T, r rule, values [][]float64) {
	t.Helper()
	paths, level := enumerate(r, values, 1)
	if level > r.alpha+1e-12 {
		t.Errorf("enumerated level %v is above alpha %v", level, r.alpha)
	}
	crossed := 0
	for _, p := range paths {
		got := follow(r, values, 1, p)
		if got.crossed != p.crossed {
			t.Fatalf("path %v crossed: %v, by enumeration %v", p.candidates, got.crossed, p.crossed)
		}
		if got.crossed {
			crossed++
		} else if math.Abs(got.spent-level) > 1e-12 {
			t.Fatalf("path %v: level %v, by enumeration %v", p.candidates, got.spent, level)
		}
		if math.Abs(got.p-p.p) > 1e-12 {
			t.Fatalf("path %v: p %v, by enumeration %v", p.candidates, got.p, p.p)
		}
	}
	if got := float64(crossed) / float64(len(paths)); math.Abs(got-level) > 1e-12 {
		t.Errorf("crossed in %v of arrangements, by enumeration %v", got, level)
	}
	checkPValues(t, paths)
}

// checkPValues: under the null a p as small as u has at most the chance u.
func checkPValues(t *testing.T, paths []path) {
	t.Helper()
	slices.SortFunc(paths, func(a, b path) int { return cmp.Compare(a.p, b.p) })
	for i, p := range paths {
		if i+1 < len(paths) && paths[i+1].p == p.p {
			continue
		}
		if share := float64(i+1) / float64(len(paths)); share > p.p+1e-12 {
			t.Fatalf("p ≤ %v in %v of the arrangements", p.p, share)
		}
	}
}

func TestLevelEqualsEnumerationOverThreeLooks(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	r := rule{alpha: 0.02, first: 4, look: 8, runs: 16}
	compare(t, r, values([]int{8, 4, 4}, rng.NormFloat64))
}

// A level that is never reached would make the comparison above empty.
func TestEnumeratedLevelIsUsed(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	r := rule{alpha: 0.02, first: 4, look: 8, runs: 16}
	_, level := enumerate(r, values([]int{8, 4, 4}, rng.NormFloat64), 1)
	if level < 0.8*r.alpha {
		t.Errorf("level %v leaves most of alpha %v unused", level, r.alpha)
	}
}

func TestScoresAreClipped(t *testing.T) {
	got := block{value: []float64{1, 2, 3, 1e6, -1e9, 0}}.scores(1)
	if slices.Max(got) > clip*steps || slices.Min(got) < -clip*steps {
		t.Errorf("scores %v reach beyond %d", got, clip*steps)
	}
	if got, want := (block{value: []float64{-1, 1, 0.5, -0.5}}).scores(1), []int{-32, 32, 16, -16}; !slices.Equal(got, want) {
		t.Errorf("scores %v, want %v", got, want)
	}
}

func TestSpend(t *testing.T) {
	r := rule{alpha: 0.01, first: 4, look: 12, runs: 24}
	for runs, want := range map[int]float64{8: 0, 12: 0.005, 18: 0.0075, 24: 0.01} {
		if got := r.spend(runs); math.Abs(got-want) > 1e-15 {
			t.Errorf("after %d runs %v of alpha may be spent, want %v", runs, got, want)
		}
	}
	one := rule{alpha: 0.02, first: 4, look: 8, runs: 24}
	if got := one.spend(8); got != 1.0/70 {
		t.Errorf("first look at alpha 0.02 may spend %v, want one arrangement of 70", got)
	}
}

func TestFirstLook(t *testing.T) {
	for _, c := range []struct {
		first int
		alpha float64
		want  int
	}{{4, 0.05, 8}, {4, 0.02, 8}, {4, 0.019, 12}, {4, 0.01, 12}, {4, 0.003, 16}, {2, 0.10, 8}, {2, 0.25, 4}} {
		if got := firstLook(c.first, c.alpha); got != c.want {
			t.Errorf("first look of blocks of %d at alpha %v after %d runs, want %d", c.first, c.alpha, got, c.want)
		}
	}
}

func BenchmarkDuel(b *testing.B) {
	cfg := Config{Mode: Noisy, Sigma: 0.01, HigherIsBetter: true}
	rng := rand.New(rand.NewPCG(5, 6))
	for b.Loop() {
		n := newNoisy(cfg.WithDefaults())
		for _, arm := range n.arms {
			n.take(run{arm: arm, value: 0.01 * rng.NormFloat64()})
		}
	}
}
