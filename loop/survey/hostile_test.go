package survey_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"unicode"

	"si/benchmark"
	"si/loop/survey"
	"si/track"
)

// TestWords holds what is read out of single files.
func TestWords(t *testing.T) {
	const pays = "package a\nimport \"testing\"\nfunc BenchmarkX(b *testing.B) {}\n"
	cases := []struct {
		name   string
		files  map[string]string
		tool   string
		want   string // command
		format benchmark.Format
		metric string
		better track.Direction
	}{
		{"a Go module below the top", map[string]string{"svc/go.mod": "module x", "svc/a/a_test.go": pays}, "go test -bench", "cd svc && go test -run '^$' -bench . ./a", "gobench", "X", track.LowerIsBetter},
		{"a Go module at the top", map[string]string{"go.mod": "module x", "a_test.go": pays}, "go test -bench", "go test -run '^$' -bench . .", "gobench", "X", track.LowerIsBetter},
		{"a target that runs go test", map[string]string{"go.mod": "m", "a_test.go": pays, "Makefile": "bench:\n\tgo test -bench . ./...\n"}, "make bench", "make -s bench", "gobench", "geomean", track.LowerIsBetter},
		{"a target that compares", map[string]string{"go.mod": "m", "a_test.go": pays, "Makefile": "bench:\n\tgo test -bench . | tee new.txt\n\tbenchstat old.txt new.txt\n"}, "go test -bench", "go test -run '^$' -bench . .", "gobench", "X", track.LowerIsBetter},
		{"a Go program that prints JSON", map[string]string{"go.mod": "m", "cmd/bench/main.go": "package main\ntype r struct {\n\tOps float64 `json:\"ops_per_s\"`\n}\nfunc main() { json.NewEncoder(os.Stdout).Encode(r{}) }\n"}, "go run", "go run ./cmd/bench", "json", "ops_per_s", track.HigherIsBetter},
		{"an echo of JSON", map[string]string{"bench.sh": "#!/bin/sh\nt=1\necho \"{\\\"latency_ms\\\": $t}\"\n"}, "script bench.sh", "sh bench.sh", "json", "latency_ms", track.LowerIsBetter},
		{"a printed f-string", map[string]string{"benchmark.py": "loss = 1\nprint(f\"loss: {loss:.4f}\")\n"}, "script benchmark.py", "python3 benchmark.py", "regex", "loss", track.LowerIsBetter},
		{"one number", map[string]string{"score.py": "score = 4\nprint(score)\n"}, "script score.py", "python3 score.py", "number", "score", track.HigherIsBetter},
		{"the word score wins", map[string]string{"eval.py": "print(json.dumps({'seconds': 1, 'score': 2}))\n"}, "script eval.py", "python3 eval.py", "json", "score", track.HigherIsBetter},
		{"a comment prints nothing", map[string]string{"bench.py": "# print(json.dumps({'score': 1}))\nrun()\n"}, "script bench.py", "python3 bench.py", "number", "primary", track.HigherIsBetter},
		{"a just recipe", map[string]string{"justfile": "bench:\n  python3 tools/b.py\n", "tools/b.py": "print(json.dumps({'f1': 1}))\n"}, "just bench", "just --quiet bench", "json", "f1", track.HigherIsBetter},
		{"hyperfine without a result", map[string]string{"run.sh": "hyperfine -w 2 './a x'\n"}, "hyperfine", "hyperfine --export-json .si-hyperfine.json -w 2 './a x'", "hyperfine", "geomean", track.LowerIsBetter},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			found := survey.Look(texts(c.files)).Findings
			if len(found) == 0 {
				t.Fatal("nothing was found")
			}
			f := found[0]
			if c.name == "a Go module below the top" && strings.Join(f.Sealed, " ") != "svc/a/*_test.go" {
				t.Errorf("sealed %v", f.Sealed)
			}
			if f.Tool != c.tool || f.Command != c.want || f.Format != c.format || f.Metric != c.metric || f.Direction != c.better {
				t.Errorf("got %s: %s as %s, %s, %s", f.Tool, f.Command, f.Format, f.Metric, f.Direction)
			}
		})
	}
}

// TestScriptNamesWhatItMeasures holds that a script's own subject is not sealed.
func TestScriptNamesWhatItMeasures(t *testing.T) {
	f := survey.Look(texts(map[string]string{
		"go.mod": "module m", "table/table.go": "package table\nconst Steps = 4\n", "want.txt": "4\n",
		"bench.sh": "n=$(sed -n 's/^const Steps = //p' table/table.go)\ndiff want.txt want.txt\necho \"{\\\"score\\\": $n}\"\n",
	})).Findings[0]
	if got := strings.Join(f.Sealed, " "); got != "bench.sh want.txt" {
		t.Errorf("sealed %s, scope %v", got, f.Scope)
	}
}

func texts(files map[string]string) survey.Tree {
	out := map[string][]byte{}
	for p, text := range files {
		out[p] = []byte(text)
	}
	return treeOf(out)
}

// TestNamesAreWords gives every file name to a shell: it must come through as one
// word, and nothing else may run.
func TestNamesAreWords(t *testing.T) {
	for _, dir := range []string{"a b", "x;touch pwned", "$(touch pwned)", "`id`", "it's", "-rf", "ünï 测试", `a"b`, "a&b", "a*b", `back\slash`} {
		name := dir + "/test_speed.py"
		found := survey.Look(texts(map[string]string{name: "def test_x(benchmark):\n    pass\n"})).Findings
		if len(found) != 1 {
			t.Errorf("%q: %d findings", dir, len(found))
			continue
		}
		cmd := exec.CommandContext(t.Context(), "sh", "-c", `python3() { for last; do :; done; printf %s "$last"; }; `+found[0].Command)
		cmd.Dir = t.TempDir()
		out, err := cmd.Output()
		if got := strings.TrimPrefix(string(out), "./"); err != nil || got != name {
			t.Errorf("%q: the shell got %q, %v (%s)", dir, got, err, found[0].Command)
		}
	}
}

// TestHostileTexts holds that nothing of what is found can move a cursor, and
// that what cannot be shown is not offered.
func TestHostileTexts(t *testing.T) {
	bad := "\x1b[2J\x1b]0;owned\x07"
	r := survey.Look(texts(map[string]string{
		"bench" + bad + ".py":     "print(score)\n",
		"a\nb/test_speed.py":      "def test_x(benchmark): pass\n",
		"README.md":               "It is 3x faster" + bad + " than \u202eall\u2066 others 解析器\n",
		"Makefile":                "bench: # " + bad + "\n\techo \"{\\\"score\\\": 1}\"\n",
		"package.json":            "{\n\"scripts\": {\n\"bench\": \"node bench.js " + `\u001b[31m` + "\"\n}}\n",
		"Cargo.toml":              "[dev-dependencies]\ncriterion = \"1\"\n[[bench]]\nname = \"x'; rm -rf ~ #\"\n",
		"benchmarks/bench.sh":     "\xff\xfe" + "hyperfine x\n",
		"node_modules/m/bench.js": "console.log(score)\n",
		"vendor/x/bench.py":       "print(score)\n",
	}))
	for _, f := range r.Findings {
		for _, text := range append([]string{f.Tool, f.File, f.Text, f.Command, f.Metric, f.Note}, f.Sealed...) {
			if i := strings.IndexFunc(text, func(r rune) bool { return unicode.IsControl(r) || r == 0x202e || r == 0x2066 }); i >= 0 {
				t.Errorf("%s: %q holds a control character", f.Tool, text)
			}
		}
		if strings.Contains(f.File, "vendor") || strings.Contains(f.File, "node_modules") {
			t.Errorf("other people's code was offered: %s", f.File)
		}
		if strings.Contains(f.Command, "rm -rf") && !strings.Contains(f.Command, `'x'\''; rm -rf ~ #'`) {
			t.Errorf("a name became a command: %s", f.Command)
		}
	}
	if len(r.Claims) != 1 || strings.ContainsRune(r.Claims[0].Text, 0x1b) || !strings.Contains(r.Claims[0].Text, "解析器") {
		t.Errorf("claims %+v", r.Claims)
	}
}

// TestLargeRepository holds that the survey is bounded by what it reads, and that
// what lies near the top is read first.
func TestLargeRepository(t *testing.T) {
	files := map[string][]byte{}
	for n := range 12_000 {
		files[fmt.Sprintf("d%d/e%d/test_%d.py", n%50, n%7, n)] = []byte("x = 1\n")
	}
	files["huge/test_huge.py"] = []byte(strings.Repeat("def test_x(benchmark): pass # ", 20_000)) // one line, 600 KB
	files["z/test_real.py"] = []byte("def test_real(benchmark): pass\n")
	tree := treeOf(files)
	reads := 0
	read := tree.Read
	tree.Read = func(p string) ([]byte, bool) { reads++; return read(p) }
	found := survey.Look(tree).Findings
	if len(found) != 1 || found[0].File != "z/test_real.py" {
		t.Errorf("found %+v", found)
	}
	if reads > 5000 {
		t.Errorf("%d files were read", reads)
	}
}

func TestDirections(t *testing.T) {
	for name, want := range map[string]string{
		"ops_per_sec": "+", "hashes_per_second": "+", "idsPerSecond": "+", "throughput_mb": "+", "accuracy": "+", "F1": "+", "val_acc": "+", "speedup": "+",
		"elapsed_ms": "-", "elapsedMs": "-", "loss": "-", "val_loss": "-", "error_rate": "-", "p99": "-", "peak RSS": "-", "time": "-", "ns/op": "-",
		"primary": "?", "quality": "?", "": "?",
	} {
		d, known := survey.DirectionOf(name)
		got := map[track.Direction]string{track.HigherIsBetter: "+", track.LowerIsBetter: "-"}[d]
		if !known {
			got = "?"
		}
		if got != want {
			t.Errorf("%q: got %s, want %s", name, got, want)
		}
	}
}

func TestClaimsAndTests(t *testing.T) {
	r := survey.Look(repository(t, "go-lexer"))
	if len(r.Claims) != 1 || r.Claims[0].Line != 3 || r.Claims[0].File != "README.md" {
		t.Errorf("claims %+v", r.Claims)
	}
	if len(r.Tests) != 1 || r.Tests[0].Command != "go test ./..." || r.Main != "Go" {
		t.Errorf("tests %+v, language %s", r.Tests, r.Main)
	}
	for _, name := range []string{"python-pytest", "rust-criterion", "node-json", "make-c"} {
		if r := survey.Look(repository(t, name)); len(r.Tests) == 0 {
			t.Errorf("%s: no test was found", name)
		}
	}
}
