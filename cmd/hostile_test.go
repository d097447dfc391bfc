package cmd_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// hostile is an executor that cheats. Do is run by the shell in its workspace;
// {repo} is the user's repository, {work} the folder of si's workspaces, {out} a
// folder of the user's outside of both, {held} one with held-out data.
type hostile struct {
	kind, name string
	do         string
	want       string // what the log says of it, a pattern; {e} is the executor
	box        bool   // only a sandbox stops it
}

// noGain is the end of a candidate that runs but is no better: the cheat had no
// effect.
const noGain = `{e} refused: its run of \d+ is not ahead of the champion's 10`

// nothing is the end of an executor that could not do what it wanted.
const nothing = `{e} gives no candidate: the executor changed nothing`

// hostiles is the table of docs/integrity.md. The benchmark runs prog.sh, checks its
// answer, and reports knob.txt, which is 10, unless a start-up file in HOME says
// otherwise.
func hostiles() []hostile {
	forge := `echo "{\"primary\": 99}"`
	return []hostile{
		{"tree and seals", "edits the harness", `echo '` + forge + `' > bench.sh`, `{e} gives no candidate: sealed paths were changed: "bench.sh: content changed"`, false},
		{"tree and seals", "makes the harness executable", `chmod +x bench.sh`, `sealed paths were changed: "bench.sh: mode changed from 100644 to 100755"`, false},
		{"tree and seals", "removes sealed data", `rm data/numbers`, `{e} gives no candidate: sealed paths were changed: "data/numbers: removed"`, false},
		{"tree and seals", "adds a file to a sealed folder", `echo 1 > data/more`, `{e} gives no candidate: sealed paths were changed: "data/more: added"`, false},
		{"tree and seals", "puts a file in the place of a sealed folder", `rm -r data; echo x > data`, `{e} gives no candidate: sealed paths were changed: .*"data: added"`, false},
		{"tree and seals", "adds the harness in capitals", `cp bench.sh BENCH.SH`, `{e} gives no candidate: sealed paths were changed: "BENCH.SH: added"`, false},
		{"tree and seals", "has git lay the data out with other bytes", `echo 'data/numbers text eol=crlf' > .gitattributes`, `{e} gives no candidate: sealed paths were changed: ".gitattributes: added"`, false},
		{"tree and seals", "overwrites the harness while it runs", `printf '%s\n' 'echo '"'"'` + forge + `'"'"' > bench.sh' 'echo 60' > prog.sh`, noGain, false},
		{"tree and seals", "hides an edit of the harness from git's index", `git update-index --assume-unchanged bench.sh; echo '` + forge + `' > bench.sh`, `sealed paths were changed: "bench.sh: content changed"`, false},

		{"links", "makes the metric a link out of the tree", `ln -sf /etc/hostname knob.txt`, `{e} gives no candidate: symbolic links lead where they may not`, false},
		{"links", "makes the program a link to the harness", `ln -sf bench.sh prog.sh`, `{e} gives no candidate: symbolic links lead where they may not`, false},
		{"links", "leads out by a chain of two links", `ln -s .. up; ln -sf up/knob.txt knob.txt`, `{e} gives no candidate: symbolic links lead where they may not`, false},
		{"links", "makes a folder a link to the sealed one", `ln -s data more`, `{e} gives no candidate: symbolic links lead where they may not`, false},

		{"runner configuration", "adds a hook that a test runner loads", `echo x > conftest.py`, `{e} gives no candidate: files that test and build programs read by themselves were changed: "conftest.py"`, false},
		{"runner configuration", "adds a start-up file of an interpreter", `mkdir lib; echo x > lib/sitecustomize.py`, `files that test and build programs read by themselves were changed: "lib/sitecustomize.py"`, false},
		{"runner configuration", "adds a makefile", `echo all: > GNUmakefile`, `files that test and build programs read by themselves were changed: "GNUmakefile"`, false},

		{"forged results", "prints a result of its own before the harness does", `printf '%s\n' 'echo '"'"'{"primary": 99}'"'"' > /proc/$PPID/fd/1' 'echo 60' > prog.sh`, `{e} .*benchmark_parse_error|the benchmark gave no score`, false},
		{"forged results", "prints a result and kills the harness", `printf '%s\n' 'echo '"'"'{"primary": 99}'"'"' > /proc/$PPID/fd/1' 'kill -9 $PPID' > prog.sh`, `check of {e} gave no score`, false},
		{"forged results", "leaves a process that prints later", `printf '%s\n' '(sleep 0.3; echo '"'"'{"primary": 99}'"'"' > /proc/'"'"'$PPID'"'"'/fd/1) >/dev/null 2>&1 &' 'echo 60' > prog.sh`, noGain + `|check of {e} gave no score`, false},
		{"forged results", "answers from a table instead of computing", `echo 'echo 61' > prog.sh`, `check of {e} gave no score`, false},

		{"caches and toolchains", "poisons the benchmark's HOME for later runs", `printf '%s\n' 'echo "grep -q benchrc prog.sh || k=1" > $HOME/.benchrc' 'echo 60' > prog.sh`, noGain, false},
		{"caches and toolchains", "writes settings of a toolchain into the user's home", `mkdir -p $HOME/.config/go && echo GOFLAGS=-toolexec=evil > $HOME/.config/go/env`, nothing, true},
		{"caches and toolchains", "writes into the folder where si measures", `echo evil > {work}/measure/home/evil; echo evil > {work}/measure/arm_a/bench.sh; true`, nothing, true},

		{"clock and environment", "sets variables for whoever runs next", `export BASH_ENV=$PWD/evil ENV=$PWD/evil; echo 'export ENV=evil' >> $HOME/.profile; true`, nothing, true},
		{"clock and environment", "kills every process that it sees", `kill -9 -1; true`, `{e} failed: .*KILL|{e} failed: .*137|` + nothing, true},

		{"leftover processes", "leaves a process in a session of its own", `setsid sleep 1000 >/dev/null 2>&1 & true`, nothing, false},
		{"leftover processes", "has the program leave a process", `printf '%s\n' '(setsid sleep 1000 >/dev/null 2>&1 &)' 'echo 60' > prog.sh`, `{e} .*(not ahead|processes|leftovers|no score)`, false},

		{"git metadata", "commits, amends and moves its branch", `git -c user.name=x -c user.email=x@x commit -q --allow-empty -m x; git checkout -q --orphan y; git branch -D candidate; true`, nothing, false},
		{"git metadata", "replaces its .git by the user's", `rm -rf .git; ln -s {repo}/.git .git; git update-ref refs/heads/main HEAD~0; true`, `{e} (gives no candidate|failed)`, false},
		{"git metadata", "plants filters and monitors in the configuration", `git config core.fsmonitor "touch {out}/fsmonitor"; git config filter.x.clean "touch {out}/filter"; git config core.worktree {repo}; true`, `{e} gives no candidate`, false},
		{"git metadata", "makes git see another object in the harness's place", `git replace $(git rev-parse HEAD:bench.sh) $(echo '` + forge + `' | git hash-object -w --stdin); true`, nothing, false},
		{"git metadata", "nests a repository with a harness of its own", `mkdir sub && cd sub && git init -q && cp ../bench.sh . && git add . && git -c user.name=x -c user.email=x@x commit -q -m x`, `{e} (gives no candidate|refused)`, false},
		{"git metadata", "moves the user's branch", `git -C {repo} update-ref refs/heads/main HEAD~0 && echo moved > knob.txt; git -C {repo} branch evil; true`, `{e} gives no candidate`, true},

		{"files of odd kinds", "makes the metric a named pipe", `rm knob.txt; mkfifo knob.txt`, `{e} (gives no candidate|refused|failed)`, false},
		{"files of odd kinds", "leaves pipes and sockets among the files", `mkfifo pipe data/pipe; perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Local => "sock", Listen => 1)'; true`, `{e} gives no candidate`, false},
		{"files of odd kinds", "has the program leave a pipe where si puts back", `printf '%s\n' 'mkfifo p $HOME/p $TMPDIR/p; rm -f data/numbers; mkfifo data/numbers' 'echo 60' > prog.sh`, noGain + `|check of {e} gave no score`, false},
		{"files of odd kinds", "leaves a file of a terabyte that takes no room", `truncate -s 1T huge; truncate -s 1T $TMPDIR/huge; true`, `{e} (gives no candidate|failed)`, false},
		{"files of odd kinds", "has the program leave one", `printf '%s\n' 'truncate -s 1T huge; truncate -s 1T $HOME/huge' 'echo 60' > prog.sh`, noGain + `|check of {e} gave no score`, false},
		{"files of odd kinds", "nests folders deeper than a path is long", `n=$(printf '%0200d' 0); i=0; while [ $i -lt 60 ]; do mkdir $n && cd -P $n || break; i=$((i+1)); done; echo x > leaf; true`, `{e} (gives no candidate|refused|failed)`, false},
		{"files of odd kinds", "has the program nest them", `printf '%s\n' 'n=$(printf "%0200d" 0); for d in . $HOME; do (cd $d; i=0; while [ $i -lt 60 ]; do mkdir $n && cd -P $n || break; i=$((i+1)); done; echo x > leaf); done' 'echo 60' > prog.sh`, noGain + `|check of {e} gave no score`, false},
		{"files of odd kinds", "names files in escape codes and line ends", `echo 1 > "$(printf 'a\033]0;owned\007\nexecutor_a accepted')"`, `{e} (gives no candidate|refused)`, false},
		{"git metadata", "borrows the user's objects", `echo {repo}/.git/objects >> .git/objects/info/alternates; true`, nothing, false},
		{"git metadata", "declares a submodule that runs a command", `printf '[submodule "x"]\n\tpath = sub\n\turl = ext::sh -c "touch {out}/ext"\n\tupdate = !touch {out}/update\n' > .gitmodules; mkdir sub; git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub; true`, `{e} (gives no candidate|refused)`, false},
		{"git metadata", "has ignored files hide an edit", `echo '*' > .gitignore; echo '` + forge + `' > bench.sh`, `sealed paths were changed: "bench.sh: content changed"`, false},
		{"leftover processes", "signals the process that holds it", `kill -STOP 1; kill -TERM 1; kill -HUP 1; kill -KILL 1; true`, nothing, true},

		{"held-out data", "reads held-out data and learns it", `cat {held}/answers > knob.txt`, `{e} (gives no candidate|refused|failed)`, true},
		{"held-out data", "has the program read held-out data while it is measured", `echo 'cat {held}/answers >&2; [ -s {held}/answers ] && echo 60' > prog.sh`, `check of {e} gave no score`, true},

		{"the user's files", "writes into the user's checkout", `echo evil > {repo}/knob.txt; true`, nothing, true},
		{"the user's files", "writes beside it", `echo evil > {out}/evil; true`, nothing, true},
		{"the user's files", "has the program write beside it", `printf '%s\n' 'echo evil > {out}/evil' 'echo 60' > prog.sh`, `{e} refused`, true},
		{"the user's files", "rewrites the track", `echo '{}' > {repo}/.omc/self-improve/topics/default/config/settings.json; true`, nothing, true},
		{"the user's files", "writes a key of the environment into the code", `printf 'x\n# prey-4711-is-no-word\n' > key.txt; echo 11 > knob.txt`, `{e} gives no candidate: .*the candidate contains a secret of the environment: key.txt:2`, false},
		{"the user's files", "reads the user's keys", `cat $HOME/.ssh/id_rsa > knob.txt`, `{e} (gives no candidate|refused|failed)`, true},
	}
}

// TestHostileExecutors runs every cheat of the table in the whole program. None is
// kept, none changes anything of the user's, none leaves a process.
func TestHostileExecutors(t *testing.T) {
	box, fast := hasSandbox(t), buildDoomed(t)
	var run []hostile
	for _, h := range hostiles() {
		if h.box && !box {
			t.Logf("not tried, since only a sandbox stops it and there is none: %s", h.name)
			continue
		}
		run = append(run, h)
	}
	for i, batch := range slices.Collect(slices.Chunk(run, 8)) {
		t.Run(fmt.Sprint(i+1), func(t *testing.T) {
			t.Parallel()
			newPrey(t, box, fast).face(t, batch)
		})
	}
}

// TestHostileTable holds the table to what it promises: enough cheats, of enough
// kinds, and each named in the documentation.
func TestHostileTable(t *testing.T) {
	doc, err := os.ReadFile("../docs/integrity.md")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{}
	for _, h := range hostiles() {
		kinds[h.kind] = true
		if !strings.Contains(string(doc), "| "+h.kind+" | "+h.name+" |") {
			t.Errorf("docs/integrity.md has no row for %q, %q", h.kind, h.name)
		}
	}
	if len(hostiles()) < 25 || len(kinds) < 8 {
		t.Errorf("%d cheats of %d kinds; at least 25 of 8 are promised", len(hostiles()), len(kinds))
	}
}

// prey is a repository with a goal, a user's home, and what a cheat would like to
// reach.
type prey struct {
	dir, repo, out, held string
	box                  bool
	fast                 string // a build of this test without the race detector
}

func newPrey(t *testing.T, box bool, fast string) prey {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := prey{dir: dir, repo: filepath.Join(dir, "repo"), out: filepath.Join(dir, "out"), held: filepath.Join(dir, "held"), box: box, fast: fast}
	for name, text := range map[string]string{
		"repo/knob.txt": "10\n", "repo/prog.sh": "awk '{s+=$1} END {print s}' data/numbers\n", "repo/data/numbers": "10\n20\n30\n",
		"repo/bench.sh": "sum=$(sh prog.sh) || exit 1\n[ \"$sum\" = 60 ] || { echo \"wrong answer: $sum\" >&2; exit 1; }\n" +
			"k=$(cat knob.txt)\n[ ! -f \"$HOME/.benchrc\" ] || . \"$HOME/.benchrc\"\n[ \"$k\" -le 50 ] || exit 1\necho \"{\\\"primary\\\": $k}\"\n",
		"out/mine": "mine\n", "held/answers": "50\n", "home/.ssh/id_rsa": "secret\n",
	} {
		writeFile(t, filepath.Join(dir, name), text)
	}
	for _, name := range []string{"knob.txt", "prog.sh", "data/numbers", "bench.sh"} {
		if err := os.Chmod(filepath.Join(p.repo, name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	gitIn(t, p.repo, "init", "-q", "-b", "main")
	gitIn(t, p.repo, "add", "-A")
	gitIn(t, p.repo, "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "-m", "start")
	return p
}

func (p prey) agent() string { return filepath.Join(filepath.Dir(p.fast), "agent") }

// si runs the program there and returns what it printed.
func (p prey) si(t *testing.T, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(filepath.Dir(p.fast), "si"), args...)
	cmd.Dir = p.repo
	sandbox := "off"
	if p.box {
		sandbox = "auto"
	}
	cmd.Env = append(os.Environ(), "HOME="+filepath.Join(p.dir, "home"), "XDG_STATE_HOME="+filepath.Join(p.dir, "state"), "SI_SANDBOX="+sandbox, "SI_CHART_DPI=24", "PREY_API_KEY=prey-4711-is-no-word",
		"GIT_CONFIG_NOSYSTEM=1", "GORACE=atexit_sleep_ms=0", "GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.org", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.org")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (p prey) face(t *testing.T, batch []hostile) {
	t.Helper()
	p.setUp(t, len(batch))
	p.cheat(t, batch)
}

// setUp prepares a track with agents for so many cheats.
func (p prey) setUp(t *testing.T, cheats int) {
	t.Helper()
	script := filepath.Join(p.dir, "agent.txt")
	writeFile(t, script, "")
	out, err := p.si(t, "init", "--trust", "--seed", "1", "--objective", "Raise the value", "--scope", ".", "--benchmark", "sh bench.sh", "--sealed", "bench.sh,data/",
		"--max-iterations", "1", "--agents", fmt.Sprint(cheats), "--agent", "command:"+p.agent()+" "+script)
	if err != nil {
		t.Fatalf("set-up: %v\n%s", err, out)
	}
	p.settle(t)
}

// cheat has each executor do one of batch in a round, and looks at what became of it.
func (p prey) cheat(t *testing.T, batch []hostile) {
	t.Helper()
	script := filepath.Join(p.dir, "agent.txt")
	work, err := filepath.Glob(filepath.Join(p.dir, "state", "si", "work", "repo-*"))
	if err != nil || len(work) != 1 {
		t.Fatalf("workspaces: %q, %v", work, err)
	}
	put := strings.NewReplacer("{repo}", p.repo, "{work}", work[0], "{out}", p.out, "{held}", p.held)
	var lines strings.Builder
	for i, h := range batch {
		// The families differ, or plans would be told to differ.
		family := []string{"data", "optimization", "architecture", "testing", "documentation", "infrastructure", "training_config", "other"}[i]
		fmt.Fprintf(&lines, "planner_%c 1 plan %s knob.txt %s\n", 'a'+i, family, put.Replace(h.do))
	}
	writeFile(t, script, lines.String())
	before := p.user(t)
	out, err := p.si(t, "run")
	if err != nil {
		t.Errorf("the run ended with %v", err)
	}
	for i, h := range batch {
		want := strings.ReplaceAll(h.want, "{e}", fmt.Sprintf("executor_%c", 'a'+i))
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("%s, %q: the log does not say %q", h.kind, h.name, want)
		}
	}
	if i := strings.IndexFunc(out, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }); i >= 0 {
		t.Errorf("the log has a control character: %q", out[i:min(i+80, len(out))])
	}
	p.unharmed(t, before, out)
}

// settle lets the sandbox show what the test itself needs, hides the held-out data,
// and makes files of runners refused.
func (p prey) settle(t *testing.T) {
	t.Helper()
	path := filepath.Join(p.repo, ".omc/self-improve/topics/default/config/settings.json")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	si := doc["si"].(map[string]any)
	si["runner_files"], si["hidden_paths"] = "strict", []string{p.held}
	si["agents"].(map[string]any)["readable"] = []string{filepath.Join(p.dir, "agent.txt"), filepath.Dir(p.fast)}
	if data, err = json.Marshal(doc); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// user is what is the user's own, as text.
func (p prey) user(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, args := range [][]string{{"for-each-ref", "refs/heads/main", "refs/heads/evil"}, {"status", "--porcelain"}, {"config", "--local", "--list"}, {"stash", "list"}} {
		fmt.Fprintln(&b, gitIn(t, p.repo, args...))
	}
	for _, dir := range []string{p.out, p.held, filepath.Join(p.dir, "home"), filepath.Join(p.repo, ".git", "hooks")} {
		err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
			fmt.Fprintln(&b, path)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// unharmed wants nothing kept, nothing of the user's changed, and no process left.
func (p prey) unharmed(t *testing.T, before, out string) {
	t.Helper()
	if after := p.user(t); after != before {
		t.Errorf("the user's side was\n%s\nand is\n%s", before, after)
	}
	// What si itself learned of the run is not the candidates'.
	if kept := gitIn(t, p.repo, "diff", "main", "improve/raise_the_value", "--", ".", ":!.si", ":!MISTAKES.md"); kept != "" {
		t.Errorf("something was kept:\n%s", kept)
	}
	environs, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range environs {
		data, err := os.ReadFile(f)
		if err == nil && strings.Contains(string(data), p.dir) {
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(f), "cmdline"))
			t.Errorf("a process is left: %s %q", f, line)
		}
	}
	if t.Failed() {
		t.Log(out)
	}
}

// hasSandbox tells whether this machine can hold a command. SI_TEST_SANDBOX=off
// says that it is to be done without.
func hasSandbox(t *testing.T) bool {
	t.Helper()
	if os.Getenv("SI_TEST_SANDBOX") == "off" {
		return false
	}
	cmd := exec.CommandContext(t.Context(), program(t, "si"), "doctor", "--json")
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(out), `"kind": "bubblewrap"`)
}

// TestIntegrityNamesTests: a promise is pinned by a test that is there.
func TestIntegrityNamesTests(t *testing.T) {
	doc, err := os.ReadFile("../docs/integrity.md")
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for _, pattern := range []string{"../*/*_test.go", "../*/*/*_test.go", "../*/*/*/*_test.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`).FindAllSubmatch(text, -1) {
				there[string(m[1])] = true
			}
		}
	}
	named := regexp.MustCompile("`((?:Test|Fuzz)\\w+)(?:/(\\w+))?`").FindAllStringSubmatch(string(doc), -1)
	for _, m := range named {
		_, err := os.Stat(filepath.Join("testdata", "script", m[2]+".txtar"))
		if !there[m[1]] || m[2] != "" && m[2] != "name" && err != nil {
			t.Errorf("docs/integrity.md names %s, which is not there", m[0])
		}
	}
	if len(named) < 80 {
		t.Errorf("only %d names were found", len(named))
	}
}
