package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"si/track"
)

// score prints a score with six digits, without an exponent where people read none.
func score(v float64) string {
	if a := math.Abs(v); a >= 1e6 && a < 1e15 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

func optionalScore(v *float64) string {
	if v == nil {
		return "none"
	}
	return score(*v)
}

// share prints a fraction as a percentage with the digits that can matter.
func share(v float64) string {
	pct := 100 * v
	digits := 2
	switch a := math.Abs(pct); {
	case math.IsNaN(pct) || math.IsInf(pct, 0):
		return "unknown"
	case a >= 100:
		digits = 0
	case a >= 10:
		digits = 1
	}
	return unsignedZero(strconv.FormatFloat(pct, 'f', digits, 64)) + "%"
}

// noiseUnit follows effects where scores can be 0 or below: multiples of the noise
// of one run.
const noiseUnit = " × noise"

// amount prints an effect's number in its unit, without a sign for +.
func amount(v float64, inSigma bool) string {
	if inSigma {
		return unsignedZero(strconv.FormatFloat(v, 'f', 1, 64)) + noiseUnit
	}
	return share(v)
}

// unsignedZero takes the sign from what was rounded to nothing.
func unsignedZero(s string) string {
	if strings.Trim(s, "-0.") == "" {
		return strings.TrimPrefix(s, "-")
	}
	return s
}

func signed(v float64, inSigma bool) string {
	s := amount(v, inSigma)
	if v > 0 {
		return "+" + s
	}
	return s
}

// effect prints an effect with its interval.
func effect(e *track.Effect) string {
	if e == nil {
		return "not measured"
	}
	return signed(e.Value, e.InSigma) + " " + interval(e)
}

// exact reports an effect that repeated runs gave without any difference.
func exact(e *track.Effect) bool {
	return e.Low != nil && e.High != nil && *e.Low == *e.High
}

// interval prints the bounds of an effect in brackets.
func interval(e *track.Effect) string {
	if exact(e) {
		return "(exactly)"
	}
	return "(" + bounds(e) + ")"
}

func bounds(e *track.Effect) string {
	switch {
	case e.Low == nil && e.High == nil:
		return "no bound found"
	case e.Low == nil:
		return "at most " + signed(*e.High, e.InSigma)
	case e.High == nil:
		return "at least " + signed(*e.Low, e.InSigma)
	}
	low, high := signed(*e.Low, e.InSigma), signed(*e.High, e.InSigma)
	return strings.TrimSuffix(low, noiseUnit) + " to " + strings.TrimSuffix(high, noiseUnit)
}

// luck says what a p-value means.
func luck(p *float64) string {
	if p == nil || math.IsNaN(*p) {
		return ""
	}
	return "p = " + strconv.FormatFloat(*p, 'g', 2, 64)
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// span prints how long a run took; "" when it is not known.
func span(from, to time.Time) string {
	d := to.Sub(from)
	switch {
	case from.IsZero() || to.IsZero() || d < 0:
		return ""
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}

func moment(t time.Time) string {
	if t.IsZero() {
		return "unknown"
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}

// short is a commit as people read it.
func short(commit string) string { return commit[:min(10, len(commit))] }
