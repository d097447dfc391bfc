package survey_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"si/benchmark"
	"si/loop/survey"
	"si/track"
)

// repository is the tree of an archive below testdata.
func repository(t *testing.T, name string) survey.Tree {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, f := range a.Files {
		files[f.Name] = f.Data
	}
	return treeOf(files)
}

func treeOf(files map[string][]byte) survey.Tree {
	t := survey.Tree{Read: func(p string) ([]byte, bool) { d, ok := files[p]; return d, ok }}
	for p := range files {
		t.Paths = append(t.Paths, p)
	}
	slices.Sort(t.Paths)
	return t
}

// TestFirstOffer holds what is offered first in ten repositories, one of each
// ecosystem.
func TestFirstOffer(t *testing.T) {
	cases := []struct {
		name string
		want survey.Finding
	}{
		{"go-lexer", survey.Finding{
			File: "lexer_test.go", Line: 17, Command: "go test -run '^$' -bench . . ./index", Format: benchmark.FormatGoBench, Metric: "geomean",
			Direction: track.LowerIsBetter, Sealed: []string{"*_test.go", "index/*_test.go"}, Scope: []string{"*.go", "index/*.go"},
		}},
		{"python-pytest", survey.Finding{
			File: "tests/test_speed.py", Line: 6, Format: benchmark.FormatPytest, Metric: "geomean", Direction: track.LowerIsBetter,
			Command:     "python3 -m pytest -q -p no:cacheprovider --benchmark-only --benchmark-json=.si-pytest.json tests/test_speed.py",
			ResultFiles: []string{".si-pytest.json"}, Sealed: []string{"tests/test_speed.py", "pyproject.toml", "tests/conftest.py"}, Scope: []string{"src/**"},
		}},
		{"python-eval", survey.Finding{
			File: "eval.py", Line: 29, Command: "python3 eval.py", Format: benchmark.FormatJSON, Metric: "accuracy", Direction: track.HigherIsBetter,
			Sealed: []string{"eval.py", "data/heldout.tsv", "data/train.tsv"}, Scope: []string{"spam/**", "*"},
		}},
		{"rust-criterion", survey.Finding{
			File: "Cargo.toml", Line: 11, Command: "cargo bench --bench edit", Format: benchmark.FormatCriterion, Metric: "geomean",
			Direction: track.LowerIsBetter, Sealed: []string{"Cargo.toml", "benches/"}, Scope: []string{"src/**"},
		}},
		{"shell-hyperfine", survey.Finding{
			File: "scripts/bench.sh", Line: 6, Command: "bash scripts/bench.sh", Format: benchmark.FormatHyperfine, Metric: "geomean",
			Direction: track.LowerIsBetter, ResultFiles: []string{"bench-result.json"}, Sealed: []string{"scripts/bench.sh", "scripts/make-log.sh"},
			Scope: []string{"bin/**"},
		}},
		{"node-json", survey.Finding{
			File: "package.json", Line: 8, Command: "npm run --silent bench", Format: benchmark.FormatJSON, Metric: "ops_per_sec",
			Direction: track.HigherIsBetter, Sealed: []string{"package.json", "bench/index.mjs"}, Scope: []string{"src/**"},
		}},
		{"make-c", survey.Finding{
			File: "Makefile", Line: 13, Command: "make -s bench", Format: benchmark.FormatRegex, Metric: "hashes_per_second",
			Direction: track.HigherIsBetter, Sealed: []string{"Makefile", "bench/bench.c", "test/test.c"}, Scope: []string{"src/**"},
		}},
		{"cpp-googlebench", survey.Finding{
			File: "benchmarks/ring_bench.cpp", Line: 8, Format: benchmark.FormatRegex, Metric: "BM_Push", Direction: track.LowerIsBetter,
			Command: "cmake -S . -B build-bench -DCMAKE_BUILD_TYPE=Release >/dev/null && cmake --build build-bench --target ring_bench >/dev/null && " +
				"$(find build-bench -type f -name ring_bench | head -n 1) --benchmark_color=false",
			Sealed: []string{"benchmarks/ring_bench.cpp", "CMakeLists.txt"}, Scope: []string{"src/**"},
		}},
		{"java-jmh", survey.Finding{
			File: "src/jmh/java/org/example/csvcut/CutterBench.java", Line: 13, Command: "sh gradlew -q jmh", Format: benchmark.FormatRegex, Metric: "cutLine",
			Direction: track.LowerIsBetter, Sealed: []string{"src/jmh/java/org/example/csvcut/CutterBench.java", "build.gradle", "gradlew"}, Scope: []string{"src/**"},
		}},
		{"ruby-script", survey.Finding{
			File: "benchmark/run_benchmark.rb", Line: 10, Command: "ruby benchmark/run_benchmark.rb", Format: benchmark.FormatJSON, Metric: "elapsed_ms",
			Direction: track.LowerIsBetter, Sealed: []string{"benchmark/run_benchmark.rb", "benchmark/titles.txt"}, Scope: []string{"lib/**"},
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			found := survey.Look(repository(t, c.name)).Findings
			if len(found) == 0 {
				t.Fatal("nothing was found")
			}
			got := found[0]
			if got.Text == "" || got.Tool == "" {
				t.Errorf("the finding says too little: %+v", got)
			}
			if got.Sure == survey.Guess {
				t.Errorf("a guess: %s", got.Note)
			}
			w := c.want
			for _, d := range []struct{ what, got, want string }{
				{"file", got.File, w.File},
				{"command", got.Command, w.Command},
				{"format", string(got.Format), string(w.Format)},
				{"metric", got.Metric, w.Metric},
				{"direction", string(got.Direction), string(w.Direction)},
				{"sealed", strings.Join(got.Sealed, " "), strings.Join(w.Sealed, " ")},
				{"scope", strings.Join(got.Scope, " "), strings.Join(w.Scope, " ")},
				{"result files", strings.Join(got.ResultFiles, " "), strings.Join(w.ResultFiles, " ")},
			} {
				if d.got != d.want {
					t.Errorf("%s:\ngot  %s\nwant %s", d.what, d.got, d.want)
				}
			}
			if got.Line != w.Line {
				t.Errorf("line %d, want %d: %s", got.Line, w.Line, got.Text)
			}
			spec := benchmark.Spec{Command: got.Command, Format: got.Format, Metric: got.Metric, Direction: got.Direction, Regex: got.Regex}
			settings := track.DefaultSettings()
			settings.BenchmarkCommand, settings.BenchmarkFormat, settings.PrimaryMetric = spec.Command, string(spec.Format), spec.Metric
			settings.BenchmarkDirection, settings.SI.Benchmark.Regex, settings.SI.Benchmark.ResultFiles = spec.Direction, spec.Regex, got.ResultFiles
			if _, err := benchmark.SpecOf(settings); err != nil {
				t.Errorf("the settings would be refused: %v", err)
			}
			if _, err := benchmark.NewSeals(got.Sealed); err != nil {
				t.Errorf("the seals would be refused: %v", err)
			}
		})
	}
}
