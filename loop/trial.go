package loop

import (
	"context"
	"slices"

	"si/benchmark/duel"
	"si/track"
)

// Trial is what the runs of the unchanged repository say about a benchmark: how
// far it can be relied on, and what rounds with it will cost.
type Trial struct {
	Command      string
	Scores       []float64 // in the order in which they were taken
	Seconds      float64   // of one run, as secondsOf tells
	Score        float64   // the median
	Spread       float64   // max − min, relative to the median
	Noisy        bool      // the spread needs the user's word
	Mode         string    // deterministic, quasi-deterministic or noisy
	Repeats      bool      // runs repeat exactly, so that any gain is found
	Linear       bool      // Smallest is in multiples of the noise of one run
	Smallest     float64   // gain that is found 4 times in 5, relative
	RoundRuns    float64   // of a round without any gain, on average
	DuelRuns     int       // of one duel, at most
	RoundSeconds float64   // what RoundRuns take
	Odd          []string  // what looked odd in the output, and what would make it cheaper
}

// confirmTrial puts the trial before the user.
func (l *Loop) confirmTrial(ctx context.Context, samples []track.Sample, in SetUp) error {
	plan, err := l.plan()
	if err != nil {
		return err
	}
	t := Trial{
		Command: l.settings.Value.BenchmarkCommand, Scores: scoresOf(samples), Mode: l.mode().String(), Repeats: l.mode() == duel.Deterministic,
		Linear: l.progress.Value.SI.Linear, Smallest: plan.Smallest, RoundRuns: plan.NullRuns, DuelRuns: plan.MaxRuns, Odd: samples[0].Odd,
	}
	t.Score, t.Spread = median(t.Scores), spreadOf(t.Scores)
	t.Noisy = t.Spread >= refusedSpread
	t.Seconds = secondsOf(samples)
	if hint := l.lab.rebuilds(); hint != "" {
		t.Odd = append(slices.Clone(t.Odd), hint)
	}
	t.RoundSeconds = t.RoundRuns * t.Seconds
	return in.Confirm(ctx, t)
}

// muchSlower is the ratio from which on a first run did something that the others
// did not need to do again, such as a build.
const muchSlower = 1.5

// secondsOf is what one run takes, on average. A first run that was much slower than
// the others is left out: rounds are made of runs like the others.
func secondsOf(samples []track.Sample) float64 {
	mean := func(of []track.Sample) (sum float64) {
		for _, s := range of {
			sum += s.Wall / float64(len(of))
		}
		return sum
	}
	if len(samples) > 1 {
		if rest := mean(samples[1:]); samples[0].Wall > muchSlower*rest {
			return rest
		}
	}
	return mean(samples)
}
