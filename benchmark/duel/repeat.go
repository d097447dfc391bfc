package duel

import (
	"fmt"
	"math"
)

// repeat judges benchmarks whose runs agree: the two scores that made the
// candidate the leader must come out again.
type repeat struct {
	cfg       Config
	scale     scale
	seen      [2]float64 // by arm: the value before the duel
	again     []run
	tolerance float64 // 0 when deterministic
	margin    float64 // what a gain must exceed
}

func newRepeat(cfg Config) *repeat {
	r := &repeat{cfg: cfg, scale: cfg.scale(), margin: cfg.margin()}
	r.seen[Champion] = r.scale.value(cfg.ChampionScore)
	r.seen[Candidate] = r.scale.value(cfg.CandidateScore)
	if cfg.Mode == QuasiDeterministic {
		r.tolerance = cfg.Tolerance
	}
	return r
}

// margin is the difference that a candidate must exceed to be worth a duel.
func (c Config) margin() float64 {
	if c.Mode != QuasiDeterministic {
		return 0
	}
	return max(c.scale().difference(c.MinEffect), c.Tolerance)
}

func (r *repeat) order() []Arm { return []Arm{Champion, Candidate} }

// screened refuses, at no cost, a candidate that is not ahead at all.
func (r *repeat) screened() (ruling, bool) {
	gain := r.seen[Candidate] - r.seen[Champion]
	if gain > r.margin {
		return ruling{}, false
	}
	if gain > 0 {
		return refused("the gain of %s is within the benchmark's tolerance or below min_effect", r.text(gain)), true
	}
	return refused("not better than the champion"), true
}

func (r *repeat) take(next run) (ruling, bool) {
	r.again = append(r.again, next)
	if !r.repeated(next) {
		return ruling{
			switched: true,
			reason: fmt.Sprintf("the %s did not repeat its score, so the benchmark is noisy: judge the candidate again as noisy",
				next.arm),
		}, true
	}
	if len(r.again) < 2 {
		return ruling{}, false
	}
	// Within the tolerance a fresh gain can be smaller than the one that made
	// the candidate the leader; what is kept must hold in fresh runs.
	if gain := r.gain(); gain <= r.margin {
		return refused("both scores repeated, but the fresh gain of %s is within the tolerance or below min_effect", r.text(gain)), true
	}
	return ruling{decision: Accepted, reason: "better than the champion, and both scores repeated"}, true
}

// repeated compares scores bit by bit in the deterministic mode: the scale is
// a function, so equal scores have equal values.
func (r *repeat) repeated(next run) bool {
	return math.Abs(next.value-r.seen[next.arm]) <= r.tolerance
}

// gain is that of the fresh runs, or of the earlier ones until there are both.
func (r *repeat) gain() float64 {
	if len(r.again) < 2 {
		return r.seen[Candidate] - r.seen[Champion]
	}
	return r.again[1].value - r.again[0].value
}

func (r *repeat) report(v *Verdict) {
	gain := r.gain()
	v.Effect = r.scale.effect(gain)
	// Both runs lie within the tolerance of their tree's other runs.
	v.Low, v.High = r.scale.effect(gain-r.tolerance), r.scale.effect(gain+r.tolerance)
	v.P = 1
	if v.Decision == Accepted {
		v.P = 0
	}
	v.Sigma = r.cfg.Sigma
	if v.Switched {
		v.Low, v.High = math.Inf(-1), math.Inf(1)
		v.Sigma = max(v.Sigma, r.spread())
	}
}

// spread is the noise that the runs so far suggest, in the units of
// Config.Sigma: the difference of two runs has the variance of both.
func (r *repeat) spread() float64 {
	widest := 0.0
	for _, a := range r.again {
		widest = max(widest, math.Abs(a.value-r.seen[a.arm])/math.Sqrt2)
	}
	return widest * r.scale.unit
}

func (r *repeat) text(gain float64) string { return r.scale.text(gain) }

func refused(format string, args ...any) ruling {
	return ruling{decision: Refused, reason: fmt.Sprintf(format, args...)}
}
