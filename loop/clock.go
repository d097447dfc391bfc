package loop

import (
	"context"
	"fmt"

	"si/benchmark"
	"si/benchmark/duel"
	"si/gitops"
	"si/track"
)

// unseenByClock is how the doubt about a gain in time begins that is kept all the same.
const unseenByClock = "unseen by the clock: "

// clock asks whether a gain in time shows on si's own clock. It returns why the
// candidate is refused, or "". What stays in doubt goes into the outcome, so that
// whoever reads of the gain reads that, too.
func (r *round) clock(ctx context.Context, e entrant, tip string, merge gitops.Merge, out *duelOutcome) (string, error) {
	unit, ok, err := r.timeUnit(*out)
	if err != nil || !ok {
		return "", err
	}
	return out.seen(unit, r.maxRuns(), func(i int) (string, error) { return r.clockPair(ctx, i, e, tip, merge, out) })
}

// seen asks pair for one more run of each tree while the runs so far are too few to
// tell, until they are most, both trees' together. pair returns why a run gave no score.
func (o *duelOutcome) seen(unit float64, most int, pair func(i int) (fault string, err error)) (refused string, err error) {
	sight, what := benchmark.LookForGain(unit, o.timesBefore, o.timesAfter)
	for i := 1; sight == benchmark.Likely || sight == benchmark.Unlikely; i++ {
		if len(o.timesBefore)+len(o.timesAfter)+2 > most {
			what += ", as far as a clock can tell that strays so much by itself"
			break
		}
		if fault, err := pair(i); err != nil || fault != "" {
			return fault, err
		}
		sight, what = benchmark.LookForGain(unit, o.timesBefore, o.timesAfter)
	}
	switch sight {
	case benchmark.Unlikely, benchmark.Unseen:
		return "suspicious: " + what + `; if the metric is no time of the whole run, say so with si.benchmark.time_unit "none"`, nil
	case benchmark.Likely:
		o.doubt = unseenByClock + what
	case benchmark.Seen:
	}
	return "", nil
}

// timeUnit tells whether the metric is the time of a run. The baseline's run counts,
// too: a busy machine must not make a time look as if it were none.
func (l *Loop) timeUnit(out duelOutcome) (seconds float64, ok bool, err error) {
	spec, err := l.spec()
	if err != nil || len(out.timesBefore) == 0 {
		return 0, false, err
	}
	runs := out.timesBefore
	if b := l.progress.Value.SI.Baseline; b != nil && b.Score != nil {
		runs = append(runs[:len(runs):len(runs)], timingOf(*b))
	}
	seconds, ok = benchmark.TimeUnit(spec, l.settings.Value.SI.Benchmark.TimeUnit, runs)
	return seconds, ok, nil
}

// clockPair takes one more run of each tree. Where runs are thought to repeat, these
// must, too.
func (r *round) clockPair(ctx context.Context, i int, e entrant, tip string, merge gitops.Merge, out *duelOutcome) (fault string, err error) {
	again := map[duel.Arm]float64{}
	for _, side := range r.turn(i, e, tip, merge) {
		side.purpose, side.validation, side.warm = "clock", false, !r.deterministic()
		side.key = fmt.Sprintf("clock/%s/%s/%s/%d", e.executor, r.progress.Value.SI.NoiseMode, side.subject, i)
		s, err := r.retake(ctx, side)
		if err != nil {
			return "", err
		}
		champion := side.subject == "champion"
		if s.Score == nil {
			failed := failedRun(champion, s)
			r.st.Value.SI.Undecided = r.st.Value.SI.Undecided || failed.undecided
			return failed.reason, nil
		}
		if champion {
			again[duel.Champion], out.timesBefore = *s.Score, append(out.timesBefore, timingOf(s))
		} else {
			again[duel.Candidate], out.timesAfter = *s.Score, append(out.timesAfter, timingOf(s))
		}
	}
	if !r.deterministic() {
		return "", nil
	}
	return "", r.repeated(e, *out, again)
}

// repeated fails when one of two more runs did not come out as the duel's.
func (r *round) repeated(e entrant, out duelOutcome, again map[duel.Arm]float64) error {
	d, err := duel.New(r.duelConfig(comparison{round: r.n, champion: out.before, leading: out.after}))
	if err != nil {
		return fmt.Errorf("compare the runs of %s: %w", e.executor, err)
	}
	for arm, more := d.Next(); more; arm, more = d.Next() {
		if err := d.Add(again[arm]); err != nil {
			return fmt.Errorf("compare the runs of %s: %w", e.executor, err)
		}
	}
	if v := d.Verdict(); v.Switched {
		return r.becomeNoisy(v)
	}
	return nil
}

func timingOf(s track.Sample) benchmark.Timing {
	return benchmark.Timing{Score: *s.Score, Wall: s.Wall, CPU: s.CPU}
}
