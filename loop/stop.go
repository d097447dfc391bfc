package loop

import (
	"fmt"
	"maps"
	"slices"

	"si/track"
)

// stopCondition says whether the loop is to end, and why.
func (l *Loop) stopCondition() (track.Status, string) {
	p, s := l.progress.Value, l.settings.Value
	switch {
	case targetReached(p, s):
		return track.StatusTargetReached, ""
	case s.PlateauWindow > 0 && p.PlateauConsecutiveCount >= s.PlateauWindow:
		return track.StatusPlateau, ""
	case p.Iterations >= s.MaxIterations:
		return track.StatusMaxIterations, ""
	case s.CircuitBreakerThreshold > 0 && p.CircuitBreakerCount >= s.CircuitBreakerThreshold:
		return track.StatusCircuitBreaker, ""
	}
	if reason := l.budgetSpent(); reason != "" {
		return track.StatusBudget, reason
	}
	return track.StatusRunning, ""
}

// targetReached compares the near end of what is known of the champion's score:
// a lucky estimate must not end a campaign.
func targetReached(p track.AgentSettings, s track.Settings) bool {
	if s.TargetValue == nil || p.BestScore == nil {
		return false
	}
	near := *p.BestScore
	if p.SI.BestNear != nil {
		near = *p.SI.BestNear
	}
	return near == *s.TargetValue || s.BenchmarkDirection.Better(near, *s.TargetValue)
}

func (l *Loop) budgetSpent() string {
	b := l.settings.Value.SI.Budget
	if b.BenchmarkRuns > 0 && l.past.runs+l.lab.runs >= b.BenchmarkRuns {
		return fmt.Sprintf("budget of %d benchmark runs is spent", b.BenchmarkRuns)
	}
	if why := l.hoursSpent(); why != "" {
		return why
	}
	return l.purse.spent(b)
}

// count applies a recorded round to the counters of spec step 9. delta is the
// gain that was measured, nil when nothing won.
func count(p *track.AgentSettings, threshold track.Threshold, delta *gain) {
	p.Iterations++
	switch {
	case delta == nil:
		p.CircuitBreakerCount++
	case delta.reaches(threshold):
		p.PlateauConsecutiveCount, p.CircuitBreakerCount = 0, 0
	default:
		p.PlateauConsecutiveCount++
		p.CircuitBreakerCount = 0
	}
}

// gain is what a round's winners brought together.
type gain struct {
	relative float64 // positive is better
	absolute float64 // |after − before|
}

func (g gain) reaches(t track.Threshold) bool {
	if t.Relative {
		return g.relative >= t.Value
	}
	return g.absolute >= t.Value
}

// MissingGates names the gates of the set-up that are open.
func MissingGates(p track.AgentSettings) []string {
	var missing []string
	for _, g := range []struct {
		name string
		set  bool
	}{
		{"trust_confirmed", p.TrustConfirmed},
		{"si_setting_goal", p.GoalSet},
		{"si_setting_benchmark", p.BenchmarkSet},
		{"si_setting_harness", p.HarnessSet},
		{"goal_slug", p.GoalSlug != nil},
	} {
		if !g.set {
			missing = append(missing, g.name)
		}
	}
	return missing
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
