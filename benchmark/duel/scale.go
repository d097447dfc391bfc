package duel

import (
	"math"
	"strconv"
)

// scale turns scores into the values that are compared: larger is better, and
// a difference is an effect. Usually that is the log of the score, so that
// effects are relative and a gain and its loss have the same size.
type scale struct {
	sign   float64 // +1 when a higher score is better, else -1
	unit   float64 // of a linear scale: score per unit
	linear bool
}

func (c Config) scale() scale {
	s := scale{sign: -1, unit: 1, linear: c.Linear}
	if c.HigherIsBetter {
		s.sign = 1
	}
	if c.Linear && c.Sigma > 0 {
		s.unit = c.Sigma
	}
	return s
}

// noise is the noise of one run on the scale.
func (s scale) noise(sigma float64) float64 {
	if s.linear {
		return sigma / s.unit
	}
	return sigma
}

// farthest bounds values of a linear scale, so that sums of them stay finite.
const farthest = 1e150

// value of a finite score. On the log scale a score that is not positive,
// among positive ones, is as far away as numbers go: it costs the test power
// like any outlier, and still ranks at its end.
func (s scale) value(score float64) float64 {
	if s.linear {
		return s.sign * min(max(score/s.unit, -farthest), farthest)
	}
	return s.sign * math.Log(max(score, math.SmallestNonzeroFloat64))
}

// effect is a difference of two values as it is reported: the change of the
// score as a fraction of the champion's, positive when better. What is
// unbounded stays so.
func (s scale) effect(difference float64) float64 {
	if s.linear || math.IsInf(difference, 0) {
		return difference
	}
	return s.sign * math.Expm1(s.sign*difference)
}

// difference is the inverse of effect, for a fraction below 1.
func (s scale) difference(effect float64) float64 {
	if s.linear {
		return effect
	}
	return s.sign * math.Log1p(s.sign*effect)
}

// text is a difference for people.
func (s scale) text(difference float64) string {
	e := s.effect(difference)
	if s.linear {
		return strconv.FormatFloat(e, 'g', 3, 64) + " units of noise"
	}
	return strconv.FormatFloat(100*e, 'g', 3, 64) + " %"
}
