package benchmark

import (
	"fmt"
	"slices"
	"strings"
)

// A suite is what a benchmark tool reports: several benchmarks, each with
// several statistics or units. The primary metric picks the score out of it:
//
//	"name"            the benchmark's usual value (median, or ns/op)
//	"name:statistic"  another value of it, such as "sort:mean" or "Sum:B/op"
//	"geomean"         the geometric mean of the usual values of all benchmarks
//	"geomean:unit"    the geometric mean of that unit's values
//	"primary", ""     the only benchmark's usual value, or the geometric mean
type suite struct {
	usual  string // statistic or unit that a name alone stands for
	series []series
}

// series is one value of one benchmark.
type series struct {
	name    string
	aliases []string // other names that the user may know it by
	unit    string   // statistic or unit
	value   float64
	samples []float64 // value is their median, when there are any
	hidden  bool      // not a sub-score: found by name only
	counted bool      // how many samples there are belongs to the basis
}

const (
	maxSeries  = 20000
	maxSamples = 4096 // of one reading; more are summed up in their median only
	geomeanKey = "geomean"
)

// key is the series' name among the sub-scores and in messages.
func (s *suite) key(e series) string {
	if e.unit == s.usual {
		return e.name
	}
	return e.name + ":" + e.unit
}

// reading takes the metric out of the suite.
func (s *suite) reading(metric string) (Reading, *Fault) {
	if fault := s.check(); fault != nil {
		return Reading{}, fault
	}
	r := Reading{SubScores: map[string]float64{}}
	for _, e := range s.series {
		if !e.hidden {
			r.SubScores[s.key(e)] = e.value
		}
	}
	if len(r.SubScores) > maxSubScores {
		return Reading{}, parseFault("", "the output has more than %d values", maxSubScores)
	}
	if unit, ok := s.meanUnit(metric); ok {
		return s.mean(r, unit)
	}
	e, fault := s.one(metric)
	if fault != nil {
		return Reading{}, fault
	}
	return s.single(r, e), nil
}

// check refuses a suite in which a name stands for two things.
func (s *suite) check() *Fault {
	if len(s.series) == 0 {
		return parseFault("", "the output holds no benchmark")
	}
	seen := map[[2]string]bool{}
	for _, e := range s.series {
		id := [2]string{e.name, e.unit}
		if seen[id] {
			return parseFault("", "two benchmarks are called %s; give them different names", cleanLine(s.key(e)))
		}
		seen[id] = true
	}
	return nil
}

// meanUnit says whether the metric is a geometric mean, and of which unit.
func (s *suite) meanUnit(metric string) (unit string, ok bool) {
	switch metric {
	case geomeanKey:
		return s.usual, true
	case "", "primary":
		return s.usual, len(s.names(s.usual)) != 1
	}
	return strings.CutPrefix(metric, geomeanKey+":")
}

func (s *suite) names(unit string) (names []string) {
	for _, e := range s.series {
		if e.unit == unit {
			names = append(names, e.name)
		}
	}
	return names
}

func (s *suite) mean(r Reading, unit string) (Reading, *Fault) {
	var values []float64
	for _, e := range s.series {
		if e.unit == unit {
			values = append(values, e.value)
			r.Basis = append(r.Basis, s.basis(e))
		}
	}
	r.Metric = geomeanKey + ":" + unit
	if len(values) == 0 {
		return Reading{}, parseFault("", "no benchmark of the output has %s", unit)
	}
	score, ok := geomean(values)
	if !ok {
		return Reading{}, parseFault("", "the geometric mean of %s does not exist: a value is not above 0; name one benchmark as primary_metric", unit)
	}
	r.Score = score
	slices.Sort(r.Basis)
	return r, nil
}

func (s *suite) basis(e series) string {
	if !e.counted {
		return cleanLine(s.key(e))
	}
	return fmt.Sprintf("%s × %d", cleanLine(s.key(e)), len(e.samples))
}

func (s *suite) single(r Reading, e series) Reading {
	r.Metric, r.Score = s.key(e), e.value
	if len(e.samples) > 1 && len(e.samples) <= maxSamples {
		r.Samples = e.samples
	}
	if e.counted {
		r.Basis = []string{s.basis(e)}
	}
	return r
}

// one finds the series that the metric names. A name may itself hold a colon,
// so the whole text is tried as a name first.
func (s *suite) one(metric string) (series, *Fault) {
	if metric == "" || metric == "primary" {
		metric = s.names(s.usual)[0]
	}
	found := s.find(metric, s.usual)
	if i := strings.LastIndexByte(metric, ':'); i >= 0 && len(found) == 0 {
		found = s.find(metric[:i], metric[i+1:])
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return series{}, parseFault("", "no benchmark of the output is %q; there are %s", metric, s.listed())
	}
	return series{}, parseFault("", "%q means several benchmarks (%s, %s); name one fully", metric, cleanLine(found[0].name), cleanLine(found[1].name))
}

// find looks for a series by its name, and by its aliases when none has it.
func (s *suite) find(name, unit string) (found []series) {
	for _, e := range s.series {
		if e.name == name && e.unit == unit {
			return []series{e}
		}
		if e.unit == unit && slices.Contains(e.aliases, name) {
			found = append(found, e)
		}
	}
	return found
}

func (s *suite) listed() string {
	const shown = 8
	var keys []string
	for _, e := range s.series {
		if !e.hidden {
			keys = append(keys, cleanLine(s.key(e)))
		}
	}
	if len(keys) > shown {
		keys = append(keys[:shown], "…")
	}
	return strings.Join(keys, ", ")
}
