package interview_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"si/loop"
	"si/loop/survey"
	"si/track"
	"si/tui/interview"
)

// gates remember what was asked of them, and can be told to refuse.
type gates struct {
	mu     sync.Mutex
	calls  []string
	refuse map[string]error
	trial  loop.Trial
	runs   int           // of the benchmark, before the trial
	hold   chan struct{} // when set, the benchmark runs until it is closed or cancelled
	feed   *interview.Feed
	v      track.Settings
	goal   track.Goal
	text   string
}

func (g *gates) did(what string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	name, _, _ := strings.Cut(what, " ")
	if err := g.refuse[name]; err != nil {
		return err
	}
	g.calls = append(g.calls, what)
	return nil
}

func (g *gates) said() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return strings.Join(g.calls, "\n")
}

func (g *gates) Trust(context.Context) error { return g.did("trust") }
func (g *gates) Distrust() error             { return g.did("distrust") }
func (g *gates) CheckGoal(context.Context, loop.GoalAnswer, track.Settings) error {
	return errors.New("not called")
}

func (g *gates) Goal(_ context.Context, a loop.GoalAnswer, _ track.Settings) error {
	g.mu.Lock()
	g.goal = track.Goal{Objective: a.Objective, Metric: a.Metric, TargetText: a.Target, InScope: a.InScope}
	g.mu.Unlock()
	return g.did(fmt.Sprintf("goal %s | %s | %s | %s", a.Objective, a.Metric, a.Target, strings.Join(a.InScope, ",")))
}

func (g *gates) Benchmark(ctx context.Context, v track.Settings, in loop.SetUp) error {
	for i := range g.runs {
		score := 100.0 + float64(i)
		e := track.Event{Ev: track.EvMeasured, Data: []byte(fmt.Sprintf(`{"purpose":"setup","key":"setup/%d","score":%g,"wall_s":1.5}`, i+1, score))}
		g.feed.Event(e)
	}
	if g.hold != nil {
		select {
		case <-g.hold:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if err := g.refuse["benchmark"]; err != nil {
		return err
	}
	trial := g.trial
	trial.Command = v.BenchmarkCommand
	if err := in.Confirm(ctx, trial); err != nil {
		return err
	}
	g.mu.Lock()
	g.v = v
	g.mu.Unlock()
	return g.did("benchmark " + v.BenchmarkCommand)
}

func (g *gates) Harness(text []byte) error {
	g.mu.Lock()
	g.text = string(text)
	g.mu.Unlock()
	return g.did("harness")
}

func (g *gates) Settings(change func(*track.Settings)) error {
	g.mu.Lock()
	change(&g.v)
	g.mu.Unlock()
	return g.did("agents " + g.v.SI.Agents.Default)
}
func (g *gates) Finish(context.Context) error { return g.did("finish") }

// quiet is a trial that nobody has to think about.
func quiet() loop.Trial {
	return loop.Trial{
		Scores: []float64{100, 101, 102}, Score: 101, Spread: 0.02, Mode: "noisy", Smallest: 0.012, Seconds: 1.5, RoundRuns: 8, DuelRuns: 24, RoundSeconds: 12,
	}
}

func loud() loop.Trial {
	t := quiet()
	t.Spread, t.Noisy, t.Smallest, t.RoundRuns, t.RoundSeconds = 0.21, true, 0.14, 17, 4000
	return t
}

// gatesOpen are the gates of a fresh track, in the order in which they are closed.
func gatesOpen() []string {
	return []string{"trust_confirmed", "si_setting_goal", "si_setting_benchmark", "si_setting_harness", "goal_slug"}
}

// world is that of a small Go repository with a fresh track.
func world(t *testing.T) (interview.World, *gates) {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("..", "..", "loop", "survey", "testdata", "go-lexer.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	tree := survey.Tree{Read: func(p string) ([]byte, bool) {
		for _, f := range a.Files {
			if f.Name == p {
				return f.Data, true
			}
		}
		return nil, false
	}}
	for _, f := range a.Files {
		tree.Paths = append(tree.Paths, f.Name)
	}
	feed := interview.NewFeed()
	g := &gates{refuse: map[string]error{}, trial: quiet(), runs: 3, feed: feed, v: track.DefaultSettings()}
	return interview.World{
		Repository: "/home/ada/src/lexer", Branch: "main", Dirty: []string{"notes.txt"}, Contained: "agents and benchmarks run in bubblewrap",
		Open:     gatesOpen(),
		Settings: track.DefaultSettings(), Gates: g, Feed: feed, LogDir: t.TempDir(), Dark: true,
		Survey: func(context.Context) (survey.Report, error) { return survey.Look(tree), nil },
		Files:  func(string) int { return 3 },
		Agents: func(context.Context) ([]interview.Agent, error) {
			return []interview.Agent{
				{Name: "claude", Title: "Claude Code", State: "2.1.4, logged in", Ready: true},
				{Name: "codex", Title: "Codex", State: "0.9, not logged in"},
				{Name: "tuner", Title: "built-in tuner", State: "needs no model", Ready: true},
			}, nil
		},
		Now: func() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC) },
	}, g
}

// atBenchmark is the same repository with a goal: the interview goes on there.
func atBenchmark(t *testing.T) (interview.World, *gates) {
	t.Helper()
	w, g := world(t)
	w.Open = gatesOpen()[2:]
	w.Goal = track.Goal{
		Objective: "Make everything faster that go test -bench measures", Metric: "time of go test -bench", TargetText: "as far as it goes", InScope: []string{"*.go", "index/*.go"},
	}
	return w, g
}
