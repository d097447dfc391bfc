package survey

import (
	"path"
	"strings"

	"si/benchmark"
	"si/internal/lazyre"
	"si/track"
)

var (
	cargoFile   = lazyre.New(`(?:^|/)Cargo\.toml$`)
	cargoBench  = lazyre.New(`^\s*\[\[bench\]\]`)
	cargoName   = lazyre.New(`^\s*name\s*=\s*"([^"]+)"`)
	cargoNext   = lazyre.New(`^\s*\[`)
	criterionIn = lazyre.New(`\bcriterion\b`)
	nightly     = lazyre.New(`^\s*#\[bench\]`)
)

// cargoBenches are criterion's benchmarks, which each Cargo.toml lists, and
// those of the built-in harness.
func cargoBenches(i *index) (found []Finding) {
	for _, file := range i.match(cargoFile) {
		dir := path.Dir(file)
		text := i.text(file)
		benches := benchTargets(i, file)
		if len(benches) > 0 && criterionIn.MatchString(text) {
			found = append(found, criterionFinding(i, dir, benches))
		}
	}
	return append(found, nightlyBenches(i)...)
}

// benchTargets are the [[bench]] sections with their names.
func benchTargets(i *index, file string) (targets []hit) {
	open := hit{}
	n := 0
	for line := range strings.Lines(i.text(file)) {
		n++
		switch {
		case cargoBench.MatchString(line):
			open = hit{file: file, line: n, text: shown(line)}
		case cargoNext.MatchString(line):
			open = hit{}
		case open.line > 0 && cargoName.MatchString(line):
			open.groups = cargoName.FindStringSubmatch(line)
			targets = append(targets, open)
			open = hit{}
		}
	}
	return targets
}

func criterionFinding(i *index, dir string, benches []hit) Finding {
	f := Finding{
		Tool: "cargo bench (criterion)", File: benches[0].file, Line: benches[0].line, Text: benches[0].text + " " + shown(benches[0].groups[0]),
		Format: benchmark.FormatCriterion, Metric: "geomean", Direction: track.LowerIsBetter, Sure: Tool,
		Sealed: []string{joinDir(dir, "Cargo.toml")},
	}
	if dir != "." { // criterion writes below the workspace's target folder
		f.ResultFiles = []string{"target/criterion/**/new/benchmark.json", "target/criterion/**/new/estimates.json", dir + "/target/criterion/**/new/benchmark.json", dir + "/target/criterion/**/new/estimates.json"}
	}
	command := "cargo bench"
	for _, b := range benches {
		command += " --bench " + quote(b.groups[1])
	}
	f.Command, f.Setup = inDir(dir, command), inDir(dir, command+" --no-run")
	if benchDir := joinDir(dir, "benches/"); i.dirs[benchDir] {
		f.Sealed = append(f.Sealed, benchDir)
	}
	if src := joinDir(dir, "src/"); i.dirs[src] {
		f.Scope = []string{src + "**"}
	}
	return f
}

// nightlyBenches are functions with #[bench]; they need a nightly compiler.
func nightlyBenches(i *index) []Finding {
	for _, file := range i.match(lazyre.New(`\.rs$`)) {
		h, ok := i.first(file, nightly)
		if !ok {
			continue
		}
		f := Finding{
			Tool: "cargo bench", File: h.file, Line: h.line, Text: h.text, Command: "cargo +nightly bench", Format: benchmark.FormatRegex,
			Direction: track.LowerIsBetter, Sure: Guess, Regex: `bench:\s+(?P<value>\d+)(?:\.\d+)? ns/iter`, Metric: "ns_per_iter",
			Note: "the built-in harness needs a nightly compiler, and its times of 1,000 ns and more cannot be read: criterion can",
		}
		if i.dirs["benches/"] {
			f.Sealed = []string{"benches/"}
		}
		return []Finding{f}
	}
	return nil
}
