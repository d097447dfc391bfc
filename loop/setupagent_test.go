package loop_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"si/agents"
	"si/loop"
	"si/track"
)

// setUpAgents plays the roles around the set-up.
type setUpAgents struct {
	instant
	write map[string]string // what the builder writes
	dir   string            // the clarifier's
	read  string            // n.txt as it saw it
	env   []string          // the clarifier's
}

func (a *setUpAgents) Clarify(_ context.Context, t agents.Task, in agents.Interview) (agents.Clarification, error) {
	data, err := os.ReadFile(filepath.Join(t.Dir, "n.txt"))
	a.dir, a.read, a.env = t.Dir, string(data), t.Env
	return agents.Clarification{Objective: in.Objective}, err
}

func (a *setUpAgents) Build(_ context.Context, t agents.Task, _ agents.BuildOrder) (agents.Construction, error) {
	for name, text := range a.write {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(t.Dir, name)), 0o755); err != nil {
			return agents.Construction{}, err
		}
		if err := os.WriteFile(filepath.Join(t.Dir, name), []byte(text), 0o644); err != nil {
			return agents.Construction{}, err
		}
	}
	return agents.Construction{Command: "sh bench/run.sh", Format: "number", Metric: "n", Direction: track.HigherIsBetter}, nil
}

func gitOut(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func TestAgentsOfTheSetUp(t *testing.T) {
	cfg, v := gateTrack(t, "cat n.txt\n")
	roles := &setUpAgents{write: map[string]string{"bench/run.sh": "cat n.txt\n"}}
	cfg.Agents, cfg.Env = roles, []string{"HANDED_ON"}
	lookup := cfg.Lookup
	cfg.Lookup = func(name string) (string, bool) {
		if name == "HANDED_ON" {
			return "by the user's configuration", true
		}
		return lookup(name)
	}
	g, err := loop.OpenGates(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if _, err := g.Clarify(t.Context(), v, agents.Interview{}); err == nil {
		t.Error("an agent was started before trust")
	}
	if err := g.Trust(t.Context()); err != nil {
		t.Fatal(err)
	}
	top := cfg.Repo.Toplevel()
	c, err := g.Clarify(t.Context(), v, agents.Interview{Objective: "more"})
	if err != nil || c.Objective != "more" || roles.read != "10\n" || strings.HasPrefix(roles.dir, top) {
		t.Errorf("%+v, %v; it read %q in %s", c, err, roles.read, roles.dir)
	}
	if !slices.Contains(roles.env, "HANDED_ON=by the user's configuration") {
		t.Errorf("its environment is %q", roles.env)
	}
	if _, err := os.Stat(roles.dir); err == nil {
		t.Error("its workspace is left")
	}
	main := gitOut(t, top, "rev-parse", "main")
	for _, branch := range []string{"si/benchmark", "si/benchmark-2"} {
		b, err := g.Build(t.Context(), v, agents.BuildOrder{})
		if err != nil || b.Branch != branch || len(b.Paths) != 1 || b.Paths[0] != "bench/run.sh" {
			t.Fatalf("%+v, %v", b, err)
		}
		if got := gitOut(t, top, "rev-parse", branch+"^"); got != main {
			t.Errorf("%s starts from %s", branch, got)
		}
		if got := gitOut(t, top, "show", branch+":bench/run.sh"); got != "cat n.txt" {
			t.Errorf("the branch has %q", got)
		}
	}
	roles.write = map[string]string{"bench/run.sh": "cat n.txt\n", "n.txt": "1000\n"}
	if _, err := g.Build(t.Context(), v, agents.BuildOrder{}); err == nil || !strings.Contains(err.Error(), `changed "n.txt"`) {
		t.Errorf("a builder changed the program: %v", err)
	}
	if gitOut(t, top, "rev-parse", "main") != main || gitOut(t, top, "status", "--porcelain") != "" || gitOut(t, top, "branch", "--list", "si/*") != "si/benchmark\n  si/benchmark-2" {
		t.Errorf("the repository was changed: %s", gitOut(t, top, "branch", "--list"))
	}
	// What was written can be measured as it stands.
	v.TargetBranch, v.BenchmarkCommand, v.SealedFiles = "si/benchmark", "sh bench/run.sh", []string{"bench/run.sh"}
	goal := loop.GoalAnswer{Objective: "Make n larger", Metric: "n", Target: "20", InScope: []string{"n.txt"}}
	if err := g.Goal(t.Context(), goal, v); err != nil {
		t.Fatal(err)
	}
	if err := g.Benchmark(t.Context(), v, loop.SetUp{Confirm: func(context.Context, loop.Trial) error { return nil }}); err != nil {
		t.Error(err)
	}
}
