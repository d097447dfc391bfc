package plot

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// logDecades is the span of positive values above which the axis is
// logarithmic.
const logDecades = 2

// scale maps scores to the height of the chart, 0 to 1.
type scale struct {
	min, max float64
	log      bool
	empty    bool // there is nothing to show
}

// finite reports whether v can be drawn: a number, and one that the sums of a
// scale do not carry out of the range of numbers.
func finite(v float64) bool {
	a := math.Abs(v)
	return a == 0 || a >= 1e-300 && a <= 1e300
}

// newScale finds the range that shows the way from the baseline to the best:
// candidates far from it are drawn at the edge and do not squash it.
func newScale(d Data) scale {
	core, all := coreValues(d)
	if len(all) == 0 {
		return scale{min: 0, max: 1, empty: true}
	}
	if len(core) == 0 || slices.Max(core) == slices.Min(core) {
		core = append(core, middle(all)...)
	}
	s := scale{min: slices.Min(core), max: slices.Max(core)}
	if t := d.Target; t != nil && finite(*t) && s.near(*t, 1.5) {
		s = s.with(*t)
	}
	s.log = s.min > 0 && math.Log10(s.max)-math.Log10(s.min) > logDecades
	near := s
	for _, v := range all {
		if s.near(v, 0.4) {
			near = near.with(v)
		}
	}
	return near.padded()
}

// coreValues are the values that must be seen, and all the values there are.
func coreValues(d Data) (core, all []float64) {
	add := func(list []float64, v *float64) []float64 {
		if v != nil && finite(*v) {
			list = append(list, *v)
		}
		return list
	}
	core = add(core, d.Baseline)
	for _, s := range d.Champion {
		core = add(core, &s.Score)
	}
	for _, p := range d.Points {
		all = add(all, p.Score)
		if p.Winner {
			core = add(core, p.Score)
		}
	}
	return core, append(all, core...)
}

// middle gives the bounds of what is not far out: within three times the spread
// of the middle half.
func middle(values []float64) []float64 {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	q1, q3 := sorted[len(sorted)/4], sorted[len(sorted)*3/4]
	reach := 3 * (q3 - q1)
	if reach == 0 {
		reach = sorted[len(sorted)-1] - sorted[0] // most are equal: nothing is far out
	}
	inside := []float64{q1, q3}
	for _, v := range sorted {
		if v >= q1-reach && v <= q3+reach {
			inside = append(inside, v)
		}
	}
	return []float64{slices.Min(inside), slices.Max(inside)}
}

// near reports whether v lies within the range or beyond it by at most share of
// its span.
func (s scale) near(v, share float64) bool {
	if s.log {
		if v <= 0 {
			return false
		}
		reach := share * (math.Log10(s.max) - math.Log10(s.min))
		return math.Log10(v) >= math.Log10(s.min)-reach && math.Log10(v) <= math.Log10(s.max)+reach
	}
	reach := share * (s.max - s.min)
	return v >= s.min-reach && v <= s.max+reach
}

func (s scale) with(v float64) scale {
	s.min, s.max = math.Min(s.min, v), math.Max(s.max, v)
	return s
}

// padded leaves room above and below, and gives a single value a span.
func (s scale) padded() scale {
	const room = 0.07
	if s.log {
		low, high := math.Log10(s.min), math.Log10(s.max)
		s.min, s.max = math.Pow(10, low-room*(high-low)), math.Pow(10, high+room*(high-low))
		s.min, s.max = math.Max(s.min, 1e-305), math.Min(s.max, 1e305)
		return s
	}
	if span := s.max - s.min; span > 0 && finite(span) && span > 1e-9*math.Max(math.Abs(s.min), math.Abs(s.max)) {
		low := s.min - room*span
		if s.min >= 0 && low < 0 {
			low = 0 // an axis of times does not begin below nothing
		}
		return scale{min: low, max: s.max + room*span}
	}
	half := math.Max(math.Abs(s.max), math.Abs(s.min)) * 0.05
	if half == 0 {
		half = 1
	}
	center := s.min/2 + s.max/2
	return scale{min: center - half, max: center + half}
}

// at is where v lies, 0 at the bottom and 1 at the top; outside for a value
// beyond the range.
func (s scale) at(v float64) float64 {
	if s.log {
		if v <= 0 {
			return math.Inf(-1)
		}
		return (math.Log10(v) - math.Log10(s.min)) / (math.Log10(s.max) - math.Log10(s.min))
	}
	return (v - s.min) / (s.max - s.min)
}

// tick is a mark of an axis.
type tick struct {
	value float64
	label string
}

// ticks returns about n marks at round values.
func (s scale) ticks(n int) []tick {
	if s.log {
		return s.logTicks()
	}
	return linearTicks(s.min, s.max, n)
}

func linearTicks(low, high float64, n int) []tick {
	step := niceStep((high - low) / float64(n))
	if step <= 0 || !finite(step) {
		return nil
	}
	first, last := math.Ceil(low/step-1e-9), math.Floor(high/step+1e-9)
	if last-first > 100 { // the values are so close that floats cannot tell them apart
		return nil
	}
	var ticks []tick
	largest := math.Max(math.Abs(low), math.Abs(high))
	for i := first; i <= last; i++ {
		v := i * step
		ticks = append(ticks, tick{v, number(v, step, largest)})
	}
	return ticks
}

// niceStep is the next of 1, 2, 2.5 and 5 times a power of ten that is not
// below raw.
func niceStep(raw float64) float64 {
	if raw <= 0 || !finite(raw) {
		return 0
	}
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 2.5, 5} {
		if raw <= m*power*(1+1e-9) {
			return m * power
		}
	}
	return 10 * power
}

func (s scale) logTicks() []tick {
	low, high := int(math.Ceil(math.Log10(s.min)-1e-9)), int(math.Floor(math.Log10(s.max)+1e-9))
	skip := 1 + (high-low)/8
	var ticks []tick
	for e := low; e <= high; e += skip {
		v := math.Pow(10, float64(e))
		ticks = append(ticks, tick{v, number(v, v, v)})
	}
	return ticks
}

// number writes a tick's value with the digits that its step asks for and with
// commas between thousands; very large and very small ones with an exponent.
// Largest is the largest value on the axis: all its labels have one form.
func number(v, step, largest float64) string {
	if largest >= 1e10 || largest < 1e-5 && largest > 0 {
		digits := max(0, int(math.Ceil(math.Log10(largest)-1e-9))-int(math.Floor(math.Log10(step)+1e-9)))
		if v == 0 {
			return "0"
		}
		mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'e', min(digits, 6), 64), "e")
		if strings.Contains(mantissa, ".") {
			mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
		}
		power, _ := strconv.Atoi(exponent)
		return mantissa + "e" + strconv.Itoa(power)
	}
	decimals := 0
	if step < 1 {
		decimals = int(math.Ceil(-math.Log10(step) - 1e-9))
	}
	// 0.25 and 2.5 need one digit more than their power of ten.
	if scaled := step * math.Pow(10, float64(decimals)); math.Abs(scaled-math.Round(scaled)) > 1e-6 {
		decimals++
	}
	return commas(strconv.FormatFloat(v, 'f', min(decimals, 12), 64))
}

// commas puts a comma between thousands.
func commas(digits string) string {
	whole, rest, dot := strings.Cut(digits, ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "−", whole[1:]
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if dot {
		whole += "." + rest
	}
	if strings.Trim(whole, "0.,") == "" {
		sign = ""
	}
	return sign + whole
}

// short writes a score for a label: four digits that count.
func short(v float64) string {
	a := math.Abs(v)
	switch {
	case !finite(v):
		return "?"
	case a != 0 && (a >= 1e10 || a < 1e-4):
		return strconv.FormatFloat(v, 'g', 4, 64)
	case a >= 1000:
		return commas(strconv.FormatFloat(v, 'f', 0, 64))
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64)
	return commas(strconv.FormatFloat(rounded, 'f', -1, 64))
}
