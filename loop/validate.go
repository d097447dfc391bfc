package loop

import (
	"context"
	"fmt"

	"si/benchmark"
	"si/gitops"
	"si/track"
)

// validationRuns is how often each tree runs the second benchmark where runs differ.
const validationRuns = 5

// validationSpec is the second benchmark of the settings.
func validationSpec(s track.Settings) (spec benchmark.Spec, ok bool, err error) {
	v := s.SI.Validation
	if v.Command == "" {
		return spec, false, nil
	}
	second := s
	second.BenchmarkCommand = v.Command
	second.SI.Benchmark.Regex, second.SI.Benchmark.ResultFiles, second.SI.Benchmark.ResultFD = v.Regex, v.ResultFiles, false
	if v.Format != "" {
		second.BenchmarkFormat = v.Format
	}
	if v.Metric != "" {
		second.PrimaryMetric = v.Metric
	}
	if v.Direction != "" {
		second.BenchmarkDirection = v.Direction
	}
	if spec, err = benchmark.SpecOf(second); err != nil {
		return spec, false, fmt.Errorf("si.validation: %w", err)
	}
	return spec, true, nil
}

// validate runs the second benchmark on the winner and on the champion, in turns.
// It returns why the winner is refused, or "", and what was found.
func (r *round) validate(ctx context.Context, e entrant, tip string, merge gitops.Merge) (string, *track.Validated, error) {
	spec, ok, err := validationSpec(r.settings.Value)
	if err != nil || !ok {
		return "", nil, err
	}
	runs := orDefault(r.settings.Value.SI.Validation.Runs, validationRuns)
	if r.deterministic() {
		runs = 1
	}
	var before, after []benchmark.Reading
	for i := 1; i <= runs; i++ {
		for _, side := range r.turn(i, e, tip, merge) {
			side.key = fmt.Sprintf("validation/%s/%s/%d", e.executor, side.subject, i)
			s, err := r.retake(ctx, side)
			switch {
			case err != nil:
				return "", nil, err
			case s.Score == nil && s.Category == track.CategoryInfrastructure:
				r.st.Value.SI.Undecided = true
				return "undecided: " + s.Fault, nil, nil
			case s.Score == nil && side.subject == "champion":
				r.st.Value.SI.Undecided = true
				return "undecided: the validation failed on the champion: " + s.Fault, nil, nil
			case s.Score == nil:
				return "the validation failed: " + s.Fault, nil, nil
			case side.subject == "champion":
				before = append(before, readingOf(s))
			default:
				after = append(after, readingOf(s))
			}
		}
	}
	label, _, err := r.label(ctx)
	if err != nil {
		return "", nil, err
	}
	found := &track.Validated{Before: medianScore(before), After: medianScore(after), Runs: 2 * runs, Label: label}
	result := benchmark.NoWorse(spec.Direction, before, after)
	ev := track.GuardEvent{Subject: e.executor, Guard: "validation", Passed: result.OK, Reason: result.What}
	if err := r.emit(track.EvGuard, "si", ev); err != nil || result.OK {
		return "", found, err
	}
	return "overfit: better on the benchmark and worse on the validation: " + result.What, found, nil
}

// turn gives the two runs of the i-th pair; who is first alternates.
func (r *round) turn(i int, e entrant, tip string, merge gitops.Merge) []request {
	champion := request{round: r.n, purpose: "validation", subject: "champion", commit: tip, decides: true, validation: true}
	winner := champion
	winner.subject, winner.commit = e.executor, merge.Commit
	if i%2 == 0 {
		return []request{winner, champion}
	}
	return []request{champion, winner}
}

func medianScore(readings []benchmark.Reading) float64 {
	scores := make([]float64, len(readings))
	for i, r := range readings {
		scores[i] = r.Score
	}
	return median(scores)
}
