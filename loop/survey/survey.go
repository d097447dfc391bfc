// Package survey looks for the benchmarks that a repository already has, and
// says of each how to run it, how its output is read and what to seal. It reads
// the files of one commit and runs nothing. What it finds is a guess that is
// offered to a person and then proved by three runs; that it names a file and a
// line is what makes the guess checkable.
package survey

import (
	"cmp"
	"slices"

	"si/benchmark"
	"si/track"
)

// Finding is a benchmark that the repository seems to have.
type Finding struct {
	Tool        string // what runs it, such as "go test -bench"
	File        string // where it was seen
	Line        int    // from 1; 0 when the file itself is what was seen
	Text        string // that line, made harmless
	Command     string // for the shell, from the top of the repository
	Setup       string // builds what the command runs, once in each new tree; "" when there is nothing to build
	Format      benchmark.Format
	Metric      string
	Direction   track.Direction
	Regex       string   // for the format regex
	ResultFiles []string // where the command leaves its result
	Sealed      []string // what the benchmark is made of, in the form of sealed_files
	Scope       []string // what it seems to measure, in the form of goal.md's scope
	Note        string   // what a person should know before taking it; may be ""
	Sure        Sureness

	whole bool // Sealed is all that there is to seal
}

// Sureness orders findings: the author's own words come first.
type Sureness int

// From a guess to what the author wrote down and can be read as it stands.
const (
	Guess  Sureness = iota // how it prints its result is not known
	Tool                   // a benchmark of a tool whose format is known
	Author                 // an entry point of the author's whose output can be read
)

// Report is what a repository tells of itself.
type Report struct {
	Findings []Finding // the best first
	Claims   []Claim
	Tests    []Test   // commands that guard a change
	Scope    []string // where the source lies, as far as folders tell
	Main     string   // the language most files are in, "" when none is known
}

// Claim is a sentence of the README about a number.
type Claim struct {
	File string
	Line int
	Text string
}

// Test is a command that checks the program.
type Test struct {
	Command string
	File    string
}

// maxFindings bounds what a person is shown.
const maxFindings = 12

// Look surveys a tree.
func Look(t Tree) Report {
	i := newIndex(t)
	var all []Finding
	for _, detect := range []func(*index) []Finding{
		scripts, makeTargets, nodeScripts, hyperfines, goBenchmarks, pytests, cargoBenches, googleBenchmarks, jmhBenchmarks,
	} {
		all = append(all, detect(i)...)
	}
	slices.SortStableFunc(all, func(a, b Finding) int { return cmp.Compare(b.Sure, a.Sure) })
	r := Report{Claims: claims(i), Tests: tests(i), Scope: sourceFolders(i), Main: i.language()}
	seen := map[string]bool{}
	for _, f := range all {
		if seen[f.Command] || !printable(f.Command) || len(r.Findings) == maxFindings {
			continue
		}
		seen[f.Command] = true
		if len(f.Scope) == 0 {
			f.Scope = r.Scope
		}
		f.Sealed = seals(i, f)
		r.Findings = append(r.Findings, f)
	}
	return r
}

// seals are what the finding names itself and what the command reads, without
// what it measures.
func seals(i *index, f Finding) []string {
	out := slices.Clone(f.Sealed)
	if f.whole {
		return out
	}
	for _, p := range benchmark.ProposeSeals(f.Command, i.exists, i.raw) {
		measured := p.From != "" && within(f.Scope, p.Path)
		if !measured && !slices.Contains(out, p.Path) && !covered(out, p.Path) && !slices.Contains(f.ResultFiles, p.Path) {
			out = append(out, p.Path)
		}
	}
	return out
}
