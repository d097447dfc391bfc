// Package duel decides whether a candidate is kept: it says which tree the
// benchmark must run on next, takes the scores one by one, and stops as soon
// as the answer is known.
//
// It promises that a candidate which changes nothing is accepted with
// probability at most Alpha, whatever the noise looks like, as long as the
// runs are taken one after another in the order that Next gives: the test is
// exact given the scores and uses no other randomness than that order. It
// does not promise to find a gain; drift, outliers and noise cost power.
//
// It is a pure function of a Config and the scores: no processes, files or
// clock. Nothing here is safe for concurrent use.
package duel

import (
	"errors"
	"fmt"
	"slices"
)

// Arm is one of the two trees of a duel.
type Arm int

// The arms.
const (
	Champion Arm = iota
	Candidate
)

// String returns "champion" or "candidate".
func (a Arm) String() string {
	if a == Candidate {
		return "candidate"
	}
	return "champion"
}

// Decision is what a duel came to.
type Decision int

// The decisions. Undecided is what a duel is until it ends, and what it stays
// when something did not repeat in a deterministic mode (Verdict.Switched).
const (
	Undecided Decision = iota
	Accepted
	Refused
)

// String returns "undecided", "accepted" or "refused".
func (d Decision) String() string {
	switch d {
	case Accepted:
		return "accepted"
	case Refused:
		return "refused"
	case Undecided:
	}
	return "undecided"
}

// Verdict is what is known of the two trees so far.
type Verdict struct {
	Decision Decision
	Reason   string // for people; empty while runs are wanted
	Mode     Mode
	// Switched says that a run of a deterministic mode did not repeat: the
	// benchmark is noisy from now on, and this candidate is to be judged so, in
	// a new duel. Sigma is then a first idea of the noise, from the runs that
	// differed; else it is the noise that the duel was planned with.
	Switched bool
	Sigma    float64

	// Effect is the gain as a fraction of the champion's score, positive when
	// better; with Linear a multiple of the noise of one run. Low and High
	// bound it, each with confidence 1-Alpha at any time the duel may stop;
	// they are infinite while nothing can be said.
	Effect, Low, High float64
	Linear            bool
	// P is the exact chance that a change which does nothing would have come
	// as far, at the last whole block: 1 before there is one. In the
	// deterministic modes nothing is random: 0 when accepted, else 1.
	P float64

	Runs, MaxRuns int       // taken, and the most that may be taken, both arms
	Order         []Arm     // of the runs taken
	Scores        []float64 // of the same runs
}

// run is one score on the scale of the duel.
type run struct {
	arm   Arm
	value float64
}

// judge is one of the two ways to decide. It is told each run once.
type judge interface {
	// order is that of all runs that there may be.
	order() []Arm
	// take returns the decision after this run, and whether the duel is over.
	take(run) (ruling, bool)
	// report fills what is particular to the way: effect, bounds, p, sigma.
	report(*Verdict)
}

type ruling struct {
	decision Decision
	reason   string
	switched bool
}

// Duel is one candidate against the champion. To go on with a duel that was
// interrupted, make a new one of the same Config and Add the scores again.
type Duel struct {
	cfg    Config
	scale  scale
	judge  judge
	order  []Arm
	scores []float64
	ruling ruling
	over   bool
}

// New starts a duel. Its order of runs is drawn here, from cfg.Seed alone.
func New(cfg Config) (*Duel, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.WithDefaults()
	d := &Duel{cfg: cfg, scale: cfg.scale()}
	if cfg.Mode.repeats() {
		r := newRepeat(cfg)
		d.judge = r
		d.ruling, d.over = r.screened()
	} else {
		d.judge = newNoisy(cfg)
	}
	d.order = d.judge.order()
	return d, nil
}

// Next is the arm that must run next; false when no run is wanted any more. It
// stays the same until Add.
func (d *Duel) Next() (Arm, bool) {
	if d.over {
		return Champion, false
	}
	return d.order[len(d.scores)], true
}

// Add takes the score of the run that Next asked for. A score that is not
// finite, or one too many, is an error and changes nothing.
func (d *Duel) Add(score float64) error {
	arm, more := d.Next()
	if !more {
		return errors.New("duel: add a score: the duel is decided, no run is wanted")
	}
	if !finite(score) {
		return fmt.Errorf("duel: add run %d (%s): score %v is not a finite number: take the run again", len(d.scores)+1, arm, score)
	}
	d.scores = append(d.scores, score)
	d.ruling, d.over = d.judge.take(run{arm: arm, value: d.scale.value(score)})
	return nil
}

// Blocks is how many blocks of runs are complete. The modes in which runs repeat
// have none.
func (d *Duel) Blocks() int {
	n, ok := d.judge.(*noisy)
	if !ok {
		return 0
	}
	full := len(n.blocks)
	if full > 0 && len(n.blocks[full-1].value) < n.size(full-1) {
		full--
	}
	return full
}

// Decision is the verdict's, without the cost of its bounds.
func (d *Duel) Decision() Decision { return d.ruling.decision }

// Verdict is all that is known so far. Its slices are copies. The bounds
// repeat the test for many shifts, which takes milliseconds.
func (d *Duel) Verdict() Verdict {
	v := Verdict{
		Decision: d.ruling.decision,
		Reason:   d.ruling.reason,
		Mode:     d.cfg.Mode,
		Switched: d.ruling.switched,
		Linear:   d.cfg.Linear,
		Runs:     len(d.scores),
		MaxRuns:  len(d.order),
		Order:    slices.Clone(d.order[:len(d.scores)]),
		Scores:   slices.Clone(d.scores),
	}
	d.judge.report(&v)
	return v
}
