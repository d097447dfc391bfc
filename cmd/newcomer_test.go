package cmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNewcomer is the first evening of somebody who has never seen si: a clone of a
// repository with a benchmark, si, the questions, the first run, its end.
func TestNewcomer(t *testing.T) {
	e := newClone(t)
	y := onTerminal(t, 120, 36, with(e.si(), "PATH="+filepath.Join(e.dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH")))
	for _, step := range [][2]string{
		{"Do you trust this repository?", "y"},
		{"What shall become better?", enter},
		{"Which number decides?", enter},
		{"When is it good enough?", enter},
		{"Which files may be changed?", enter},
		{"Is this the goal?", enter},
		{"> go test -bench: go test -run '^$' -bench . ./table", enter},
		{"│ Command: runs again", enter},
		{"│ How its output", enter},
		{"│ Metric", enter},
		{"│ What is better", enter},
		{"│ Sealed", enter},
		{"│ Result files", enter},
		{"│ Set-up: builds", enter},
		{"│ Must go test ./... pass", "n"},
		{"Take it?", enter},
		{"Rules of your own", enter},
		{"│ Who thinks and edits?", enter},
		{"│ One agent for every role", enter},
		{"│ Plans in a round", "\x152\r"},
		{"│ Rounds at most", "\x151\r"},
		{"Start now?", enter},
		{"round 1/1", ""}, // the dashboard
		{"Best Score: 20 (baseline: 40)", "q"},
	} {
		y.sees(step[0])
		y.types(step[1])
	}
	y.ends(0)
	y.sees("=== Self-Improvement Loop Complete ===") // on the plain terminal too
	e.gone()
	// One knob is one plan: a planner without another has failed in nothing.
	if out, err := e.si("status", "--json").Output(); err != nil || !strings.Contains(string(out), `"nothing_to_propose": 1`) || strings.Contains(string(out), `"failed"`) ||
		!strings.Contains(string(out), `"skipped_agents": 0`) {
		t.Errorf("status: %v\n%s", err, out)
	}
	if out, err := e.si("history").Output(); err != nil || !strings.Contains(string(out), "planner_b ") || !strings.Contains(string(out), "has no other plan: ") {
		t.Errorf("history: %v\n%s", err, out)
	}
	if out := gitIn(t, e.repo(), "status", "--porcelain"); out != "" {
		t.Errorf("the checkout is not clean: %s", out)
	}
	branch := strings.TrimSpace(gitIn(t, e.repo(), "for-each-ref", "--format=%(refname)", "refs/heads/improve"))
	if text := gitIn(t, e.repo(), "show", branch+":table/table.go"); strings.Contains(text, "const Steps = 40\n") {
		t.Errorf("%s holds\n%s", branch, text)
	}
}

// newClone is a clone of a Go repository whose benchmark counts: half of the steps and
// twice as many, which the tuner tries first, are both a gain. The go in its PATH
// knows that benchmark alone: the real one builds its library for a quarter of a
// minute for each new HOME, which a run of the benchmark gets.
func newClone(t *testing.T) evening {
	t.Helper()
	e := evening{crashed{dir: t.TempDir(), program: buildSi(t)}, t}
	for name, text := range map[string]string{
		"upstream/go.mod":              "module example.org/counting\n\ngo 1.24\n",
		"upstream/table/table.go":      "// Package table fills tables.\npackage table\n\n// Steps is how many steps a table takes.\nconst Steps = 40\n",
		"upstream/table/table_test.go": "package table\n\nimport \"testing\"\n\nfunc BenchmarkFill(b *testing.B) { b.ReportMetric(float64(Steps), \"ns/op\") }\n",
		"bin/go": `#!/bin/sh
n=$(sed -n 's/^const Steps = \([0-9]*\)$/\1/p' table/table.go)
[ "$n" ] || { echo "table/table.go:1:1: expected package"; exit 1; }
[ "$n" -le 40 ] || n=$((1600 / n))
printf 'pkg: example.org/counting/table\nBenchmarkFill-2 \t1000000000\t%s ns/op\nPASS\n' "$n"
`,
		"home/x": "",
	} {
		writeFile(t, filepath.Join(e.dir, name), text)
	}
	upstream := filepath.Join(e.dir, "upstream")
	gitIn(t, upstream, "init", "-q", "-b", "main")
	gitIn(t, upstream, "add", "-A")
	gitIn(t, upstream, "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "-m", "start")
	gitIn(t, e.dir, "clone", "-q", upstream, e.repo())
	t.Cleanup(func() { _ = e.si("stop", "--now").Run() }) // of a test that failed; else nothing runs
	return e
}
