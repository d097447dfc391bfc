package survey

import (
	"path"
	"strings"

	"si/benchmark"
	"si/internal/lazyre"
	"si/track"
)

var (
	makeFile   = lazyre.New(`(?:^|/)(?:GNUmakefile|[Mm]akefile)$`)
	justFile   = lazyre.New(`(?:^|/)\.?[Jj]ustfile$`)
	makeTarget = lazyre.New(`^((?:run-)?(?:bench|benchmark|benchmarks|perf|eval|evaluate|score))\s*:(?:[^=]|$)`)
	// A program of the repository that a recipe runs.
	recipeFile = lazyre.New(`(?:\./)?[\w.-]+(?:/[\w.-]+)*\.(?:py|sh|bash|js|mjs|rb|pl|lua|jl|R|c|cc|cpp|go)\b`)
	goTestCall = lazyre.New(`\bgo test\b.*-bench\b`)
	recipeTool = lazyre.New(`\b(benchstat|tee|hyperfine|criterion|cargo bench|pytest)\b`)
)

// makeTargets are the targets of a Makefile or justfile that are named as
// benchmarks.
func makeTargets(i *index) (found []Finding) {
	for _, kind := range []struct {
		file *lazyre.Regexp
		call string
	}{{makeFile, "make -s "}, {justFile, "just --quiet "}} {
		for _, file := range i.match(kind.file) {
			for _, h := range i.grep(file, makeTarget) {
				f := Finding{
					Tool: strings.Fields(kind.call)[0] + " " + h.groups[1], File: h.file, Line: h.line, Text: h.text,
					Command: inDir(path.Dir(file), kind.call+h.groups[1]), Sealed: []string{file},
				}
				found = append(found, ofRecipe(i, f, recipe(i.text(file), h.line)))
			}
		}
	}
	return found
}

// recipe is the indented lines below a target.
func recipe(text string, line int) []string {
	lines := strings.Split(text, "\n")
	var out []string
	for _, l := range lines[min(line, len(lines)):] {
		if strings.TrimSpace(l) != "" && !strings.HasPrefix(l, "\t") && !strings.HasPrefix(l, " ") {
			break
		}
		out = append(out, strings.TrimSpace(l))
	}
	return out
}

// ofRecipe completes a target by what its recipe runs.
func ofRecipe(i *index, f Finding, lines []string) Finding {
	text := strings.Join(lines, "\n")
	if goTestCall.MatchString(text) && !strings.Contains(text, "benchstat") {
		f.Format, f.Metric, f.Direction, f.Sure = benchmark.FormatGoBench, "geomean", track.LowerIsBetter, Author
		for _, p := range goPackages(i) {
			f.Sealed = append(f.Sealed, joinDir(p.dir, "*_test.go"))
			f.Scope = append(f.Scope, joinDir(p.dir, "*.go"))
		}
		return f
	}
	if recipeTool.MatchString(text) { // found by its own detector, with its format
		f = entry(i, f, "")
		return f
	}
	dir := path.Dir(f.File)
	var last Finding
	for _, name := range recipeFile.FindAllString(text, 20) {
		file := path.Join(dir, name)
		if !i.files[file] {
			continue
		}
		f.Sealed = append(f.Sealed, file)
		if last = entry(i, f, file); last.Sure == Author {
			return last
		}
	}
	return ofSources(i, f)
}

// benchSource is a program that is named as a benchmark, whose binary a recipe
// may run.
var benchSource = lazyre.New(`(?i)(?:^|/)(?:bench|benchmark)s?(?:[_-]?main)?\.(?:c|cc|cpp|cxx|zig|rs|go|hs|ml)$`)

func ofSources(i *index, f Finding) Finding {
	for _, file := range i.match(benchSource) {
		g := f
		g.Sealed = append(g.Sealed[:len(g.Sealed):len(g.Sealed)], file)
		if g = entry(i, g, file); g.Sure == Author {
			return g
		}
	}
	return entry(i, f, "")
}
