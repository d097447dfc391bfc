package survey

import (
	"path"
	"strings"

	"si/benchmark"
	"si/internal/lazyre"
	"si/track"
)

var (
	pyTestFile = lazyre.New(`(?:^|/)(?:test_[^/]*|[^/]*_test|bench_[^/]*|[^/]*_bench)\.py$`)
	// A test that asks for the fixture of pytest-benchmark.
	pyBenchTest = lazyre.New(`^\s*(?:async )?def (test_\w+)\(.*\bbenchmark\b`)
)

// resultPytest is where the run leaves its document: an ignored-looking name
// that no repository tracks.
const resultPytest = ".si-pytest.json"

// pytests are the tests that use pytest-benchmark.
func pytests(i *index) []Finding {
	f := Finding{
		Tool: "pytest-benchmark", Format: benchmark.FormatPytest, Direction: track.LowerIsBetter, Sure: Tool,
		Metric: "geomean", ResultFiles: []string{resultPytest},
	}
	var files, names []string
	for _, file := range i.match(pyTestFile) {
		hits := i.grep(file, pyBenchTest)
		for _, h := range hits {
			names = append(names, file+"::"+h.groups[1])
		}
		if len(hits) > 0 {
			if f.File == "" {
				f.File, f.Line, f.Text = hits[0].file, hits[0].line, hits[0].text
			}
			files = append(files, file)
		}
	}
	if len(files) == 0 {
		return nil
	}
	if len(names) == 1 && !strings.Contains(i.text(files[0]), "parametrize") {
		f.Metric = names[0]
	}
	var words []string
	for _, file := range files {
		words = append(words, quote(file))
		f.Sealed = append(f.Sealed, file)
	}
	const most = 6 // beyond, pytest finds them itself
	if len(words) > most {
		words = []string{quote(path.Dir(files[0]))}
	}
	f.Command = "python3 -m pytest -q -p no:cacheprovider --benchmark-only --benchmark-json=" + resultPytest + " " + strings.Join(words, " ")
	for _, p := range []string{"conftest.py", "pytest.ini", "setup.cfg", "tox.ini", "pyproject.toml"} {
		if i.files[p] && (p != "pyproject.toml" || strings.Contains(i.text(p), "[tool.pytest")) && (p != "setup.cfg" || strings.Contains(i.text(p), "[tool:pytest")) {
			f.Sealed = append(f.Sealed, p)
		}
	}
	return []Finding{f}
}
