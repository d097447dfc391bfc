package survey

import (
	"path"
	"strings"

	"si/benchmark"
	"si/internal/lazyre"
	"si/track"
)

var (
	cppFile   = lazyre.New(`\.(?:cc|cpp|cxx)$`)
	gbench    = lazyre.New(`^\s*BENCHMARK\((\w+)\)`)
	cmakeExe  = lazyre.New(`(?i)^\s*add_executable\(\s*([\w.-]+)\s*(.*)$`)
	cmakeFile = lazyre.New(`(?:^|/)CMakeLists\.txt$`)
)

// googleBenchmarks are programs of Google Benchmark that CMake builds. Their
// table is read by an expression, as one benchmark's real time in nanoseconds.
func googleBenchmarks(i *index) (found []Finding) {
	for _, file := range i.match(cppFile) {
		hits := i.grep(file, gbench)
		if len(hits) == 0 {
			continue
		}
		target, lists := cmakeTarget(i, path.Base(file))
		if target == "" {
			continue
		}
		name := hits[0].groups[1]
		f := Finding{
			Tool: "Google Benchmark", File: file, Line: hits[0].line, Text: hits[0].text, Format: benchmark.FormatRegex,
			Metric: name, Direction: track.LowerIsBetter, Sure: Tool,
			Regex:  `^(?P<name>\w\S*)\s+(?P<value>[\d.]+) ns\s+[\d.]+ ns\s+\d+`,
			Sealed: []string{file, lists},
			Command: "cmake -S . -B build-bench -DCMAKE_BUILD_TYPE=Release >/dev/null && cmake --build build-bench --target " +
				quote(target) + " >/dev/null && $(find build-bench -type f -name " + quote(target) + " | head -n 1) --benchmark_color=false",
		}
		if len(hits) > 1 {
			f.Note = "the score is the time of " + name + ", the first of several: name another one as the metric if that matters more"
		}
		found = append(found, f)
	}
	return found
}

// cmakeTarget is the executable that is built from a source file.
func cmakeTarget(i *index, source string) (target, lists string) {
	for _, file := range i.match(cmakeFile) {
		for _, h := range i.grep(file, cmakeExe) {
			if strings.Contains(callUntilParen(i.text(file), h.line), source) {
				return h.groups[1], file
			}
		}
	}
	return "", ""
}

func callUntilParen(text string, line int) string {
	lines := strings.Split(text, "\n")
	rest := strings.Join(lines[min(line-1, len(lines)):min(line+20, len(lines))], "\n")
	call, _, _ := strings.Cut(rest, ")")
	return call
}
