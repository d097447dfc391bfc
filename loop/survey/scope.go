package survey

import (
	"path"
	"slices"
	"strings"
)

// languages by the extension of their files.
var languages = map[string]string{
	".go": "Go", ".py": "Python", ".rs": "Rust", ".js": "JavaScript", ".mjs": "JavaScript", ".ts": "TypeScript", ".java": "Java",
	".kt": "Kotlin", ".scala": "Scala", ".c": "C", ".h": "C", ".cc": "C++", ".cpp": "C++", ".hpp": "C++", ".rb": "Ruby", ".sh": "shell",
	".zig": "Zig", ".jl": "Julia", ".lua": "Lua", ".php": "PHP", ".ml": "OCaml", ".hs": "Haskell", ".swift": "Swift", ".R": "R",
}

// notSource are folders that check or show the program.
var notSource = []string{"test", "tests", "bench", "benches", "benchmark", "benchmarks", "examples", "example", "docs", "doc", "scripts", "ci", ".github", "data", "testdata", "fixtures"}

// language is the one that most files are in.
func (i *index) language() string {
	counts := map[string]int{}
	for _, p := range i.paths {
		if l := languages[path.Ext(p)]; l != "" {
			counts[l]++
		}
	}
	best := ""
	for l, n := range counts {
		if n > counts[best] || n == counts[best] && (best == "" || l < best) {
			best = l
		}
	}
	return best
}

// sourceFolders are where the program lies: the usual folders, else those at the
// top that hold source, else the source at the top itself.
func sourceFolders(i *index) []string {
	if i.language() == "Go" { // packages lie anywhere
		return []string{"**/*.go"}
	}
	var out []string
	for _, dir := range []string{"src/", "lib/", "pkg/", "internal/"} {
		if i.dirs[dir] {
			out = append(out, dir+"**")
		}
	}
	if len(out) > 0 {
		return out
	}
	top := false
	for _, p := range i.paths {
		if languages[path.Ext(p)] == "" {
			continue
		}
		dir, _, below := strings.Cut(p, "/")
		switch {
		case !below:
			top = top || !scriptName.MatchString(p) && !goTestFile.MatchString(p)
		case !slices.Contains(notSource, strings.ToLower(dir)) && !slices.Contains(out, dir+"/**"):
			out = append(out, dir+"/**")
		}
	}
	if len(out) == 0 && !top && i.dirs["bin/"] { // programs without an extension
		out = append(out, "bin/**")
	}
	const most = 6
	if len(out) > most {
		return []string{"**"}
	}
	if top {
		out = append(out, "*")
	}
	return out
}
