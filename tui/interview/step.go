package interview

import "slices"

// Step is a gate of the interview.
type Step int

// The steps, in order.
const (
	StepTrust Step = iota
	StepGoal
	StepBenchmark
	StepHarness
	StepAgents
	StepStart
)

var stepNames = [...]string{"trust", "goal", "benchmark", "harness", "agents", "start"}

func (s Step) String() string { return stepNames[s] }

// firstStep is the first open gate; where all are closed a person wants to change
// something, which begins at the goal.
func firstStep(open []string) Step {
	for i, gate := range []string{gateTrust, gateGoal, gateBenchmark, gateHarness} {
		if slices.Contains(open, gate) {
			return Step(i)
		}
	}
	if len(open) > 0 {
		return StepAgents
	}
	return StepGoal
}
