package plot

import (
	"slices"

	"si/track"
)

// FromRecords makes a chart's data of what a track holds. Records may come in
// any order. Of two winners in a round the one that is better is the later.
func FromRecords(title string, s track.Settings, baseline *float64, records []track.RawRecord) Data {
	d := Data{Title: title, Metric: s.PrimaryMetric, Direction: s.BenchmarkDirection, Baseline: baseline, Target: s.TargetValue}
	sorted := slices.Clone(records)
	slices.SortStableFunc(sorted, func(a, b track.RawRecord) int {
		if a.Iteration == b.Iteration && a.IsWinner && b.IsWinner && a.BenchmarkScore != nil && b.BenchmarkScore != nil {
			if s.BenchmarkDirection.Better(*b.BenchmarkScore, *a.BenchmarkScore) {
				return -1
			}
			return 1
		}
		return a.Iteration - b.Iteration
	})
	for _, r := range sorted {
		p := Point{Iteration: r.Iteration, Score: r.BenchmarkScore, Winner: r.IsWinner, Family: r.ApproachFamily, PlanID: r.PlanID}
		if r.SI != nil && r.SI.Effect != nil && r.BenchmarkScore != nil {
			p.Low, p.High = bounds(*r.BenchmarkScore, *r.SI.Effect, s.BenchmarkDirection)
		}
		d.Points = append(d.Points, p)
		if r.IsWinner && r.BenchmarkScore != nil {
			d.Champion = append(d.Champion, Step{r.Iteration, *r.BenchmarkScore})
		}
	}
	return d
}

// bounds turns the interval of an effect, a fraction of the champion's score and
// positive when better, into scores around the candidate's own. An effect that
// is known exactly has none.
func bounds(score float64, e track.Effect, dir track.Direction) (low, high *float64) {
	sign := 1.0
	if dir == track.LowerIsBetter {
		sign = -1
	}
	if e.Low == nil || e.High == nil || *e.Low == *e.High || e.InSigma || 1+sign*e.Value <= 0 {
		return nil, nil
	}
	champion := score / (1 + sign*e.Value)
	a, b := champion*(1+sign**e.Low), champion*(1+sign**e.High)
	a, b = min(a, b), max(a, b)
	return &a, &b
}
