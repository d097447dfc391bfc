package cmd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"si/track"
)

// TestTracksOfTheSeedsTool opens tracks that another tool has written, in each
// of its layouts, takes up the round that it was interrupted in, and finishes
// it: its plan is executed, its worktrees are removed, its keys are kept.
func TestTracksOfTheSeedsTool(t *testing.T) {
	for name, args := range map[string][]string{
		"topic":   {"--topic", "Parser"},
		"flat":    nil,
		"session": {"--session-id", "s-42"},
	} {
		t.Run(name, func(t *testing.T) {
			a := adopt(t, name)
			before := a.paths(t, args)
			progress, err := track.LoadProgress(before)
			if err != nil {
				t.Fatal(err)
			}
			played := progress.Value.Iterations
			out := a.si(t, append([]string{"run", "--resume", "--agent", "command:agent " + filepath.Join(a.dir, "agent.txt")}, args...)...)
			for _, want := range []string{"taken up where it stood", "executor_a accepted", "Status: max_iterations"} {
				if !strings.Contains(out, want) {
					t.Errorf("the run does not say %q:\n%s", want, out)
				}
			}
			h, err := track.LoadRound(before, played+1)
			if err != nil || h.Value.Winner == nil || h.Value.Winner.Hypothesis != "Caching the parsed café table lowers latency_ms" {
				t.Errorf("history %+v, %v", h.Value, err)
			}
			if progress, err = track.LoadProgress(before); err != nil || progress.Value.Iterations != played+1 || *progress.Value.BestScore != 9 {
				t.Errorf("progress %+v, %v", progress.Value, err)
			}
			a.checkKept(t, before)
			if list := gitIn(t, a.repo(), "worktree", "list"); strings.Contains(list, "round_") {
				t.Errorf("a worktree of the other tool is left:\n%s", list)
			}
		})
	}
}

type adopted struct{ dir string }

func (a adopted) repo() string { return filepath.Join(a.dir, "repo") }

// adopt makes a repository with a track of testdata in it, and a worktree as
// the other tool leaves it when it dies.
func adopt(t *testing.T, layout string) adopted {
	t.Helper()
	a := adopted{dir: t.TempDir()}
	for name, text := range map[string]string{
		"repo/src/parser.py": "18\n",
		"repo/bench.py":      `echo "{\"latency_ms\": $(cat src/parser.py)}"`,
		"repo/tests/t.py":    "",
		"bin/python":         "#!/bin/sh\nexec sh \"$@\"\n", // no Python is needed for this
		"agent.txt": "planner_a * plan data src/parser.py echo 9 > src/parser.py\n" +
			"planner_b * plan optimization src/parser.py echo 30 > src/parser.py\nplanner_c * exit 1\n",
		"home/x": "",
	} {
		writeFile(t, filepath.Join(a.dir, name), text)
	}
	gitIn(t, a.repo(), "init", "-q", "-b", "main")
	gitIn(t, a.repo(), "add", "-A")
	gitIn(t, a.repo(), "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "-m", "start")
	gitIn(t, a.repo(), "branch", "improve/reduce_the_latency_of_the_parser")
	if err := os.CopyFS(filepath.Join(a.repo(), ".omc"), os.DirFS(filepath.Join("..", "track", "testdata", layout))); err != nil {
		t.Fatal(err)
	}
	gitIn(t, a.repo(), "worktree", "add", "-q", "worktrees/round_2_executor_a", "-b", "experiment/round_2_executor_a", "main")
	a.limitRounds(t)
	return a
}

// limitRounds ends the loop after the round that is taken up.
func (a adopted) limitRounds(t *testing.T) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(a.repo(), ".omc", "self-improve", "config", "settings.json"))
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob(filepath.Join(a.repo(), ".omc", "self-improve", "topics", "*", "config", "settings.json"))
	if err != nil {
		t.Fatal(err)
	}
	most, err := filepath.Glob(filepath.Join(a.repo(), ".omc", "self-improve", "topics", "*", "sessions", "*", "config", "settings.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range append(append(files, more...), most...) {
		rounds := "2"
		if strings.Contains(f, "topics/parser") {
			rounds = "3"
		}
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, f, strings.Replace(string(text), `"max_iterations": 20`, `"max_iterations": `+rounds, 1))
	}
}

func (a adopted) paths(t *testing.T, args []string) track.Paths {
	t.Helper()
	in := track.ResolveInput{ProjectRoot: a.repo(), WorkDir: a.repo()}
	if len(args) > 0 && args[0] == "--topic" {
		in.Topic = args[1]
	} else if len(args) > 0 {
		in.SessionID = args[1]
	}
	p, err := track.Resolve(in)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (a adopted) si(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program(t, "si"), args...)
	cmd.Dir = a.repo()
	cmd.Env = []string{"PATH=" + filepath.Join(a.dir, "bin") + ":" + os.Getenv("PATH"), "HOME=" + filepath.Join(a.dir, "home"), "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C", "SI_SANDBOX=off", "SI_CHART_DPI=24", "GORACE=atexit_sleep_ms=0"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("si %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// checkKept wants what the other tool wrote, and this one does not know, to be
// there still.
func (a adopted) checkKept(t *testing.T, p track.Paths) {
	t.Helper()
	for path, want := range map[string]string{
		p.SettingsPath:      `"theme": "dark"`,
		p.AgentSettingsPath: `"last_tool": "skill"`,
		p.RawDataPath:       `"iteration": 1`,
	} {
		text, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s lost %s: %v", path, want, err)
		}
	}
}
