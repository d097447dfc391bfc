package benchmark

import (
	"slices"
	"strings"
	"testing"
)

func seals(t *testing.T, patterns ...string) *Seals {
	t.Helper()
	s, err := NewSeals(patterns)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSealsMatch(t *testing.T) {
	s := seals(t, "bench.py", "./harness/", "data/**/*.json", "src/*_test.go", "Fixtures", "odd[1].txt", "caf\u00e9.py", "gold*/")
	for path, want := range map[string]bool{
		"bench.py":             true,
		"BENCH.py":             true,
		"Bench.PY":             true,
		"bench.py/x":           true,
		"bench.pyc":            false,
		"sub/bench.py":         false,
		"harness":              true,
		"harness/a/b":          true,
		"Harness/a":            true,
		"harness2/a":           false,
		"data/a.json":          true,
		"data/x/y/a.json":      true,
		"DATA/x/A.JSON":        true,
		"data/a.txt":           false,
		"src/a_test.go":        true,
		"src/sub/a_test.go":    false,
		"fixtures":             true,
		"Fixtures/deep/er":     true,
		"odd[1].txt":           true,
		"odd1.txt":             true,
		"cafe\u0301.py":        true,
		"CAF\u00c9.py":         true,
		"cafe.py":              false,
		"golden/x":             true,
		"gold":                 true,
		"bench.py\x00":         false,
		"\xff\xfebench.py":     false,
		"bench.py/../other.py": true, // never a path of git; refusing is safe
		"":                     false,
	} {
		if got := s.Match(path); got != want {
			t.Errorf("%q: %v, want %v", path, got, want)
		}
	}
}

func TestNewSealsFaults(t *testing.T) {
	_, err := NewSeals([]string{"", "/etc/passwd", "../up", "a/[", ".git/hooks", "x/../../y", "fine", "nul\x00"})
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{`"" names no file`, "absolute", `"../up"`, `"a/["`, "in .git", `"x/../../y"`, "NUL"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing from: %v", want, err)
		}
	}
	if strings.Contains(err.Error(), "fine") {
		t.Error("a good pattern was refused")
	}
}

func TestViolations(t *testing.T) {
	const file, exec, link, module = "100644", "100755", "120000", "160000"
	s := seals(t, "bench.py", "harness/")
	got := s.Violations([]Change{
		{Path: "src/a.py", OldMode: file, NewMode: file, OldID: "1", NewID: "2"},
		{Path: "bench.py", OldMode: file, NewMode: file, OldID: "1", NewID: "2"},
		{Path: "harness/same", OldMode: file, NewMode: file, OldID: "1", NewID: "1"},
		{Path: "harness/mode", OldMode: file, NewMode: exec, OldID: "1", NewID: "1"},
		{Path: "harness/new", NewMode: file, NewID: "2"},
		{Path: "harness/old", OldMode: file, OldID: "2"},
		{Path: "harness/link", OldMode: file, NewMode: link, OldID: "1", NewID: "2"},
		{Path: "harness", NewMode: module, NewID: "2"},
		{Path: "Bench.py", NewMode: file, NewID: "2"},
		{Path: "harness/\x1b[2J", NewMode: file, NewID: "2"},
		{Path: "src/.gitattributes", NewMode: file, NewID: "2"},
	})
	want := []string{
		`"harness/\x1b[2J": added`, "Bench.py: added", "bench.py: content changed", "harness/link: was a file, is a symbolic link",
		"harness/mode: mode changed from 100644 to 100755", "harness/new: added", "harness/old: removed", "harness: added",
		"src/.gitattributes: added",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestLinkFaults(t *testing.T) {
	s := seals(t, "bench/run.py", "harness/", "gold/**/*.json")
	for _, c := range []struct {
		name  string
		links []Link
		want  string
	}{
		{"within", []Link{{Path: "a/b", Target: "../src/x"}}, ""},
		{"to the top", []Link{{Path: "a/b", Target: ".."}}, ""},
		{"above the top", []Link{{Path: "a/b", Target: "../../x"}}, "outside"},
		{"up and down again", []Link{{Path: "b", Target: "../tree/x"}}, "outside"},
		{"absolute", []Link{{Path: "b", Target: "/etc/passwd"}}, "outside"},
		{"empty", []Link{{Path: "b", Target: ""}}, "outside"},
		{"into git's folder", []Link{{Path: "b", Target: ".git/config"}}, "outside"},
		{"into git's folder, other case", []Link{{Path: "b", Target: "./.GIT"}}, "outside"},
		{"to a sealed file", []Link{{Path: "src/b", Target: "../bench/run.py"}}, "sealed path"},
		{"to a sealed file, other case", []Link{{Path: "b", Target: "Bench/RUN.py"}}, "sealed path"},
		{"to a sealed folder", []Link{{Path: "b", Target: "harness"}}, "sealed path"},
		{"into a sealed folder", []Link{{Path: "b", Target: "x/../harness/deep"}}, "sealed path"},
		{"in place of a sealed file", []Link{{Path: "bench/run.py", Target: "../src/x"}}, "in place"},
		{"in place of a sealed folder", []Link{{Path: "harness", Target: "src"}}, "in place"},
		{"in place of the folder of a sealed file", []Link{{Path: "bench", Target: "src"}}, "in place"},
		{"in place of the folder of a sealed glob", []Link{{Path: "gold", Target: "src"}}, "in place"},
		{"through another link to a sealed folder", []Link{{Path: "a", Target: "b/x"}, {Path: "b", Target: "harness", Old: true}}, "sealed path"},
		{"through another link outside", []Link{{Path: "a", Target: "b/../../x"}, {Path: "b", Target: "c/d", Old: true}}, ""},
		{"through a link upwards", []Link{{Path: "a", Target: "d/e/../../../x"}, {Path: "d/e", Target: "..", Old: true}}, "outside"},
		{"to itself", []Link{{Path: "a", Target: "a"}}, "circle"},
		{"round", []Link{{Path: "a", Target: "b"}, {Path: "b", Target: "a", Old: true}}, "circle"},
		{"was there before", []Link{{Path: "b", Target: "/etc", Old: true}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := s.LinkFaults(c.links)
			if c.want == "" {
				if len(got) > 0 {
					t.Errorf("refused: %q", got)
				}
				return
			}
			if len(got) != 1 || !strings.Contains(got[0], c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func FuzzLinks(f *testing.F) {
	f.Add("a/b", "../x", "x", "y/../..")
	f.Add("a", "a/a/a", "a/a", "b")
	f.Add("", "", "/", "..")
	s, err := NewSeals([]string{"sealed/", "a.txt"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(_ *testing.T, p1, t1, p2, t2 string) { // must end, and not panic
		s.LinkFaults([]Link{{Path: p1, Target: t1}, {Path: p2, Target: t2}})
		s.Match(p1)
	})
}

func TestRunnerFiles(t *testing.T) {
	harmless := []string{"src/main.py", "README.md", "lib/makefile_parser.py", "data/package.json.txt", "cargo/config.go", "envrc"}
	telling := []string{
		"conftest.py", "tests/deep/conftest.py", "Makefile", "GNUmakefile", "sub/CMakeLists.txt", "build.rs", ".cargo/config.toml",
		"crate/.cargo/config", "go.work", ".golangci.yml", ".envrc", ".npmrc", "x.pth", "sitecustomize.py", "package.json",
		".gitattributes", "CONFTEST.PY", "pkg/a_test.go", "pyproject.toml", ".env.local",
	}
	if got := RunnerFiles(append(slices.Clone(harmless), telling...)); !slices.Equal(got, telling) {
		t.Errorf("got %q", got)
	}
}

func TestProposeSeals(t *testing.T) {
	files := map[string]string{
		"bench.sh":           "#!/bin/sh\n. ./lib/common.sh\npython3 score.py --gold 'gold/answers.json' src/missing.py bench.sh\n",
		"lib/common.sh":      "cat lib/deeper.txt",
		"lib/deeper.txt":     "",
		"gold/answers.json":  "{}",
		"tools/run.py":       "open('cases.txt')",
		"tools/cases.txt":    "",
		"score.py":           "",
		"pkg/bench/speed.py": "",
		"Makefile":           "bench:\n\t./bench.sh\n",
		"conf.yml":           "",
		"big.sh":             strings.Repeat("x", maxScriptRead) + " score.py",
		"bin.dat":            "\xff\xfe score.py",
		"src/a.go":           "",
	}
	exists := func(p string) bool {
		if dir, ok := strings.CutSuffix(p, "/"); ok {
			return dir == "src" || dir == "benches" || dir == "lib"
		}
		_, ok := files[p]
		return ok || p == "src" || p == "benches"
	}
	read := func(p string) ([]byte, bool) { text, ok := files[p]; return []byte(text), ok }
	for command, want := range map[string][]string{
		"./bench.sh --fast":                    {"bench.sh", "lib/common.sh<bench.sh", "score.py<bench.sh", "gold/answers.json<bench.sh"},
		"sh -c 'python3 \"score.py\"'":         {"score.py"},
		"cd tools && python run.py":            {"tools/run.py", "tools/cases.txt<tools/run.py"},
		"python -m pkg.bench.speed":            {"pkg/bench/speed.py"},
		"make bench":                           {"Makefile", "bench.sh<Makefile"},
		"x --config=conf.yml src":              {"conf.yml"},
		"go test -bench . ./...":               {"*_test.go", "**/*_test.go"},
		"go test -bench=Sum ./pkg/... ./other": {"pkg/**/*_test.go", "other/*_test.go"},
		"go test -bench=Sum":                   {"*_test.go"},
		"cargo bench":                          {"benches/"},
		"./big.sh; ./bin.dat":                  {"big.sh", "bin.dat"},
		"cat /etc/passwd ../x ~/y .git/config": nil,
		"":                                     nil,
	} {
		var got []string
		for _, p := range ProposeSeals(command, exists, read) {
			text := p.Path
			if p.From != "" {
				text += "<" + p.From
			}
			got = append(got, text)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s:\ngot  %q\nwant %q", command, got, want)
		}
		for _, p := range got {
			path, _, _ := strings.Cut(p, "<")
			if _, err := NewSeals([]string{path}); err != nil {
				t.Errorf("%s: a proposal that is no seal: %v", command, err)
			}
		}
	}
}
