package loop_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"si/gitops"
	"si/internal/durable"
	"si/internal/proc"
	"si/loop"
	"si/track"
)

// gateTrack is a small repository whose benchmark prints the number in n.txt, and
// what a set-up there needs.
func gateTrack(t *testing.T, benchmark string) (loop.Config, track.Settings) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"n.txt": "10\n", "bench.sh": benchmark} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"-c", "user.name=b", "-c", "user.email=b@example.org", "commit", "-q", "-m", "start"}} {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1"}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	run := proc.New(proc.Options{Self: self, Mark: fmt.Sprintf("si-gates-%d-%s", os.Getpid(), t.Name())})
	repo, err := gitops.Open(t.Context(), dir, run)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = repo.Close() })
	paths, err := track.Resolve(track.ResolveInput{ProjectRoot: dir, WorkDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	v := track.DefaultSettings()
	v.TargetBranch, v.BenchmarkCommand, v.BenchmarkFormat, v.PrimaryMetric, v.SI.Seed = "main", "sh bench.sh", "number", "n", 1
	v.SealedFiles = []string{"bench.sh"}
	return loop.Config{
		Version: "test", RunID: "gates", Paths: paths, Store: paths.Within(&durable.Store{}), Repo: repo, Runner: run,
		Now: theNow, Lookup: os.LookupEnv, WorkDir: filepath.Join(work, "work"), SlotDir: filepath.Join(work, "slot"),
	}, v
}

// decided is everything of a track that a gate decides, and the branches: logs and
// the journal are only the record of what ran.
func decided(t *testing.T, cfg loop.Config) string {
	t.Helper()
	var out []string
	root := filepath.Dir(cfg.Paths.StateBase())
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, path)
		if err != nil || d.IsDir() || strings.HasSuffix(rel, "journal.jsonl") || strings.Contains(rel, "/logs/") || strings.HasSuffix(rel, "/lock") || strings.HasPrefix(rel, ".git/objects") || rel == ".git/index" {
			return err
		}
		data, err := os.ReadFile(path)
		out = append(out, fmt.Sprintf("%s %x", rel, sha256.Sum256(data)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

var errDeclined = errors.New("declined")

func TestGates(t *testing.T) {
	cfg, v := gateTrack(t, "cat n.txt\n")
	ctx := t.Context()
	untouched := decided(t, cfg)
	g, err := loop.OpenGates(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	goal := loop.GoalAnswer{Objective: "Make n larger", Metric: "n", Target: "20", InScope: []string{"n.txt"}}
	if err := g.Goal(ctx, goal, v); !errors.Is(err, loop.ErrNoTrust) {
		t.Errorf("a goal before trust: %v", err)
	}
	if err := g.CheckGoal(ctx, loop.GoalAnswer{Objective: "x", Metric: "n", InScope: []string{"none.txt"}}, v); !errors.Is(err, loop.ErrNotSetUp) {
		t.Errorf("a scope of nothing: %v", err)
	}
	if now := decided(t, cfg); now != untouched {
		t.Errorf("something was written before trust:\n%s", now)
	}
	step := func(what string, err error, open ...string) {
		t.Helper()
		missing, lookErr := g.Missing()
		if err != nil || lookErr != nil || !slices.Equal(missing, open) {
			t.Fatalf("%s: %v, %v; open %v, want %v", what, err, lookErr, missing, open)
		}
	}
	step("trust", g.Trust(ctx), "si_setting_goal", "si_setting_benchmark", "si_setting_harness", "goal_slug")
	step("goal", g.Goal(ctx, goal, v), "si_setting_benchmark", "si_setting_harness", "goal_slug")
	if err := g.Finish(ctx); !errors.Is(err, loop.ErrNotSetUp) {
		t.Errorf("finished with open gates: %v", err)
	}

	before := decided(t, cfg)
	err = g.Benchmark(ctx, v, loop.SetUp{Confirm: func(context.Context, loop.Trial) error { return errDeclined }})
	if !errors.Is(err, errDeclined) || decided(t, cfg) != before {
		t.Errorf("a declined benchmark: %v\n%s\nbefore\n%s", err, decided(t, cfg), before)
	}
	var trial loop.Trial
	confirm := func(_ context.Context, seen loop.Trial) error { trial = seen; return nil }
	step("benchmark", g.Benchmark(ctx, v, loop.SetUp{Confirm: confirm}), "si_setting_harness", "goal_slug")
	if !trial.Repeats || trial.Noisy || trial.Score != 10 || len(trial.Scores) != 3 || trial.RoundRuns < 1 {
		t.Errorf("trial %+v", trial)
	}
	step("harness", g.Harness(nil), "goal_slug")
	if err := g.Settings(func(s *track.Settings) { s.BenchmarkCommand = "true" }); err == nil {
		t.Error("the benchmark was changed behind its gate")
	}
	step("agents", g.Settings(func(s *track.Settings) { s.SI.Agents.Default, s.MaxIterations = "tuner", 7 }), "goal_slug")
	if branches := decided(t, cfg); strings.Contains(branches, "heads/improve/") {
		t.Error("a branch was made before the last gate")
	}
	step("finish", g.Finish(ctx))
	s, err := track.LoadSettings(cfg.Paths)
	if err != nil || s.Value.MaxIterations != 7 || s.Value.TargetValue == nil || *s.Value.TargetValue != 20 {
		t.Errorf("settings %+v, %v", s.Value, err)
	}
}

// TestTrialOfNoise holds that a noisy benchmark is put before the user with its
// spread, and refused nowhere else.
func TestTrialOfNoise(t *testing.T) {
	cfg, v := gateTrack(t, "n=$(cat n.txt)\nr=$(od -An -N1 -tu1 /dev/urandom)\necho $((n * 100 + r))\n")
	v.SI.Measure.CanaryEvery = -1
	g, err := loop.OpenGates(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	goal := loop.GoalAnswer{Objective: "Make n larger", Metric: "n", Target: "as far as it goes", InScope: []string{"n.txt"}}
	if err := errors.Join(g.Trust(t.Context()), g.Goal(t.Context(), goal, v)); err != nil {
		t.Fatal(err)
	}
	var trial loop.Trial
	err = g.Benchmark(t.Context(), v, loop.SetUp{Confirm: func(_ context.Context, seen loop.Trial) error { trial = seen; return errDeclined }})
	if !errors.Is(err, errDeclined) || !trial.Noisy || trial.Repeats || len(trial.Scores) != 6 || trial.Smallest <= 0 || trial.DuelRuns < 2 {
		t.Errorf("%v, trial %+v", err, trial)
	}
}

// theNow is a clock that stands still.
func theNow() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC) }
