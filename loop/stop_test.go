package loop

import (
	"testing"

	"si/track"
)

// TestCount is the table of spec step 9: what a round does to the counters.
func TestCount(t *testing.T) {
	half := track.Threshold{Value: 0.005, Relative: true}
	absolute := track.Threshold{Value: 0.01}
	for _, c := range []struct {
		name             string
		threshold        track.Threshold
		won              *gain
		plateau, breaker int // before
		wantP, wantB     int
	}{
		{"a gain above the threshold clears both", half, &gain{relative: 0.02}, 2, 2, 0, 0},
		{"a gain at the threshold counts", half, &gain{relative: 0.005}, 2, 1, 0, 0},
		{"a gain below it is a plateau", half, &gain{relative: 0.004}, 1, 2, 2, 0},
		{"no winner trips the breaker, not the plateau", half, nil, 2, 1, 2, 2},
		{"absolute: above", absolute, &gain{relative: 0, absolute: 0.02}, 1, 1, 0, 0},
		{"absolute: at", absolute, &gain{relative: 9, absolute: 0.01}, 1, 1, 0, 0},
		{"absolute: below, however large relatively", absolute, &gain{relative: 9, absolute: 0.009}, 0, 1, 1, 0},
		{"a winner that measured worse is a plateau", half, &gain{relative: -0.1}, 0, 0, 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := track.AgentSettings{Iterations: 4, PlateauConsecutiveCount: c.plateau, CircuitBreakerCount: c.breaker}
			count(&p, c.threshold, c.won)
			if p.Iterations != 5 || p.PlateauConsecutiveCount != c.wantP || p.CircuitBreakerCount != c.wantB {
				t.Errorf("iterations %d, plateau %d, breaker %d; want 5, %d, %d", p.Iterations, p.PlateauConsecutiveCount, p.CircuitBreakerCount, c.wantP, c.wantB)
			}
		})
	}
}

func TestStopCondition(t *testing.T) {
	ten, near := 10.0, 9.5
	for _, c := range []struct {
		name string
		p    track.AgentSettings
		s    track.Settings
		want track.Status
	}{
		{"nothing holds", track.AgentSettings{Iterations: 1}, track.Settings{MaxIterations: 2, PlateauWindow: 3, CircuitBreakerThreshold: 3}, track.StatusRunning},
		{"rounds", track.AgentSettings{Iterations: 2}, track.Settings{MaxIterations: 2}, track.StatusMaxIterations},
		{"plateau", track.AgentSettings{PlateauConsecutiveCount: 3}, track.Settings{MaxIterations: 9, PlateauWindow: 3}, track.StatusPlateau},
		{"breaker", track.AgentSettings{CircuitBreakerCount: 3}, track.Settings{MaxIterations: 9, CircuitBreakerThreshold: 3}, track.StatusCircuitBreaker},
		{"target, higher", track.AgentSettings{BestScore: &ten}, track.Settings{MaxIterations: 9, BenchmarkDirection: track.HigherIsBetter, TargetValue: &near}, track.StatusTargetReached},
		{"target, lower, not yet", track.AgentSettings{BestScore: &ten}, track.Settings{MaxIterations: 9, BenchmarkDirection: track.LowerIsBetter, TargetValue: &near}, track.StatusRunning},
		{"target reached by luck only", track.AgentSettings{BestScore: &ten, SI: track.RunProgress{BestNear: &near}}, track.Settings{MaxIterations: 9, BenchmarkDirection: track.HigherIsBetter, TargetValue: &ten}, track.StatusRunning},
		{"target exactly", track.AgentSettings{BestScore: &ten}, track.Settings{MaxIterations: 9, BenchmarkDirection: track.LowerIsBetter, TargetValue: &ten}, track.StatusTargetReached},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := &Loop{lab: &lab{}, cfg: Config{Now: fixedNow}}
			l.started = fixedNow()
			l.progress.Value, l.settings.Value = c.p, c.s
			if got, _ := l.stopCondition(); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}
