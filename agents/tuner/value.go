package tuner

import (
	"math"
	"strconv"
	"strings"

	"si/internal/lazyre"
)

// kind is how a value may change.
type kind int

const (
	whole    kind = iota // integers; multiples of unit
	shift                // 1 << n: stays a power of two, since masks depend on it
	decimal              // any other number
	fraction             // strictly between 0 and 1
	toggle               // a switch: 0 or 1
)

// value is what a knob is set to, and how it is written.
type value struct {
	kind   kind
	num    float64
	unit   float64 // of whole: the fixed factor of a product such as 64 * 1024
	suffix string  // of the literal: u, f, usize…
	rest   string  // the product's fixed part as written: " * 1024"
	words  [2]string
}

// Numbers beyond these are magic numbers, masks or measured constants.
const (
	maxWhole  = 1 << 40
	maxDigits = 6
)

var (
	shiftForm   = lazyre.New(`^1\s*<<\s*(\d{1,2})$`)
	productForm = lazyre.New(`^([1-9]\d{0,11})((?:\s*\*\s*[1-9]\d{0,8}){1,3})$`)
	numberForm  = lazyre.New(`^(-?)(0|[1-9][\d_]*)(\.\d*)?([eE][+-]?\d{1,2})?((?i:ull|ul|u|ll|l|f|d|[uif](?:8|16|32|64|128|size))?)$`)
)

// parseValue reads a literal, or a product or shift of literals, that a knob can
// have. Octal and hexadecimal numbers are none: they are masks and modes.
func parseValue(text string) (value, bool) {
	if v, ok := parseToggle(text); ok {
		return v, true
	}
	if m := shiftForm.FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[1])
		return value{kind: shift, num: math.Ldexp(1, n)}, n <= 40
	}
	if m := productForm.FindStringSubmatch(text); m != nil {
		return parseProduct(m[1], m[2])
	}
	return parseNumber(text)
}

func parseToggle(text string) (value, bool) {
	for _, w := range [][2]string{{"false", "true"}, {"False", "True"}, {"FALSE", "TRUE"}, {"off", "on"}, {"no", "yes"}} {
		for i := range w {
			if text == w[i] {
				return value{kind: toggle, num: float64(i), words: w}, true
			}
		}
	}
	return value{}, false
}

func parseProduct(first, rest string) (value, bool) {
	n, _ := strconv.ParseFloat(first, 64)
	unit := 1.0
	for _, f := range strings.Split(rest, "*")[1:] {
		x, _ := strconv.ParseFloat(strings.TrimSpace(f), 64)
		unit *= x
	}
	return value{kind: whole, num: n * unit, unit: unit, rest: rest}, n*unit <= maxWhole
}

func parseNumber(text string) (value, bool) {
	m := numberForm.FindStringSubmatch(text)
	if m == nil {
		return value{}, false
	}
	digits := strings.ReplaceAll(m[2], "_", "")
	num, err := strconv.ParseFloat(m[1]+digits+m[3]+m[4], 64)
	if err != nil || math.Abs(num) > maxWhole {
		return value{}, false
	}
	v := value{kind: decimal, num: num, suffix: m[5]}
	floating := m[3] != "" || m[4] != "" || strings.ContainsAny(strings.ToLower(m[5]), "fd")
	switch {
	case !floating && num < 0:
		return value{}, false // -1 and its like mean "none"
	case !floating:
		v.kind, v.unit = whole, 1
	case len(strings.Trim(digits+strings.TrimPrefix(m[3], "."), "0")) > maxDigits:
		return value{}, false // a constant of nature, not a choice
	case num > 0 && num < 1:
		v.kind = fraction
	case num == 0:
		return value{}, false // no scale to step on
	}
	return v, true
}

// write gives num in the form in which v was written.
func (v value) write(num float64) string {
	switch v.kind {
	case toggle:
		return v.words[int(num)]
	case shift:
		return "1 << " + strconv.Itoa(int(math.Round(math.Log2(num))))
	case whole:
		return strconv.FormatFloat(num/v.unit, 'f', 0, 64) + v.rest + v.suffix
	case decimal, fraction:
	}
	text := strconv.FormatFloat(num, 'f', -1, 64) // never an exponent: YAML takes 2e-07 for a text
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text + v.suffix
}

// scale maps a number onto the axis on which steps are even: octaves, or for a
// fraction octaves of its odds. 0 counts as half.
func (v value) scale(num float64) float64 {
	num = math.Abs(num)
	if v.kind == fraction {
		num = min(max(num, 1e-9), 1-1e-9)
		return math.Log2(num / (1 - num))
	}
	return math.Log2(max(num, 0.5))
}

// unscale is the nearest number to u that this knob can have. A whole number does
// not become 0: what counts things rarely works without any.
func (v value) unscale(u float64) float64 {
	x := math.Exp2(u)
	switch v.kind {
	case whole:
		return max(1, math.Round(x/v.unit)) * v.unit
	case shift:
		return math.Exp2(max(0, math.Round(u)))
	case fraction:
		return roundFraction(x / (1 + x))
	case decimal, toggle:
	}
	return math.Copysign(roundTo(x, 3), v.num)
}

// roundFraction keeps three digits of p or of 1 − p, whichever is smaller.
func roundFraction(p float64) float64 {
	if p <= 0.5 {
		return roundTo(p, 3)
	}
	near := math.Floor(math.Log10(1 - p))
	return roundAt(p, 2-int(near))
}

func roundTo(x float64, digits int) float64 {
	return roundAt(x, digits-1-int(math.Floor(math.Log10(x))))
}

// roundAt rounds through the decimal form, so that the result prints short.
func roundAt(x float64, places int) float64 {
	if places < 0 {
		p := math.Pow(10, float64(-places))
		return math.Round(x/p) * p
	}
	r, err := strconv.ParseFloat(strconv.FormatFloat(x, 'f', places, 64), 64)
	if err != nil {
		return x
	}
	return r
}
