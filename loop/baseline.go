package loop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"si/benchmark"
	"si/benchmark/duel"
	"si/internal/clean"
	"si/track"
)

// baselineRuns is how often the baseline is measured when its runs differ; when
// the first three are equal, those are enough.
const (
	baselineFirst = 3
	baselineRuns  = 6
)

// refusedSpread is the spread of the baseline, max − min relative to the
// median, from which on the user's word is asked for.
const refusedSpread = 0.05

// prepareBenchmark proves that the baseline runs in a workspace of ours, and
// records its score and its noise.
func (l *Loop) prepareBenchmark(ctx context.Context, in SetUp) (err error) {
	measured := l.progress.Value.BenchmarkSet && l.progress.Value.SI.BenchmarkID == benchmarkID(l.settings.Value)
	scope := in.Goal != nil // what the canaries say rests on it
	if guards, err := l.newGuards(); err != nil || measured && !guards && !scope {
		return firstOf(err, l.settings.Save(l.cfg.Store)) // the scores stay what they are
	}
	if l.events, err = openEmitter(l.cfg); err != nil {
		return err
	}
	defer func() {
		l.events.close()
		l.events = nil
	}()
	if l.guard, err = newCheckoutGuard(ctx, l); err != nil {
		return err
	}
	if l.lab, err = newLab(l, nil); err != nil {
		return err
	}
	defer l.lab.close(context.WithoutCancel(ctx))
	start := l.progress.Value.SI.StartCommit
	if l.progress.Value.Iterations == 0 || start == "" {
		if start, err = l.cfg.Repo.Resolve(ctx, l.settings.Value.TargetBranch); err != nil {
			return err
		}
	}
	if err := l.sweepJobs(ctx); err != nil {
		return err
	}
	if _, err := l.cfg.Repo.SweepWorkspaces(ctx, l.cfg.WorkDir, func(string) bool { return false }); err != nil {
		return err
	}
	var samples []track.Sample
	if !measured {
		before := l.progress.Value
		defer func() {
			if err != nil { // what was learned of a benchmark that is not taken
				l.progress.Value = before
				err = errors.Join(err, l.progress.Save(l.cfg.Store))
			}
		}()
		var noise duel.Noise
		if samples, noise, err = l.measureBaseline(ctx, baselineOf{key: "setup", subject: "start", commit: start}, in); err != nil {
			return err
		}
		l.setNoise(samples, noise)
	}
	if err := l.checkGuards(ctx, start); err != nil {
		return err
	}
	switch {
	case !measured:
		err = l.tellTruth(ctx, start, samples, in)
	case scope:
		err = l.trusted(ctx, start)
	}
	if err != nil {
		return err
	}
	// The benchmark and the guards ran the repository's code.
	if err := l.guard.check(ctx, 0, "the set-up"); err != nil {
		return err
	}
	if !measured && in.Confirm != nil {
		if err := l.confirmTrial(ctx, samples, in); err != nil {
			return err
		}
	}
	if err := l.settings.Save(l.cfg.Store); err != nil || measured {
		return err
	}
	if err := l.recordBaseline(start, samples); err != nil || l.progress.Value.Iterations == 0 {
		return err
	}
	return l.rescoreChampion(ctx)
}

// tellTruth lets the canaries speak and says what the benchmark can and cannot
// show.
func (l *Loop) tellTruth(ctx context.Context, start string, samples []track.Sample, in SetUp) error {
	if err := l.trusted(ctx, start); err != nil {
		return err
	}
	if hint := l.lab.rebuilds(); hint != "" {
		if err := l.tell(in, "%s", hint); err != nil {
			return err
		}
	}
	plan, err := l.plan()
	if err != nil {
		return err
	}
	l.progress.Value.SI.Smallest = plan.Smallest
	wall := secondsOf(samples)
	cost := fmt.Sprintf("a round without any gain costs about %.0f runs of the benchmark, %s", plan.NullRuns, minutes(plan.NullRuns*wall))
	switch {
	case l.mode() == duel.Deterministic:
		return l.tell(in, "runs repeat exactly, so any gain is found; %s", cost)
	case l.progress.Value.SI.Linear:
		return l.tell(in, "scores of 0 or less: effects are told in multiples of the noise of one run; a gain of %.1f is found 4 times in 5; %s", plan.Smallest, cost)
	}
	return l.tell(in, "a gain of %.2g %% is found 4 times in 5, a smaller one less often; %s", 100*plan.Smallest, cost)
}

// trusted lets the canaries speak at set-up.
func (l *Loop) trusted(ctx context.Context, start string) error {
	err := l.canaries(ctx, 0, start)
	if errors.Is(err, errUntrusted) {
		return fmt.Errorf("%w: %w", ErrNotSetUp, err)
	}
	return err
}

// minutes tells a time that a person plans with.
func minutes(seconds float64) string {
	if seconds < 90 {
		return fmt.Sprintf("%.0f s", seconds)
	}
	return fmt.Sprintf("%.0f min", seconds/60)
}

// newGuards tells whether the guards are not those that settings.json holds, which
// have passed already.
func (l *Loop) newGuards() (bool, error) {
	old, err := track.LoadSettings(l.cfg.Paths)
	if err != nil {
		return false, err
	}
	return !slices.Equal(old.Value.SI.Guards, l.settings.Value.SI.Guards), nil
}

// checkGuards proves that the commands which guard a winner pass on the unchanged
// repository: else nothing could ever win.
func (l *Loop) checkGuards(ctx context.Context, start string) error {
	guards, err := benchmark.GuardsOf(l.settings.Value)
	if err != nil {
		return err
	}
	for _, g := range guards {
		if g.Command == "" {
			continue
		}
		result, err := l.lab.guard(ctx, 0, "start", start, g)
		if err != nil {
			return err
		}
		if !result.OK {
			return fmt.Errorf("%w: guard %q does not pass on the unchanged repository: %s", ErrNotSetUp, g.Name, clean.Line(result.What, 500))
		}
	}
	return nil
}

// rescoreChampion gives the champion a score on a benchmark that has changed
// since it became one.
func (l *Loop) rescoreChampion(ctx context.Context) error {
	tip, err := l.tip(ctx)
	if err != nil {
		return err
	}
	s, err := l.retake(ctx, request{key: "setup/champion", purpose: "setup", subject: "champion", commit: tip, decides: true})
	if err != nil {
		return err
	}
	if s.Score == nil {
		return fmt.Errorf("%w: the changed benchmark gives no score on the champion: %s", ErrNotSetUp, s.Fault)
	}
	l.progress.Value.BestScore = s.Score
	return l.progress.Save(l.cfg.Store)
}

// benchmarkID tells one way of taking scores from another.
func benchmarkID(s track.Settings) string {
	parts := append([]string{
		s.BenchmarkCommand, s.BenchmarkFormat, s.PrimaryMetric, string(s.BenchmarkDirection), s.SI.Benchmark.Regex, s.SI.Setup,
	}, s.SI.Benchmark.ResultFiles...)
	parts = append(parts, s.SI.Measure.Env...)
	if s.SI.Benchmark.ResultFD || s.SI.Measure.Network {
		parts = append(parts, fmt.Sprint(s.SI.Benchmark.ResultFD, s.SI.Measure.Network))
	}
	return fmt.Sprintf("%016x", hash(strings.Join(parts, "\x00")))
}

// baselineOf names what is measured to know the noise.
type baselineOf struct{ key, subject, commit string }

func (l *Loop) measureBaseline(ctx context.Context, of baselineOf, in SetUp) ([]track.Sample, duel.Noise, error) {
	var samples []track.Sample
	var scores []float64
	var noise duel.Noise
	if err := l.tell(in, "the benchmark runs %d times or more, to know its noise; the first run may have to build", baselineFirst); err != nil {
		return nil, noise, err
	}
	for i := 1; i <= baselineRuns; i++ {
		s, err := l.lab.take(ctx, request{key: fmt.Sprintf("%s/%d", of.key, i), purpose: "setup", subject: of.subject, commit: of.commit, decides: true, twin: i%2 == 0})
		if err != nil {
			return nil, noise, err
		}
		if s.Score == nil {
			return nil, noise, fmt.Errorf("%w: the benchmark gives no score on the unchanged repository: %s (%s); its output is in %s",
				ErrNotSetUp, s.Fault, s.Category, l.cfg.Paths.Absolute(s.Log))
		}
		samples, scores = append(samples, s), append(scores, *s.Score)
		if err := l.tell(in, "run %d of the baseline: %.6g in %.2f s", i, *s.Score, s.Wall); err != nil {
			return nil, noise, err
		}
		if i < baselineFirst {
			continue
		}
		noise = duel.Classify(scores, l.settings.Value.BenchmarkDirection == track.HigherIsBetter, l.minEffect())
		if noise.NeedMore == 0 {
			break
		}
	}
	spread := spreadOf(scores)
	if err := l.tell(in, "noise: %s, spread %.2f %%", noise.Mode, 100*spread); err != nil {
		return nil, noise, err
	}
	if spread >= refusedSpread && !in.AcceptNoise && in.Confirm == nil {
		return nil, noise, fmt.Errorf("%w: the unchanged repository's runs spread over %.1f %%, and a null round costs up to %d runs; quieten the machine or the benchmark, or accept it with --accept-noise",
			ErrNoisy, 100*spread, l.maxRuns())
	}
	return samples, noise, nil
}

func (l *Loop) recordBaseline(start string, samples []track.Sample) error {
	score := median(scoresOf(samples))
	baseline, err := track.LoadBaseline(l.cfg.Paths)
	if err != nil {
		return err
	}
	baseline.Value = track.Baseline{Score: score, RecordedAt: l.cfg.Now().UTC()}
	if err := baseline.Save(l.cfg.Store); err != nil {
		return err
	}
	p := &l.progress.Value
	p.SI.StartCommit, p.SI.BenchmarkID = start, benchmarkID(l.settings.Value)
	p.BestScore, p.BenchmarkSet = &score, true
	return l.progress.Save(l.cfg.Store)
}

// setNoise keeps what the runs of one tree say about the benchmark. Its id is not
// taken here: until the canaries have passed, the next start must look again.
func (l *Loop) setNoise(samples []track.Sample, noise duel.Noise) {
	p := &l.progress.Value.SI
	p.LongestRun = 0
	for _, s := range samples {
		p.LongestRun = max(p.LongestRun, s.Wall)
	}
	p.NoiseMode, p.Sigma, p.Tolerance, p.Linear = noise.Mode.String(), noise.Sigma, noise.Tolerance, noise.Linear
	p.Whole, p.BestNear = nil, nil
	reference := samples[0]
	reference.Raw, reference.SubScores = "", medianSubScores(samples)
	p.Baseline = &reference
}

func scoresOf(samples []track.Sample) []float64 {
	var out []float64
	for _, s := range samples {
		out = append(out, *s.Score)
	}
	return out
}

// tell says how the set-up goes, to the user and to the journal.
func (l *Loop) tell(in SetUp, format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	in.say("%s", text)
	return l.events.emit(track.EvSetup, 0, "si", track.Note{Text: text})
}

func spreadOf(scores []float64) float64 {
	m := median(scores)
	if m == 0 {
		return 0
	}
	return abs((slices.Max(scores) - slices.Min(scores)) / m)
}
