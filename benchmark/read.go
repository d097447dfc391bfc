package benchmark

import (
	"fmt"
	"time"

	"si/internal/proc"
	"si/track"
)

// The oddities of a reading. They are fixed texts, without counts, so that a
// candidate's can be compared with the baseline's: what the baseline does too
// is how this benchmark is, anything else is a reason to refuse.
const (
	OddRepeated  = "the primary metric is printed more than once"
	OddTrailing  = "there is output after the primary metric"
	OddGap       = "the output was too long to keep whole"
	OddLongLine  = "a line was too long to read"
	OddMalformed = "a benchmark line could not be read"
	OddLeftovers = "processes outlived the command and were ended"
)

// Input is what a run left to read.
type Input struct {
	Stdout   proc.Captured
	Log      string // file with the start of standard output, "" for none
	LogMax   int64  // bytes of output that Log can hold
	Dir      string // the tree, for result files
	ExitCode int
	Since    time.Time // when the run began, by the clock of its file system; zero: not checked
}

// Reading is what a benchmark's output says.
type Reading struct {
	Metric    string // the name that the score goes by in the output
	Score     float64
	SubScores map[string]float64
	Samples   []float64 // when one run gives several; Score is their median

	// Basis names, sorted, what the score was computed from, where that is more
	// than a name: which benchmarks went into a mean and how often, which unit
	// was read. Scores with different bases cannot be compared.
	Basis []string
	Odd   []string // what looked odd, sorted; the Odd constants
}

// Fault is why a run gave no score.
type Fault struct {
	Category track.Category
	What     string
	Line     string // the offending line, cut and made printable; "" when there is none
}

func (f *Fault) String() string {
	if f.Line == "" {
		return f.What
	}
	return f.What + ": " + f.Line
}

// Analysis puts the fault into the form in which results keep it.
func (f *Fault) Analysis() track.FailureAnalysis {
	a := track.FailureAnalysis{What: f.String(), Category: f.Category}
	switch f.Category {
	case track.CategoryTimeout:
		a.Why, a.Lesson = "the command ran longer than its limit", "a change that makes the benchmark much slower, or hang, cannot be measured"
	case track.CategoryOOM:
		a.Why, a.Lesson = "the kernel or a limit killed the command, as it does when memory runs out", "keep the peak memory below that of the baseline"
	case track.CategoryParseError:
		a.Why, a.Lesson = "the output does not give one finite number for the metric", "leave what the benchmark prints as it is"
	case track.CategoryLogicError:
		a.Why, a.Lesson = "the command failed in the changed tree", "run the project's own tests before finishing"
	case track.CategoryRegression:
		a.Why, a.Lesson = "a guard or a sub-score became worse than its bound", "a gain may not be paid for by what the guards hold"
	case track.CategoryInfrastructure, track.CategoryScopeError, track.CategorySealed:
		a.Why, a.Lesson = "the measurement could not be taken", "not the change's fault; it can be tried again"
	}
	return a
}

func parseFault(line, format string, args ...any) *Fault {
	return &Fault{Category: track.CategoryParseError, What: fmt.Sprintf(format, args...), Line: cleanLine(line)}
}

// Read takes the score out of what a run left. It is called for runs that
// ended by themselves with exit code 0, and for pass_fail with any code.
// A failing command's output is never read: the caller looks at the code first.
func Read(spec Spec, in Input) (Reading, *Fault) {
	if spec.Format == FormatPassFail {
		return readPassFail(in), nil
	}
	if in.ExitCode != 0 {
		return Reading{}, &Fault{Category: track.CategoryLogicError, What: fmt.Sprintf("the command failed with exit code %d", in.ExitCode)}
	}
	r, fault := readFormat(spec, in)
	if fault != nil {
		return Reading{}, fault
	}
	if !finite(r.Score) {
		return Reading{}, parseFault("", "the score of %s is not a finite number", r.Metric)
	}
	r.Odd, r.SubScores = sortedSet(r.Odd), printable(r.SubScores)
	return r, nil
}

func readFormat(spec Spec, in Input) (Reading, *Fault) {
	switch spec.Format {
	case FormatCriterion:
		return readCriterion(spec, in)
	case FormatHyperfine:
		return readDocument(spec, in, parseHyperfine)
	case FormatPytest:
		return readDocument(spec, in, parsePytest)
	case FormatJSON:
		return readLines(spec, in, &jsonLines{metric: spec.Metric})
	case FormatNumber:
		return readLines(spec, in, &numberLines{metric: spec.Metric})
	case FormatGoBench:
		return readLines(spec, in, &goBench{metric: spec.Metric})
	case FormatRegex:
		m, err := newMetricLines(spec)
		if err != nil {
			return Reading{}, parseFault("", "si.benchmark.regex: %v", err)
		}
		return readLines(spec, in, m)
	case FormatPassFail:
	}
	return Reading{}, parseFault("", "the format %q is not known", spec.Format)
}

// readPassFail scores 1 for a pass and 0 for a failure. A failure is what this
// format measures, so it is a score here and nowhere else.
func readPassFail(in Input) Reading {
	r := Reading{Metric: "pass"}
	if in.ExitCode == 0 {
		r.Score = 1
	}
	return r
}

// printable are the sub-scores with names that can be shown: they come from the
// output, and go into documents, messages and charts.
func printable(subs map[string]float64) map[string]float64 {
	if len(subs) == 0 {
		return nil
	}
	clean := make(map[string]float64, len(subs))
	for name, v := range subs {
		clean[cleanLine(name)] = v
	}
	return clean
}
