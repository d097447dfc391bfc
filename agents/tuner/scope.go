package tuner

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"si/agents"
)

// scope says which files a task may read and edit.
type scope struct {
	in, out, sealed []string
}

func scopeOf(f agents.Facts) scope {
	return scope{in: patterns(f.Goal.InScope), out: patterns(f.Goal.OutScope), sealed: f.Sealed}
}

// patterns turns hand-written entries into patterns: what is in back-ticks, else
// the first word, since people write "src/ (the engine)".
func patterns(entries []string) []string {
	var out []string
	for _, e := range entries {
		if parts := strings.Split(e, "`"); len(parts) > 2 {
			for i := 1; i < len(parts); i += 2 {
				out = append(out, parts[i])
			}
			continue
		}
		if words := strings.Fields(e); len(words) > 0 {
			out = append(out, words[0])
		}
	}
	return out
}

// allows reports whether the file at p, relative and with slashes, may be edited.
// Without a word about the scope, everything may be that is not sealed. What
// forbids is read widely and what permits narrowly: a pattern that covers a
// folder forbids all below it, and on a file system that folds case a sealed
// file has more than one name.
func (s scope) allows(p string) bool {
	for _, e := range slices.Concat(s.sealed, s.out) {
		e = strings.ToLower(clean(e))
		for at := strings.ToLower(p); at != "."; at = path.Dir(at) {
			if matches(e, at) {
				return false
			}
		}
	}
	return len(s.in) == 0 || slices.ContainsFunc(s.in, func(e string) bool { return matches(clean(e), p) })
}

// names reports whether the scope lists this very file, which then counts also
// where its name alone would have ruled it out.
func (s scope) names(p string) bool {
	return slices.ContainsFunc(s.in, func(e string) bool { return clean(e) == p })
}

// matches reports whether pattern (a path, a folder, or a doublestar glob) covers p.
func matches(pattern, p string) bool {
	if pattern == "." || pattern == p || strings.HasPrefix(p, pattern+"/") {
		return true
	}
	ok, err := doublestar.Match(pattern, p)
	return err == nil && ok
}

func clean(pattern string) string {
	return path.Clean(strings.TrimPrefix(strings.TrimSpace(strings.ReplaceAll(pattern, `\`, "/")), "./"))
}

// skippedFolder reports whether nothing below a folder of this name is worth
// searching: not the project's own, or not what the benchmark measures.
func skippedFolder(name string) bool {
	switch strings.ToLower(name) {
	case "vendor", "node_modules", "third_party", "thirdparty", "external", "dist", "build", "target", "out",
		"testdata", "test", "tests", "__tests__", "spec", "fixtures", "__pycache__", "site-packages", "venv",
		"bench", "benches", "benchmark", "benchmarks", "docs", "doc":
		return true
	}
	return strings.HasPrefix(name, ".")
}

// skippedFile reports whether a file's name says that its numbers are not for
// tuning: dependencies, what is generated, tests, and whatever measures. A number
// in a benchmark changes the score without changing the program.
func skippedFile(name string) bool {
	name = strings.ToLower(name)
	switch name {
	case "go.mod", "go.sum", "go.work", "package.json", "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml",
		"tsconfig.json", "composer.json", "pyproject.toml", "setup.cfg", "setup.py", "tox.ini", "pytest.ini", "conftest.py",
		"makefile", "gnumakefile", "cmakelists.txt", "build.rs":
		return true
	}
	stem, _, _ := strings.Cut(name, ".")
	for _, part := range splitWords(stem) {
		switch part {
		case "test", "tests", "bench", "benchmark", "eval", "score", "spec", "license", "licence", "changelog", "lock", "generated":
			return true
		}
	}
	return strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".lock") || strings.Contains(name, ".min.") ||
		strings.HasSuffix(name, ".pb.go") || strings.Contains(name, ".test.") || strings.Contains(name, ".spec.")
}
