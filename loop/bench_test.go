package loop_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"si/agents"
	"si/gitops"
	"si/internal/durable"
	"si/internal/proc"
	"si/loop"
	"si/track"
)

func TestMain(m *testing.M) {
	if code, was := proc.Supervise(os.Args); was {
		syscall.Exit(code) // os.Exit waits a second under the race detector
	}
	os.Exit(m.Run())
}

// instant plays every role at once: each planner plans a line in a file of its
// own, the executor writes it.
type instant struct{ families []string }

func (instant) Research(context.Context, agents.Task) (track.Brief, error) {
	return track.Brief{RepoAnalysisSummary: "files with numbers", Ideas: []track.Idea{}}, nil
}

func (a instant) Plan(_ context.Context, t agents.Task) (track.Plan, error) {
	n := int(t.ID[len(t.ID)-1] - 'a')
	file := fmt.Sprintf("f%d.txt", n)
	return track.Plan{
		Hypothesis: fmt.Sprintf("Writing round %d into %s helps.", t.Round, file), ApproachFamily: a.families[n], TargetFiles: []string{file},
		Steps:            []track.PlanStep{{Step: 1, File: file, Change: fmt.Sprintf("write %d", t.Round)}},
		ExpectedOutcome:  track.ExpectedOutcome{Metric: "primary", EstimatedImpact: "unknown", Rationale: "none"},
		HistoryReference: track.HistoryReference{BuildsOn: []string{}, Avoids: []string{}},
	}, nil
}

func (instant) Architect(context.Context, agents.Task) (track.ArchitectReview, error) {
	return track.ArchitectReview{Verdict: "approve"}, nil
}

func (instant) Critic(context.Context, agents.Task) (track.CriticReview, error) {
	return track.CriticReview{H001: "pass", H002: "pass", H003: "pass", SchemaValid: "pass", HistoryAware: "pass", Verdict: "approved"}, nil
}

func (instant) Ask(context.Context, agents.Task) (agents.Answer, error) {
	return agents.Answer{}, nil
}

func (instant) Execute(_ context.Context, t agents.Task) error {
	return os.WriteFile(filepath.Join(t.Dir, t.Facts.Plan.TargetFiles[0]), []byte(fmt.Sprintln(t.Round)), 0o644)
}

// BenchmarkRound is si's own time for a round, with instant agents and an
// instant benchmark, by step: ms/round in all and for each step.
func BenchmarkRound(b *testing.B) {
	for _, n := range []int{1, 3, 8} {
		b.Run(fmt.Sprintf("agents=%d", n), func(b *testing.B) {
			cfg := benchTrack(b, n, b.N)
			spent := map[track.Step]float64{}
			rounds, whole := 0, 0.0
			cfg.Listen = append(cfg.Listen, func(e track.Event) {
				switch e.Ev { //nolint:exhaustive // two kinds are timed
				case track.EvStepEnded:
					var s track.StepEvent
					if e.Decode(&s) == nil {
						spent[s.Step] += s.Seconds
					}
				case track.EvRoundEnded:
					var r track.RoundEnded
					if e.Decode(&r) == nil {
						rounds++
						whole += r.Seconds
					}
				default:
				}
			})
			b.ResetTimer()
			s, err := loop.Run(b.Context(), cfg)
			if err != nil {
				b.Fatal(err)
			}
			if len(s.Refused)+len(s.Kept) != n*rounds {
				b.Fatalf("%d candidates in %d rounds of %d agents", len(s.Refused)+len(s.Kept), rounds, n)
			}
			b.ReportMetric(1000*whole/float64(rounds), "ms/round")
			for step, seconds := range spent {
				b.ReportMetric(1000*seconds/float64(rounds), "ms-"+string(step))
			}
		})
	}
}

// benchTrack sets up a small repository and a track of so many rounds.
func benchTrack(b *testing.B, n, rounds int) loop.Config {
	b.Helper()
	dir := b.TempDir()
	git := func(args ...string) {
		cmd := exec.CommandContext(b.Context(), "git", args...)
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1"}
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	for i := range n {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.txt", i)), []byte("0\n"), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	git("init", "-q", "-b", "main")
	git("add", "-A")
	git("-c", "user.name=b", "-c", "user.email=b@example.org", "commit", "-q", "-m", "start")
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	run := proc.New(proc.Options{Self: self, Mark: fmt.Sprintf("si-bench-%d", time.Now().UnixNano())})
	repo, err := gitops.Open(b.Context(), dir, run)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = repo.Close() })
	paths, err := track.Resolve(track.ResolveInput{ProjectRoot: dir, WorkDir: dir})
	if err != nil {
		b.Fatal(err)
	}
	families := append(track.Families(), "more")
	work := b.TempDir()
	cfg := loop.Config{
		Version: "bench", RunID: "bench", Paths: paths, Store: &durable.Store{}, Repo: repo, Runner: run, Agents: instant{families},
		Now: time.Now, Lookup: os.LookupEnv, WorkDir: filepath.Join(work, "work"), SlotDir: filepath.Join(work, "slot"),
	}
	s := track.DefaultSettings()
	s.TargetBranch, s.BenchmarkCommand, s.MaxIterations, s.NumberOfAgents = "main", `echo '{"primary": 1}'`, rounds, n
	s.CircuitBreakerThreshold, s.SI.Seed = rounds+1, 1
	s.SI.Measure.CanaryEvery = -1 // the benchmark looks at nothing, so that it costs nothing
	err = loop.Prepare(b.Context(), cfg, loop.SetUp{
		Trust: true, Settings: &s, Goal: &loop.GoalAnswer{Objective: "Go faster", Metric: "primary", Target: "as far as it goes", InScope: []string{"."}},
		Harness: []byte("# Harness\n\n## Custom Approach Families\n- " + strings.Join(families[8:], "\n- ") + "\n"),
	})
	if err != nil {
		b.Fatal(err)
	}
	return cfg
}
