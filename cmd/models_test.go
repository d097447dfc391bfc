package cmd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoiseModels drives the whole program with a benchmark of known truth under
// each kind of noise: a change that does nothing in the first round is not kept, a
// large gain in the second one is.
func TestNoiseModels(t *testing.T) {
	fast := buildDoomed(t)
	for name, noise := range map[string]string{
		"heavy tails": "sigma 0.01\nmodel heavy\nseed 3\n",
		"bursts":      "sigma 0.01\nmodel bursts\nseed 3\n",
		"drift":       "sigma 0.01\ndrift 0.001\nseed 3\n",
		"outliers":    "sigma 0.01\noutlier 0.05\nseed 3\n",
		"steps":       "sigma 0.02\nmodel steps\nseed 3\n",
		"flaky":       "sigma 0.01\nfail 0.05\nseed 5\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			repo, script := filepath.Join(dir, "repo"), filepath.Join(dir, "agent.txt")
			for file, text := range map[string]string{"gain_a.txt": "0\n", "notes.txt": "nothing\n", "noise.txt": noise} {
				writeFile(t, filepath.Join(repo, file), text)
			}
			writeFile(t, script, "planner_a 1 plan data notes.txt echo something > notes.txt\nplanner_a 2 plan optimization gain_a.txt echo 30 > gain_a.txt\n")
			gitIn(t, repo, "init", "-q", "-b", "main")
			gitIn(t, repo, "add", "-A")
			gitIn(t, repo, "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "-m", "start")
			si := func(args ...string) string {
				cmd := exec.CommandContext(t.Context(), filepath.Join(filepath.Dir(fast), "si"), args...)
				cmd.Dir = repo
				cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(fast)+string(filepath.ListSeparator)+os.Getenv("PATH"), "HOME="+dir, "XDG_STATE_HOME="+dir, "SI_SANDBOX=off", "SI_CHART_DPI=24",
					"GIT_CONFIG_NOSYSTEM=1", "GORACE=atexit_sleep_ms=0")
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("si %q: %v\n%s", args, err, out)
				}
				return string(out)
			}
			si("init", "--trust", "--accept-noise", "--seed", "1", "--objective", "Raise the gain", "--scope", "gain_*.txt,notes.txt", "--benchmark", "noisy", "--sealed", "noise.txt",
				"--max-iterations", "2", "--circuit-breaker", "9", "--agents", "1", "--agent", "command:agent "+script)
			out := si("run")
			if got := strings.TrimSpace(gitIn(t, repo, "show", "improve/raise_the_gain:notes.txt")); got != "nothing" {
				t.Errorf("the change that does nothing was kept\n%s", out)
			}
			if got := strings.TrimSpace(gitIn(t, repo, "show", "improve/raise_the_gain:gain_a.txt")); got != "30" {
				t.Errorf("the gain was not kept\n%s", out)
			}
		})
	}
}
