// Package benchmark runs a benchmark command and reads its result, and holds
// the seals and guards around it. It promises that a number is reported only
// when the command ended well and its output says exactly one finite number
// for the metric, that what a benchmark prints is never trusted beyond that,
// and that what looked odd on the way is told. It knows no git and judges no
// candidate: package duel decides, the loop joins the two.
package benchmark

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"si/track"

	"github.com/bmatcuk/doublestar/v4"
)

// Format says how a benchmark's output is read.
type Format string

// The formats. The first three are the contract's, the rest those of tools.
const (
	FormatJSON      Format = "json"
	FormatNumber    Format = "number"
	FormatPassFail  Format = "pass_fail"
	FormatGoBench   Format = "gobench"
	FormatHyperfine Format = "hyperfine"
	FormatPytest    Format = "pytest-benchmark"
	FormatCriterion Format = "criterion"
	FormatRegex     Format = "regex"
)

// criterionFiles is where criterion writes when settings name no files.
var criterionFiles = []string{
	"target/criterion/**/new/benchmark.json",
	"target/criterion/**/new/estimates.json",
}

// Spec is a benchmark: what to run and how to read what it gives.
type Spec struct {
	Command     string
	Format      Format
	Metric      string // for suites: "name", "name:statistic" or "name:unit", "geomean[:unit]"; see suite
	Direction   track.Direction
	ResultFiles []string // slash paths or globs below the tree; read instead of standard output
	ResultFD    bool     // the result is written to descriptor 3, not to standard output
	Regex       string   // with the group "value", and "name" when it finds several metrics
}

// SpecOf takes the benchmark out of the settings of a track. Its error joins
// everything that is wrong, each with its key.
func SpecOf(s track.Settings) (Spec, error) {
	spec := Spec{
		Command: s.BenchmarkCommand, Format: Format(s.BenchmarkFormat), Metric: s.PrimaryMetric,
		Direction: s.BenchmarkDirection, ResultFiles: s.SI.Benchmark.ResultFiles, Regex: s.SI.Benchmark.Regex, ResultFD: s.SI.Benchmark.ResultFD,
	}
	if spec.Format == FormatCriterion && len(spec.ResultFiles) == 0 {
		spec.ResultFiles = slices.Clone(criterionFiles)
	}
	faults := slices.Concat(commandFaults(spec), formatFaults(spec), resultFileFaults(spec.ResultFiles), EnvFaults(s.SI.Measure.Env))
	return spec, errors.Join(faults...)
}

func commandFaults(s Spec) (faults []error) {
	if strings.TrimSpace(s.Command) == "" {
		faults = append(faults, errors.New("benchmark_command: is empty; give the shell command that measures the tree"))
	}
	if strings.ContainsRune(s.Command, 0) {
		faults = append(faults, errors.New("benchmark_command: holds a NUL byte; remove it"))
	}
	return faults
}

func formatFaults(s Spec) (faults []error) {
	add := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if !slices.Contains(track.Formats(), string(s.Format)) {
		add("benchmark_format: %q is not known; use one of %s", s.Format, strings.Join(track.Formats(), ", "))
	}
	if s.Direction != track.HigherIsBetter && s.Direction != track.LowerIsBetter {
		add("benchmark_direction: %q is not known; use %s or %s", s.Direction, track.HigherIsBetter, track.LowerIsBetter)
	}
	if s.Format == FormatPassFail && s.Direction == track.LowerIsBetter {
		add("benchmark_direction: pass_fail gives 1 for a pass and 0 for a failure; use %s", track.HigherIsBetter)
	}
	if s.Format == FormatJSON && s.Metric == "" {
		add("primary_metric: is empty; name the key that holds the score")
	}
	if s.Format == FormatPassFail && len(s.ResultFiles) > 0 {
		add("si.benchmark.result_files: pass_fail reads the exit code only; remove them")
	}
	return append(faults, regexFaults(s)...)
}

func regexFaults(s Spec) (faults []error) {
	if s.Regex == "" {
		if s.Format == FormatRegex && s.Metric == "" {
			faults = append(faults, errors.New("primary_metric: is empty; name the metric that the lines give"))
		}
		return faults
	}
	if s.Format != FormatRegex {
		return append(faults, fmt.Errorf("si.benchmark.regex: has no use with the format %s; remove it or set benchmark_format to regex", s.Format))
	}
	re, err := regexp.Compile(s.Regex)
	if err != nil {
		return append(faults, fmt.Errorf("si.benchmark.regex: %w; correct it", err))
	}
	if re.SubexpIndex("value") < 0 {
		faults = append(faults, errors.New("si.benchmark.regex: has no group named value; write (?P<value>…) around the number"))
	}
	return faults
}

// resultFileFaults checks the patterns of result files: they are slash paths
// below the tree, and not below .git.
func resultFileFaults(patterns []string) (faults []error) {
	for _, p := range patterns {
		if what := pathFault(p); what != "" {
			faults = append(faults, fmt.Errorf("si.benchmark.result_files: %q %s", p, what))
		} else if !doublestar.ValidatePattern(p) {
			faults = append(faults, fmt.Errorf("si.benchmark.result_files: %q is not a valid pattern; correct it", p))
		}
	}
	return faults
}

// pathFault says what is wrong with a slash path that has to lie below a tree,
// empty when nothing is.
func pathFault(p string) string {
	parts := strings.Split(p, "/")
	switch {
	case p == "" || p == "." || p == "/":
		return "names no file; name one below the tree"
	case strings.ContainsRune(p, 0):
		return "holds a NUL byte; remove it"
	case strings.HasPrefix(p, "/"):
		return "is absolute; write it relative to the tree"
	case slices.Contains(parts, ".."):
		return "leads out of the tree; remove the .. in it"
	case slices.ContainsFunc(parts, isGitDir):
		return "lies in .git; name a file of the tree"
	}
	return ""
}

func isGitDir(part string) bool { return strings.EqualFold(part, ".git") }
