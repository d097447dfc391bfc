package loop

import (
	"context"
	"errors"
	"fmt"
	"math"

	"si/benchmark"
	"si/benchmark/duel"
	"si/gitops"
	"si/track"
)

// contest decides between two trees by runs that it asks for one at a time. It
// is a pure function of the scores, so that one that was interrupted goes on
// when its scores are added again.
type contest interface {
	Next() (duel.Arm, bool)
	Add(score float64) error
	Verdict() duel.Verdict
	Blocks() int // that are complete
}

// comparison is one contest between two commits.
type comparison struct {
	round             int
	key               string // prefix of the keys of its runs
	purpose           string
	before, after     string // commits
	beforeName        string
	afterName         string
	screened          bool // the scores below are of runs that were taken already
	champion, leading float64
	seed              uint64
	twin              bool        // both commits are the same: the second side has a checkout of its own
	vetoed            func() bool // asked before each run; may be nil
}

// duelOutcome is what a comparison came to.
type duelOutcome struct {
	accepted       bool
	undecided      bool // the benchmark failed on the champion: nobody's fault
	reason         string
	failed         track.Category // of the run that gave no score, "" when each did
	fault          string         // what was wrong with it
	effect         *track.Effect
	before, after  float64 // medians
	readingsBefore []benchmark.Reading
	readingsAfter  []benchmark.Reading
	samplesAfter   []track.Sample
	timesBefore    []benchmark.Timing
	timesAfter     []benchmark.Timing
	validated      *track.Validated
	doubt          string // what the clock could not show of a gain in time
}

func (o duelOutcome) subAfter() track.SubScore { return medianSubScores(o.samplesAfter) }

// errSwitched says that a benchmark which was thought to repeat did not.
var errSwitched = errors.New("the benchmark is noisy after all")

// duel compares a candidate, merged onto the tip, with the tip.
func (r *round) duel(ctx context.Context, e entrant, tip string, merge gitops.Merge) (duelOutcome, error) {
	c := comparison{
		round: r.n, key: "duel/" + e.executor, purpose: "duel", before: tip, after: merge.Commit,
		beforeName: "champion", afterName: e.executor, seed: hash(fmt.Sprintf("%d/%s", r.n, e.executor)),
		vetoed: func() bool { return r.helm.vetoed(e.plan) },
	}
	if merge.Tree == e.tree {
		c.after = e.commit // the commit that documents name
	}
	if r.seedRule() {
		return r.compareBySeed(ctx, c)
	}
	// The screen measured the candidate on the round's base. On another
	// champion nothing has been measured yet.
	if champion, ok := r.screenScore(); ok && tip == r.st.Value.SI.Base {
		c.screened, c.champion, c.leading = true, champion, e.score
	}
	return r.compare(ctx, c)
}

func (r *round) screenScore() (float64, bool) {
	for _, key := range []string{"screen/champion", "screen/champion/again"} {
		if s, ok := r.lab.known[sampleID{r.n, key}]; ok && s.Score != nil {
			return *s.Score, true
		}
	}
	return 0, false
}

// compare runs the duel that the noise of the benchmark calls for.
func (l *Loop) compare(ctx context.Context, c comparison) (duelOutcome, error) {
	if l.deterministic() && !c.screened {
		out, err := l.screenBoth(ctx, &c)
		if err != nil || out.reason != "" {
			return out, err
		}
	}
	d, err := duel.New(l.duelConfig(c))
	if err != nil {
		return duelOutcome{}, fmt.Errorf("start the duel of %s: %w", c.afterName, err)
	}
	out, err := l.fight(ctx, c, d)
	if err != nil || out.effect == nil {
		return out, err
	}
	if v := d.Verdict(); v.Switched {
		return out, l.becomeNoisy(v)
	}
	return out, nil
}

// screenBoth takes the one run of each tree that a deterministic duel starts
// from.
func (l *Loop) screenBoth(ctx context.Context, c *comparison) (duelOutcome, error) {
	for _, side := range []struct {
		name, commit string
		score        *float64
	}{{c.beforeName, c.before, &c.champion}, {c.afterName, c.after, &c.leading}} {
		s, err := l.retake(ctx, request{
			round: c.round, key: c.key + "/first/" + side.name, purpose: c.purpose, subject: side.name, commit: side.commit,
			decides: true, twin: c.twin && side.name == c.afterName,
		})
		if err != nil {
			return duelOutcome{}, err
		}
		if s.Score == nil {
			return failedRun(side.name == c.beforeName, s), nil
		}
		*side.score = *s.Score
	}
	c.screened = true
	return duelOutcome{}, nil
}

// failedRun is the outcome of a comparison in which a run gave no score. What the
// machine did is nobody's fault.
func failedRun(ofChampion bool, s track.Sample) duelOutcome {
	if s.Category == track.CategoryInfrastructure {
		return duelOutcome{undecided: true, failed: s.Category, fault: s.Fault, reason: "undecided: " + s.Fault}
	}
	if ofChampion {
		return duelOutcome{undecided: true, failed: s.Category, fault: s.Fault, reason: "undecided: the benchmark failed on the champion: " + s.Fault}
	}
	return duelOutcome{failed: s.Category, fault: s.Fault, reason: fmt.Sprintf("the benchmark failed (%s): %s", s.Category, s.Fault)}
}

// fight takes the runs that the contest asks for.
func (l *Loop) fight(ctx context.Context, c comparison, d contest) (duelOutcome, error) {
	var out duelOutcome
	var before, after []float64
	anew := l.settings.Value.SI.Measure.Rebuild == "block"
	for i, blocks := 1, 0; ; i++ {
		next, more := d.Next()
		if !more {
			break
		}
		if c.vetoed != nil && c.vetoed() {
			// Not as if it had not been: the next one would have a second chance at luck.
			return duelOutcome{undecided: i > 1, reason: errVetoed.Error() + " in the middle of its duel"}, l.lab.closeBlock(ctx)
		}
		if done := d.Blocks(); i == 1 || done > blocks {
			if anew {
				l.lab.layAnew()
			}
			if err := l.lab.openBlock(ctx, fmt.Sprintf("%d/%s/%d", c.round, c.key, done)); err != nil {
				return out, err
			}
			blocks = done
		}
		req := request{round: c.round, key: fmt.Sprintf("%s/%s/%d", c.key, l.progress.Value.SI.NoiseMode, i), purpose: c.purpose, subject: c.beforeName, commit: c.before, decides: true, warm: !l.deterministic()}
		if next == duel.Candidate {
			req.subject, req.commit, req.twin = c.afterName, c.after, c.twin
		}
		s, err := l.retake(ctx, req)
		if err != nil {
			return out, err
		}
		if s.Score == nil {
			return failedRun(next == duel.Champion, s), l.lab.closeBlock(ctx)
		}
		if err := d.Add(*s.Score); err != nil {
			return out, fmt.Errorf("judge the runs of %s: %w", c.afterName, err)
		}
		if next == duel.Candidate {
			after, out.samplesAfter = append(after, *s.Score), append(out.samplesAfter, s)
			out.timesAfter = append(out.timesAfter, timingOf(s))
			out.readingsAfter = append(out.readingsAfter, readingOf(s))
		} else {
			before, out.timesBefore = append(before, *s.Score), append(out.timesBefore, timingOf(s))
			out.readingsBefore = append(out.readingsBefore, readingOf(s))
		}
	}
	out.conclude(d.Verdict(), c, before, after)
	return out, l.lab.closeBlock(ctx)
}

func (o *duelOutcome) conclude(v duel.Verdict, c comparison, before, after []float64) {
	o.accepted, o.reason = v.Decision == duel.Accepted, v.Reason
	o.effect = effectOf(v)
	o.before, o.after = c.champion, c.leading
	if len(before) > 0 {
		o.before = median(before)
	}
	if len(after) > 0 {
		o.after = median(after)
	}
}

func effectOf(v duel.Verdict) *track.Effect {
	e := &track.Effect{Value: v.Effect, Low: bounded(v.Low), High: bounded(v.High), P: bounded(v.P), Runs: v.Runs, InSigma: v.Linear}
	if bounded(e.Value) == nil {
		e.Value = 0
	}
	return e
}

// bounded is nil for what JSON cannot hold.
func bounded(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// becomeNoisy records that the benchmark does not repeat. The round is judged
// anew, as noisy.
func (l *Loop) becomeNoisy(v duel.Verdict) error {
	p := &l.progress.Value.SI
	p.NoiseMode, p.Sigma = duel.Noisy.String(), v.Sigma
	if err := l.progress.Save(l.cfg.Store); err != nil {
		return err
	}
	if err := l.note("the benchmark was deterministic at set-up and is not any more (%s): it is judged as noisy from now on", v.Reason); err != nil {
		return err
	}
	return errSwitched
}

// duelConfig says how a comparison is judged. The noise is frozen here: it
// comes from set-up and from the rounds before this one.
func (l *Loop) duelConfig(c comparison) duel.Config {
	o, p := l.settings.Value.SI.Measure, l.progress.Value.SI
	cfg := duel.Config{
		HigherIsBetter: l.settings.Value.BenchmarkDirection == track.HigherIsBetter, Mode: l.mode(),
		Alpha: o.Alpha, MinEffect: o.MinEffect, Target: o.Target, MaxRuns: o.MaxRuns,
		Sigma: p.Sigma, Tolerance: p.Tolerance, Linear: p.Linear,
		ChampionScore: c.champion, CandidateScore: c.leading, Seed: l.settings.Value.SI.Seed ^ c.seed,
	}
	if cfg.Mode == duel.Expensive {
		cfg.Alpha = 0 // its few runs can prove nothing at a smaller alpha than their own
	}
	if cfg.Mode == duel.Noisy || cfg.Mode == duel.Expensive {
		cfg.Sigma = l.sigmaBefore(c.round)
	}
	return cfg
}

// sigmaBefore is the noise as the runs of earlier rounds tell it.
func (l *Loop) sigmaBefore(round int) float64 {
	p := l.progress.Value.SI
	t := duel.NewTracker(duel.Noise{Mode: duel.Noisy, Sigma: p.Sigma, Linear: p.Linear}, l.settings.Value.BenchmarkDirection == track.HigherIsBetter)
	for _, s := range l.lab.past {
		if s.round > 0 && s.round < round && s.Score != nil && s.Purpose != "check" && s.Purpose != "validation" {
			t.Observe(s.Tree, *s.Score)
		}
	}
	return t.Sigma()
}

// expensiveRun is from how long a run on the benchmark is judged with fewer.
const expensiveRun = 600

func (l *Loop) mode() duel.Mode {
	mode, err := duel.ParseMode(l.progress.Value.SI.NoiseMode)
	if err != nil {
		mode = duel.Noisy // a track of the seed's tool has never measured its noise
	}
	if mode == duel.Noisy && l.progress.Value.SI.LongestRun > expensiveRun {
		mode = duel.Expensive
	}
	return mode
}

func (l *Loop) deterministic() bool {
	m := l.mode()
	return m == duel.Deterministic || m == duel.QuasiDeterministic
}

func (l *Loop) minEffect() float64 {
	return duel.Config{Mode: duel.Noisy, MinEffect: l.settings.Value.SI.Measure.MinEffect}.WithDefaults().MinEffect
}

func (l *Loop) maxRuns() int {
	return duel.Config{Mode: duel.Noisy, MaxRuns: l.settings.Value.SI.Measure.MaxRuns}.WithDefaults().MaxRuns
}
