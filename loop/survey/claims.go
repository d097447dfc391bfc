package survey

import (
	"path"
	"slices"
	"strings"

	"si/internal/lazyre"
)

var (
	readmeFile = lazyre.New(`(?i)^(?:docs/)?(?:readme|benchmarks?|performance)\.(?:md|rst|txt|adoc)$`)
	numberWith = lazyre.New(`\d[\d.,]*\s*(?:x\b|×|%|ns\b|µs|us\b|ms\b|s\b|seconds?\b|(?:k|M|G)?i?B/s|(?:ops|req|requests|rows|tokens|iterations)[ /]|MB\b|KB\b|GB\b)`)
	claimWord  = lazyre.New(`(?i)\b(?:fast\w*|slow\w*|latency|throughput|speed\w*|benchmark\w*|accura\w+|memory|performance|ops|per second|takes?|score\w*|f1|loss|perplexity)\b`)
)

// claims are the README's sentences about numbers: a goal may begin there.
func claims(i *index) (found []Claim) {
	const most = 6
	for _, file := range i.match(readmeFile) {
		for _, h := range i.grep(file, numberWith) {
			if claimWord.MatchString(h.text) && len(found) < most {
				found = append(found, Claim{h.file, h.line, strings.Trim(h.text, "#*->| ")})
			}
		}
	}
	return found
}

// tests are the commands that a project of this kind checks itself with.
func tests(i *index) (found []Test) {
	add := func(file, command string) { found = append(found, Test{command, file}) }
	if i.files["go.mod"] && len(i.match(goTestFile)) > 0 {
		add("go.mod", "go test ./...")
	}
	if i.files["Cargo.toml"] {
		add("Cargo.toml", "cargo test --quiet")
	}
	if slices.ContainsFunc(i.paths, func(p string) bool { return strings.HasPrefix(path.Base(p), "test_") && path.Ext(p) == ".py" }) {
		add("tests", "python3 -m pytest -q -p no:cacheprovider")
	}
	if strings.Contains(i.text("package.json"), `"test"`) && !strings.Contains(i.text("package.json"), "no test specified") {
		add("package.json", "npm test --silent")
	}
	if h, ok := i.first("Makefile", lazyre.New(`^(?:test|check)\s*:(?:[^=]|$)`)); ok && len(found) == 0 {
		add("Makefile", "make -s "+strings.TrimSpace(strings.SplitN(h.text, ":", 2)[0]))
	}
	return found
}
