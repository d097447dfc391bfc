package plot

import (
	"slices"

	"si/track"
)

// FromRecords makes a chart's data of what a track holds. Records may come in
// any order. A candidate's interval is that of its effect, around the champion
// that it was measured against.
func FromRecords(title string, s track.Settings, baseline *float64, records []track.RawRecord) Data {
	d := Data{Title: title, Metric: s.PrimaryMetric, Direction: s.BenchmarkDirection, Baseline: baseline, Target: s.TargetValue}
	sorted := slices.Clone(records)
	slices.SortStableFunc(sorted, func(a, b track.RawRecord) int { return a.Iteration - b.Iteration })
	champion := baseline
	for _, r := range sorted {
		p := Point{Iteration: r.Iteration, Score: r.BenchmarkScore, Winner: r.IsWinner, Family: r.ApproachFamily, PlanID: r.PlanID}
		if r.SI != nil && r.SI.Effect != nil && champion != nil {
			p.Low, p.High = bounds(*champion, *r.SI.Effect, s.BenchmarkDirection)
		}
		d.Points = append(d.Points, p)
		if r.IsWinner && r.BenchmarkScore != nil {
			d.Champion = append(d.Champion, Step{r.Iteration, *r.BenchmarkScore})
			champion = r.BenchmarkScore
		}
	}
	return d
}

// bounds turns a relative effect, positive when better, into scores.
func bounds(champion float64, e track.Effect, dir track.Direction) (low, high *float64) {
	if e.Low == nil || e.High == nil {
		return nil, nil
	}
	a, b := *e.Low, *e.High
	if dir == track.LowerIsBetter {
		a, b = -b, -a
	}
	l, h := champion*(1+a), champion*(1+b)
	return &l, &h
}
