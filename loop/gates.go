package loop

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"si/track"
)

// Gates closes the gates of the set-up one at a time, as an interview does; Prepare
// closes them all at once. What answers a gate is written when that gate is
// closed, wholly, and not before. It is for one goroutine at a time.
type Gates struct {
	cfg  Config
	lock *track.Lock
	goal *GoalAnswer // answered here, so that its scope may be new to the benchmark
}

// OpenGates looks whether the repository can be set up at all. It writes nothing.
func OpenGates(ctx context.Context, cfg Config) (*Gates, error) {
	if rel, inside := insideRepo(cfg, cfg.Paths.StateBase()); inside {
		if err := refuseTrackedState(ctx, cfg, rel); err != nil {
			return nil, err
		}
	}
	return &Gates{cfg: cfg}, nil
}

// Close lets go of the track.
func (g *Gates) Close() error {
	if g.lock == nil {
		return nil
	}
	lock := g.lock
	g.lock = nil
	return lock.Release()
}

// Missing names the gates that are open.
func (g *Gates) Missing() ([]string, error) {
	p, err := track.LoadProgress(g.cfg.Paths)
	return MissingGates(p.Value), err
}

// Trust records that the user lets agents and the benchmark run here, and lays
// the track out. Nothing else can be closed before it.
func (g *Gates) Trust(ctx context.Context) error {
	if err := g.cfg.Paths.EnsureLayout(g.cfg.Store); err != nil {
		return err
	}
	if err := hideOurs(ctx, g.cfg); err != nil {
		return err
	}
	if err := g.hold(); err != nil {
		return err
	}
	return setGate(g.cfg, func(p *track.AgentSettings) { p.TrustConfirmed = true })
}

// Distrust takes trust back; where it was never given, nothing is written.
func (g *Gates) Distrust() error {
	p, err := track.LoadProgress(g.cfg.Paths)
	if err != nil || !p.Value.TrustConfirmed {
		return err
	}
	if err := g.hold(); err != nil {
		return err
	}
	return setGate(g.cfg, func(p *track.AgentSettings) { p.TrustConfirmed = false })
}

// hold takes the track, so that no loop starts on what is half answered.
func (g *Gates) hold() (err error) {
	if g.lock == nil {
		g.lock, err = track.AcquireLock(g.cfg.Paths.LockPath(), track.Holder{Command: "si init", StartedAt: g.cfg.Now()})
	}
	return err
}

// trusted refuses whatever comes before trust.
func (g *Gates) trusted() error {
	p, err := track.LoadProgress(g.cfg.Paths)
	if err == nil && !p.Value.TrustConfirmed {
		err = fmt.Errorf("%w: confirm it first", ErrNoTrust)
	}
	return firstOf(err, g.hold())
}

// CheckGoal says what is wrong with a goal, without writing it. Of v the branch and
// the sealed files count.
func (g *Gates) CheckGoal(ctx context.Context, a GoalAnswer, v track.Settings) error {
	_, err := g.checkGoal(ctx, a, v)
	return err
}

func (g *Gates) checkGoal(ctx context.Context, a GoalAnswer, v track.Settings) ([]byte, error) {
	in := SetUp{Goal: &a, Settings: &v}
	goal, text, err := prepareGoal(g.cfg, in)
	if err != nil {
		return nil, err
	}
	if _, err := g.cfg.Repo.Resolve(ctx, v.TargetBranch); err != nil {
		return nil, fmt.Errorf("%w: target_branch %q: %w", ErrNotSetUp, v.TargetBranch, err)
	}
	return text, checkScope(ctx, g.cfg, goal, v, in)
}

// Goal writes goal.md.
func (g *Gates) Goal(ctx context.Context, a GoalAnswer, v track.Settings) error {
	if err := g.trusted(); err != nil {
		return err
	}
	text, err := g.checkGoal(ctx, a, v)
	if err != nil {
		return err
	}
	if err := writeGoal(g.cfg, text); err != nil {
		return err
	}
	g.goal = &a
	return nil
}

// Benchmark proves that the benchmark works, lets in.Confirm decide, and writes
// settings.json. Of in the fields Confirm, AcceptNoise and Tell count; cfg.Listen
// hears each run. An error leaves the settings as they were; what ran is in the
// journal and in the logs all the same.
func (g *Gates) Benchmark(ctx context.Context, v track.Settings, in SetUp) error {
	if err := g.trusted(); err != nil {
		return err
	}
	l := &Loop{cfg: g.cfg, started: g.cfg.Now()}
	if err := l.load(); err != nil {
		return err
	}
	var err error
	if l.settings, err = prepareSettings(ctx, g.cfg, &v, l.goal.Target); err != nil {
		return err
	}
	if err := checkScope(ctx, g.cfg, l.goal, l.settings.Value, in); err != nil {
		return err
	}
	if slug := l.progress.Value.GoalSlug; slug != nil {
		l.refs = refNames{prefix: l.progress.Value.SI.RefPrefix, goal: *slug}
	}
	in.Goal, in.Settings = g.goal, &v
	if err := l.prepareBenchmark(ctx, in); err != nil {
		return err
	}
	return g.agree(l)
}

// agree lets a goal that was answered in its dimensions say what the benchmark
// says: a file of the user's own stays as it is.
func (g *Gates) agree(l *Loop) error {
	if g.goal == nil || g.goal.File != nil || l.goal.Direction == l.settings.Value.BenchmarkDirection {
		return nil
	}
	goal := l.goal
	goal.Direction = l.settings.Value.BenchmarkDirection
	text, err := goal.Markdown()
	if err != nil {
		return err
	}
	return writeGoal(g.cfg, text)
}

// Harness writes harness.md; nil keeps what is there, or writes the default rules.
func (g *Gates) Harness(text []byte) error {
	if err := g.trusted(); err != nil {
		return err
	}
	return prepareHarness(g.cfg, text)
}

// Settings changes what no run has to prove: agents, rounds, budgets.
func (g *Gates) Settings(change func(*track.Settings)) error {
	if err := g.trusted(); err != nil {
		return err
	}
	doc, err := track.LoadSettings(g.cfg.Paths)
	if err != nil {
		return err
	}
	before := benchmarkID(doc.Value)
	change(&doc.Value)
	switch faults := doc.Value.Faults(); {
	case len(faults) > 0:
		return fmt.Errorf("%w: settings: %s", ErrNotSetUp, strings.Join(faults, "; "))
	case benchmarkID(doc.Value) != before:
		return errors.New("the benchmark can be changed by its own gate only")
	}
	return doc.Save(g.cfg.Store)
}

// Finish names the track and makes its branch, when every other gate is closed.
func (g *Gates) Finish(ctx context.Context) error {
	if err := g.trusted(); err != nil {
		return err
	}
	l := &Loop{cfg: g.cfg, started: g.cfg.Now()}
	if err := l.load(); err != nil {
		return err
	}
	p := l.progress.Value
	if !p.GoalSet || !p.BenchmarkSet || !p.HarnessSet {
		return fmt.Errorf("%w: missing %s", ErrNotSetUp, join(MissingGates(p)))
	}
	if err := l.nameTrack(); err != nil {
		return err
	}
	return l.checkImproveBranch(ctx)
}

// Contained says in a line what agents and benchmarks are held in.
func Contained(cfg Config) string { return (&Loop{cfg: cfg}).contained() }

// InScope counts the files that an entry of a scope names.
func InScope(entry string, files []string) (n int) {
	for _, f := range files {
		if matchesAny([]string{entry}, f) {
			n++
		}
	}
	return n
}
