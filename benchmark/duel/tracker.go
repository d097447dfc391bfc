package duel

import (
	"math"
	"slices"
)

const (
	window   = 60 // differences that the noise is taken from
	enough   = 12 // differences that replace the estimate of the set-up
	treesMax = 16 // trees whose last score is remembered
)

// Tracker keeps the noise of one run up to date as a campaign goes on. It
// uses differences of neighbouring runs of the same tree, so that drift does
// not enter and a large win does not look like noise.
type Tracker struct {
	scale scale
	start float64   // sigma until there are enough differences
	diffs []float64 // the last of them, oldest first
	last  []latest  // by when the tree was run, oldest first
}

type latest struct {
	tree  string
	value float64
}

// NewTracker starts from the noise at set-up. To go on with an earlier
// campaign, Observe its runs again in order.
func NewTracker(n Noise, higher bool) *Tracker {
	return &Tracker{scale: Config{HigherIsBetter: higher, Linear: n.Linear}.scale(), start: n.Sigma}
}

// Observe takes one run of a tree. Scores that are not finite are left out.
func (t *Tracker) Observe(tree string, score float64) {
	if !finite(score) {
		return
	}
	v := t.scale.value(score)
	if i := slices.IndexFunc(t.last, func(l latest) bool { return l.tree == tree }); i >= 0 {
		t.diffs = append(t.diffs, v-t.last[i].value)
		t.last = slices.Delete(t.last, i, i+1)
	}
	t.last = append(t.last, latest{tree: tree, value: v})
	t.last = t.last[max(0, len(t.last)-treesMax):]
	t.diffs = t.diffs[max(0, len(t.diffs)-window):]
}

// Sigma is the noise of one run, in the units of Noise.Sigma.
func (t *Tracker) Sigma() float64 {
	if len(t.diffs) < enough {
		return t.start
	}
	// Around 0, which is the mean of such differences; a difference has the
	// variance of two runs.
	if s := deviation(t.diffs, 0) / math.Sqrt2; s > 0 {
		return s
	}
	sum := 0.0
	for _, d := range t.diffs {
		sum += d * d / float64(len(t.diffs))
	}
	if sum == 0 {
		return t.start
	}
	return math.Sqrt(sum / 2)
}
