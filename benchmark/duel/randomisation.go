package duel

import (
	"math"
	"slices"
)

// block is some runs of both arms, as many of one as of the other once it is
// whole, in an order that was drawn before they were taken.
type block struct {
	candidate []bool    // by run, in order
	value     []float64 // on the scale: larger is better
}

const (
	clip  = 2  // in sigmas: no run pulls further
	steps = 32 // integer scores per sigma
)

// scores are the block's values as whole numbers around their mean. They do
// not depend on which arm a value belongs to, which is what makes the null
// distribution exact.
func (b block) scores(sigma float64) []int {
	mean := 0.0
	for _, v := range b.value {
		mean += v / float64(len(b.value))
	}
	out := make([]int, len(b.value))
	for i, v := range b.value {
		s := min(max((v-mean)/sigma, -clip), clip)
		out[i] = int(math.Round(s * steps))
	}
	return out
}

// shifted is the block as it would be if the candidate were worse by shift.
func (b block) shifted(shift float64) block {
	v := slices.Clone(b.value)
	for i, c := range b.candidate {
		if c {
			v[i] -= shift
		}
	}
	return block{candidate: b.candidate, value: v}
}

// mirrored is the block with worse and better exchanged.
func (b block) mirrored() block {
	v := make([]float64, len(b.value))
	for i, x := range b.value {
		v[i] = -x
	}
	return block{candidate: b.candidate, value: v}
}

// test is the group-sequential randomisation test, as far as it has gone. Its
// only randomness is the order of the runs: given the scores, every
// arrangement was as likely as the one that was drawn, whatever drift,
// outliers or dependence made the scores. That holds for a candidate that
// changes nothing; no normality is assumed.
type test struct {
	rule  rule
	sigma float64

	left  distribution // arrangements that have not crossed
	total float64      // arrangements, those that crossed included
	runs  int
	sum   int     // the candidate's scores
	spent float64 // probability of having crossed before now or now
	p     float64 // by stagewise ordering: an earlier crossing is more extreme

	crossed bool
}

func newTest(r rule, sigma float64) *test {
	return &test{rule: r, sigma: sigma, left: distribution{count: []float64{1}}, total: 1, p: 1}
}

// add takes a whole block and looks.
func (t *test) add(b block) {
	scores := b.scores(t.sigma)
	t.left = t.left.plus(arrangedSums(scores))
	t.total *= choose(len(scores) / 2)
	t.runs += len(scores)
	for i, s := range scores {
		if b.candidate[i] {
			t.sum += s
		}
	}
	t.p = t.spent + t.left.tail(t.sum)/t.total
	var gone float64
	t.left, gone = t.left.cut(t.budget())
	t.spent += gone / t.total
	t.crossed = t.left.above(t.sum)
}

// budget is how many arrangements may cross at this look. The little on top
// is for rounding: a budget of one arrangement must allow one.
func (t *test) budget() float64 {
	free := t.rule.spend(t.runs) - t.spent
	if free <= 0 {
		return 0
	}
	return free*t.total*(1+1e-12) + 1e-9
}
