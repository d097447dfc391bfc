package benchmark

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"si/track"
)

// Bound limits a metric: to a number, or to a share more or less than what the
// reference has.
type Bound struct {
	Op       string  // <=, >=, < or >
	Value    float64 // a fraction when Relative: 0.05 for +5%
	Relative bool
	Against  string // "champion", "baseline", or "" when the text does not say
}

// ParseBound reads "<= +5%", ">= -2% of baseline" or "< 300". A percentage
// needs its sign: "5%" alone could also mean a metric that is a percentage.
func ParseBound(text string) (Bound, error) {
	fail := func(what string) (Bound, error) {
		return Bound{}, fmt.Errorf("the bound %q %s", text, what)
	}
	rest := strings.TrimSpace(text)
	b := Bound{}
	for _, op := range []string{"<=", ">=", "<", ">"} {
		if after, ok := strings.CutPrefix(rest, op); ok {
			b.Op, rest = op, strings.TrimSpace(after)
			break
		}
	}
	if b.Op == "" {
		return fail("has no comparison; begin it with <=, >=, < or >")
	}
	for _, against := range []string{"champion", "baseline"} {
		if before, ok := strings.CutSuffix(rest, "of "+against); ok {
			b.Against, rest = against, strings.TrimSpace(before)
		}
	}
	number, relative := strings.CutSuffix(rest, "%")
	number = strings.TrimSpace(number)
	v, err := parseNumber(number)
	if err != nil {
		return fail("has no number; write it like <= +5% or <= 300")
	}
	if b.Relative = relative; !relative {
		if b.Against != "" {
			return fail("is absolute, so it is not of the " + b.Against + "; write a percentage")
		}
		b.Value = v
		return b, nil
	}
	if number[0] != '+' && number[0] != '-' {
		return fail("needs a sign before the percentage, + or -")
	}
	b.Value = v / 100
	return b, nil
}

func (b Bound) String() string {
	text := b.Op + " " + strconv.FormatFloat(b.Value, 'g', -1, 64)
	if b.Relative {
		sign := "+"
		if math.Signbit(b.Value) {
			sign = ""
		}
		// To 12 digits, so that what was read as 0.07 is not shown as 7.000000000000001.
		text = b.Op + " " + sign + strconv.FormatFloat(b.Value*100, 'g', 12, 64) + "%"
	}
	if b.Against != "" {
		text += " of " + b.Against
	}
	return text
}

// limit is the number that the bound stands for, given the reference's value.
// Shares are of the absolute value, so that + is upwards below zero as well.
func (b Bound) limit(reference float64) float64 {
	if !b.Relative {
		return b.Value
	}
	return reference + b.Value*math.Abs(reference)
}

// excess is how far v lies beyond the limit; above 0 it breaks the bound.
func (b Bound) excess(v, limit float64) float64 {
	if b.lowerIsBetter() {
		return v - limit
	}
	return limit - v
}

// breaks reports whether an excess breaks the bound when it cannot be noise.
func (b Bound) breaks(excess, noise float64) bool {
	strict := b.Op == "<" || b.Op == ">"
	return excess > noise || (strict && excess == 0 && noise == 0)
}

func (b Bound) lowerIsBetter() bool { return b.Op == "<=" || b.Op == "<" }

// Guard is something that a winner must keep: a command that passes, or a
// metric within a bound.
type Guard struct {
	Name    string
	Command string
	Metric  string
	Bound   Bound
	Against string // "champion" or "baseline"
}

// GuardsOf takes the guards out of the settings of a track. Its error joins
// everything that is wrong, each with its place.
func GuardsOf(s track.Settings) ([]Guard, error) {
	var guards []Guard
	var faults []error
	for i, o := range s.SI.Guards {
		g, err := guardOf(o)
		if err != nil {
			faults = append(faults, fmt.Errorf("si.guards[%d]: %w", i, err))
			continue
		}
		guards = append(guards, g)
	}
	return guards, errors.Join(faults...)
}

func guardOf(o track.GuardOption) (Guard, error) {
	g := Guard{Name: o.Name, Command: o.Command, Metric: o.Metric, Against: o.Against}
	isCommand, isMetric := strings.TrimSpace(o.Command) != "", o.Metric != ""
	switch {
	case isCommand == isMetric:
		return g, errors.New("needs a command or a metric, one of the two")
	case isCommand && (o.Bound != "" || o.Against != ""):
		return g, errors.New("is a command, which has no bound and no against; remove them")
	case isCommand:
		if g.Name == "" {
			g.Name = cleanLine(o.Command)
		}
		return g, nil
	}
	var err error
	if g.Bound, err = ParseBound(o.Bound); err != nil {
		return g, err
	}
	if g.Against, err = againstOf(o.Against, g.Bound.Against); err != nil {
		return g, err
	}
	if g.Name == "" {
		g.Name = o.Metric
	}
	return g, nil
}

func againstOf(key, bound string) (string, error) {
	switch {
	case key != "" && key != "champion" && key != "baseline":
		return "", fmt.Errorf("against: %q is not known; use champion or baseline", key)
	case key != "" && bound != "" && key != bound:
		return "", fmt.Errorf("against says %s and the bound says %s; remove one", key, bound)
	case key != "":
		return key, nil
	case bound != "":
		return bound, nil
	}
	return "champion", nil
}
