package duel

import (
	"errors"
	"fmt"
	"math"
)

// Mode is how a benchmark behaves from run to run, and so how it is judged.
type Mode int

// The modes. The zero Mode is none of them: a Config must name one, since the
// first two accept after a single repetition.
const (
	Deterministic      Mode = iota + 1 // runs of one tree agree to the last bit
	QuasiDeterministic                 // they agree within Tolerance
	Noisy                              // the sequential test, up to 24 runs
	Expensive                          // the same with at most 8 runs and a larger alpha
)

var modeNames = [...]string{"unknown", "deterministic", "quasi-deterministic", "noisy", "expensive"}

// String returns the mode's name as it is kept on disk.
func (m Mode) String() string {
	if m < Deterministic || m > Expensive {
		return modeNames[0]
	}
	return modeNames[m]
}

// ParseMode is the inverse of String.
func ParseMode(name string) (Mode, error) {
	for m := Deterministic; m <= Expensive; m++ {
		if modeNames[m] == name {
			return m, nil
		}
	}
	return 0, fmt.Errorf("read noise mode: %q is not one of deterministic, quasi-deterministic, noisy, expensive", name)
}

// repeats reports whether the mode expects a run to come out as before.
func (m Mode) repeats() bool { return m == Deterministic || m == QuasiDeterministic }

const (
	expensiveRuns = 8 // two blocks of four: one look that can reject
	runsLimit     = 400
)

// Config says how one duel is judged. Fields that are zero take the default of
// the mode. It is frozen when the duel starts: the same Config and the same
// scores always give the same verdict.
type Config struct {
	HigherIsBetter bool
	Mode           Mode

	Alpha     float64 // chance of keeping a change that does nothing
	MinEffect float64 // smallest gain worth keeping, a fraction of the score
	Target    float64 // gain that the number of runs is planned for, a fraction
	MaxRuns   int     // of both arms together; at most 8 when expensive

	// Sigma is the noise of one run: on the log of the score, or in units of
	// the score when Linear. Tolerance is the quasi-deterministic mode's.
	Sigma, Tolerance float64

	// Linear takes scores as they are instead of their logs, because scores
	// of the champion are zero or negative (Noise.Linear). Effects, MinEffect
	// and Target are then multiples of Sigma, or of 1 when Sigma is 0.
	Linear bool

	// The runs that made the candidate the leader. Only the deterministic
	// modes use them: they ask whether these repeat.
	ChampionScore, CandidateScore float64

	Seed uint64 // of the order of the runs
}

// WithDefaults fills the fields that are zero with the defaults of the mode.
func (c Config) WithDefaults() Config {
	if c.Alpha == 0 {
		c.Alpha = 0.01
		if c.Mode == Expensive {
			c.Alpha = 0.10
		}
	}
	if c.MinEffect == 0 {
		c.MinEffect = 0.005
	}
	if c.Target == 0 {
		c.Target = 0.01
	}
	if c.MaxRuns == 0 {
		c.MaxRuns = 24
	}
	if c.Mode == Expensive {
		c.MaxRuns = min(c.MaxRuns, expensiveRuns)
	}
	return c
}

// Validate returns all that is wrong with the Config, each problem with its
// field, after the defaults are filled in.
func (c Config) Validate() error {
	c = c.WithDefaults()
	return errors.Join(c.checkMode(), c.checkEffects(), c.checkNoise(), c.checkRuns())
}

func (c Config) checkMode() error {
	if c.Mode < Deterministic || c.Mode > Expensive {
		return fmt.Errorf("duel: mode %d is none of the four", int(c.Mode))
	}
	if c.Mode == QuasiDeterministic && c.Linear {
		return errors.New("duel: mode is quasi-deterministic on scores that are not positive: judge them as noisy")
	}
	if c.Mode.repeats() && !(finite(c.ChampionScore) && finite(c.CandidateScore)) {
		return fmt.Errorf("duel: scores to repeat are %v and %v: both must be finite", c.ChampionScore, c.CandidateScore)
	}
	return nil
}

func (c Config) checkEffects() error {
	var errs []error
	if !(c.Alpha > 0 && c.Alpha <= 0.25) {
		errs = append(errs, fmt.Errorf("duel: alpha is %v: it must be above 0 and at most 0.25", c.Alpha))
	}
	// A whole unit would be all of a score that is better when lower.
	limit := 1.0
	if c.Linear {
		limit = math.MaxFloat64
	}
	if !(c.MinEffect > 0 && c.MinEffect < limit) {
		errs = append(errs, fmt.Errorf("duel: min_effect is %v: it must be a fraction above 0 and below 1", c.MinEffect))
	}
	if !(c.Target > 0 && c.Target < limit) {
		errs = append(errs, fmt.Errorf("duel: target is %v: it must be a fraction above 0 and below 1", c.Target))
	}
	return errors.Join(errs...)
}

func (c Config) checkNoise() error {
	var errs []error
	if !finite(c.Sigma) || c.Sigma < 0 {
		errs = append(errs, fmt.Errorf("duel: sigma is %v: it must be finite and not negative", c.Sigma))
	}
	if !finite(c.Tolerance) || c.Tolerance < 0 {
		errs = append(errs, fmt.Errorf("duel: tolerance is %v: it must be finite and not negative", c.Tolerance))
	}
	if (c.Mode == Noisy || c.Mode == Expensive) && c.Sigma == 0 {
		errs = append(errs, fmt.Errorf("duel: sigma is 0 in the %s mode: estimate it first (Classify)", c.Mode))
	}
	return errors.Join(errs...)
}

// checkRuns refuses a number of runs after which the test could not reject at
// all: such a duel would cost its runs and refuse everything.
func (c Config) checkRuns() error {
	if c.MaxRuns > runsLimit {
		return fmt.Errorf("duel: max_runs is %d: at most %d", c.MaxRuns, runsLimit)
	}
	if c.Mode.repeats() || !(c.Alpha > 0) {
		return nil
	}
	if need := firstLook(firstBlock(c.Mode), c.Alpha); c.MaxRuns < need {
		return fmt.Errorf("duel: max_runs is %d: at alpha %v the first look that can accept needs %d runs", c.MaxRuns, c.Alpha, need)
	}
	return nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
