package benchmark

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"si/track"
)

// Timing is what one run claims and what was seen of it from outside.
type Timing struct {
	Score float64
	Wall  float64 // seconds
	CPU   float64 // seconds, of all its processes
}

// timeWords are the words of a metric's name that say that it is a time.
var timeWords = []string{
	"time", "times", "second", "seconds", "sec", "secs", "s", "ms", "us", "ns", "millis", "micros", "nanos", "msec", "usec", "nsec",
	"milliseconds", "microseconds", "nanoseconds", "duration", "elapsed", "runtime", "wall", "walltime",
}

// partWords say that it is the time of a part of the run, or a statistic of many
// parts, which may fall while the run as a whole takes as long.
var partWords = []string{
	"latency", "p", "percentile", "mean", "median", "avg", "average", "max", "min", "worst", "best", "per", "op", "request", "query", "call",
}

// units are what a time can be told in, in seconds.
var units = map[string]float64{"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}

// The share of a run's wall time that a score must have to be taken for the time
// of what the run does.
const (
	leastShare = 0.5
	mostShare  = 1.05
)

// leastTime is what a run must take for si's own part in it not to count, in seconds.
const leastTime = 0.1

// TimeUnit tells whether the primary metric is the time that a run takes, and in
// which unit, in seconds: lower is better, the name says a time (or named gives the
// unit), and the score of one of the runs is most of its wall time: a busy machine
// makes some last longer than they say. A benchmark that repeats its work until some
// time has passed is none: its own time says nothing. Nor is the time of a part of a
// run.
func TimeUnit(spec Spec, named string, runs []Timing) (seconds float64, ok bool) {
	if spec.Direction != track.LowerIsBetter || len(runs) == 0 || named == "none" {
		return 0, false
	}
	words := strings.FieldsFunc(strings.ToLower(spec.Metric), func(r rune) bool { return !unicode.IsLetter(r) })
	in := func(list []string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(list, w) })
	}
	if named == "" && (!in(timeWords) || in(partWords)) {
		return 0, false
	}
	for name, unit := range units {
		if (named == "" || named == name) && slices.ContainsFunc(runs, func(t Timing) bool { return t.in(unit) }) {
			return unit, true
		}
	}
	return 0, false
}

// in tells whether the score is most of the run's wall time when it is read in unit.
func (t Timing) in(unit float64) bool {
	claimed := t.Score * unit
	return claimed >= leastTime && claimed >= leastShare*t.Wall && claimed <= mostShare*t.Wall
}

// Sight is whether the clock shows a gain in time.
type Sight int

// What the clock can say of a gain. Likely and Unlikely are guesses: the runs are too
// few, or the clock strays as far by itself as half of the gain.
const (
	Seen     Sight = iota + 1 // it shows, or there is none to show
	Likely                    // it is there as far as it can be seen
	Unlikely                  // it is not there as far as it can be seen
	Unseen                    // it would show if it were there
)

// fewestTimings is how many runs of each side tell how much the clock strays.
const fewestTimings = 4

// LookForGain compares the time that a candidate claims to save with what was seen
// from outside: a gain shows when the wall time or the processor time of the runs
// fell by half of the claim. The text says what was claimed and what was seen; it is
// empty for a gain that was seen.
func LookForGain(unit float64, before, after []Timing) (Sight, string) {
	if len(before) == 0 || len(after) == 0 {
		return Seen, ""
	}
	claim := unit * fall(before, after, func(t Timing) float64 { return t.Score })
	if claim <= 0 {
		return Seen, ""
	}
	fell := func(of func(Timing) float64) bool { return fall(before, after, of) >= claim/2 }
	enough := min(len(before), len(after)) >= fewestTimings
	steady := func(of func(Timing) float64) bool {
		own := column(before, of) // the champion's own noise: a candidate could make its runs spread
		return enough && noise(own, own, 1) < claim/2
	}
	text := fmt.Sprintf("it claims to save %.3g s a run, but its runs took %.3g s less by the clock and %.3g s less of the processors",
		claim, fall(before, after, wallOf), fall(before, after, cpuOf))
	switch {
	case steady(wallOf) && fell(wallOf), steady(cpuOf) && fell(cpuOf):
		return Seen, ""
	case fell(wallOf), fell(cpuOf):
		return Likely, text
	case steady(wallOf):
		return Unseen, text
	}
	return Unlikely, text
}

func wallOf(t Timing) float64 { return t.Wall }
func cpuOf(t Timing) float64  { return t.CPU }

// fall is by how much the median went down.
func fall(before, after []Timing, of func(Timing) float64) float64 {
	return median(column(before, of)) - median(column(after, of))
}

func column(runs []Timing, of func(Timing) float64) []float64 {
	out := make([]float64, len(runs))
	for i, r := range runs {
		out[i] = of(r)
	}
	return out
}
