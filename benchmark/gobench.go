package benchmark

import (
	"bytes"
	"slices"
	"strings"

	"si/internal/lazyre"

	"golang.org/x/perf/benchfmt"
)

const (
	maxGoLine  = 60 << 10 // benchfmt reads lines up to 64 KiB and stops at longer ones
	maxGoInput = 16 << 20
)

// procsSuffix is the -N that go test appends when GOMAXPROCS is not 1.
var procsSuffix = lazyre.New(`-\d+$`)

// goBench reads the format gobench: the output of go test -bench, by benchfmt.
// Values and units are as go test prints them (ns/op); benchfmt's tidied units
// (sec/op) are found by name too. A benchmark that was run several times
// (-count) has the median as its value.
type goBench struct {
	metric string
	kept   bytes.Buffer // the lines that matter, of all that the run printed
	long   bool
	full   bool
}

func (g *goBench) line(text string) {
	if !strings.HasPrefix(text, "Benchmark") && !strings.HasPrefix(text, "pkg:") {
		return
	}
	switch {
	case len(text) > maxGoLine:
		g.long = true
	case g.kept.Len()+len(text) > maxGoInput:
		g.full = true
	default:
		g.kept.WriteString(text)
		g.kept.WriteByte('\n')
	}
}

// goKey tells the series of go test apart.
type goKey struct{ pkg, name, unit string }

// goRun collects the values while the lines go by.
type goRun struct {
	order   []goKey
	samples map[goKey][]float64
	tidied  map[goKey]bool
	bad     []string // lines that are no benchmark results though they begin like some
}

func (g *goBench) finish() (Reading, *Fault) {
	if g.full {
		return Reading{}, parseFault("", "the output has more than %d MiB of benchmark lines", maxGoInput>>20)
	}
	lines := strings.Split(g.kept.String(), "\n")
	run := &goRun{samples: map[goKey][]float64{}, tidied: map[goKey]bool{}}
	if fault := run.read(&g.kept, lines); fault != nil {
		return Reading{}, fault
	}
	if len(run.order) == 0 {
		bad := ""
		if len(run.bad) > 0 {
			bad = run.bad[0]
		}
		return Reading{}, parseFault(bad, "the output has no line of go test -bench that can be read")
	}
	s := run.suite()
	r, fault := s.reading(g.metric)
	if fault != nil {
		if len(run.bad) > 0 { // most likely the line that is missed
			fault.Line = cleanLine(run.bad[0])
		}
		return Reading{}, fault
	}
	if strings.HasPrefix(r.Metric, geomeanKey+":") && len(run.bad) > 0 {
		return Reading{}, parseFault(run.bad[0], "a benchmark line cannot be read, so the mean of all benchmarks is not known; does the benchmark print something itself?")
	}
	if g.long {
		r.Odd = append(r.Odd, OddLongLine)
	}
	if len(run.bad) > 0 {
		r.Odd = append(r.Odd, OddMalformed)
	}
	return r, nil
}

func (run *goRun) read(kept *bytes.Buffer, lines []string) *Fault {
	reader := benchfmt.NewReader(kept, "output")
	for reader.Scan() {
		switch rec := reader.Result().(type) {
		case *benchfmt.Result:
			_, at := rec.Pos()
			if what := run.add(rec); what != "" {
				return parseFault(lines[at-1], "%s", what)
			}
		case *benchfmt.SyntaxError:
			_, at := rec.Pos()
			run.bad = append(run.bad, lines[at-1])
		}
	}
	if err := reader.Err(); err != nil {
		return parseFault("", "the output could not be read: %v", err)
	}
	return nil
}

func (run *goRun) add(rec *benchfmt.Result) (what string) {
	pkg, name := rec.GetConfig("pkg"), string(rec.Name)
	for _, v := range rec.Values {
		if !finite(v.Value) || (v.OrigUnit != "" && !finite(v.OrigValue)) {
			return "the value in " + cleanLine(v.Unit) + " is not a finite number"
		}
		run.sample(goKey{pkg, name, v.Unit}, v.Value, v.OrigUnit != "")
		if v.OrigUnit != "" {
			run.sample(goKey{pkg, name, v.OrigUnit}, v.OrigValue, false)
		}
		if len(run.order) > maxSeries {
			return "there are too many benchmarks"
		}
	}
	return ""
}

func (run *goRun) sample(k goKey, v float64, tidied bool) {
	if _, ok := run.samples[k]; !ok {
		run.order, run.tidied[k] = append(run.order, k), tidied
	}
	run.samples[k] = append(run.samples[k], v)
}

// suite names each series as briefly as is unambiguous: without the -N where
// only one number of processors ran, and with its package where two packages
// have benchmarks of one name.
func (run *goRun) suite() *suite {
	variants, pkgs := map[[2]string][]string{}, map[string][]string{}
	for _, k := range run.order {
		base := procsSuffix.ReplaceAllString(k.name, "")
		variants[[2]string{k.pkg, base}] = addOnce(variants[[2]string{k.pkg, base}], k.name)
		pkgs[base] = addOnce(pkgs[base], k.pkg)
	}
	s := &suite{usual: "ns/op"}
	for _, k := range run.order {
		base := procsSuffix.ReplaceAllString(k.name, "")
		name, aliases := k.name, []string{"Benchmark" + k.name, k.pkg + "." + k.name}
		if len(variants[[2]string{k.pkg, base}]) == 1 {
			name, aliases = base, append(aliases, k.name, "Benchmark"+base, k.pkg+"."+base)
		}
		if len(pkgs[base]) > 1 {
			aliases = append(aliases, name) // found only when nothing else is called so
			name = k.pkg + "." + name
		}
		samples := run.samples[k]
		s.series = append(s.series, series{
			name: name, aliases: aliases, unit: k.unit, value: median(samples),
			samples: samples, hidden: run.tidied[k], counted: true,
		})
	}
	return s
}

func addOnce(list []string, text string) []string {
	if slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}
