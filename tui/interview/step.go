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

// StepNames are open gates, as loop.MissingGates has them, in the words of the screen. What
// comes last there, the start, closes what no step of its own does.
func StepNames(open []string) []string {
	var out []string
	for _, gate := range open {
		step := StepStart
		if i := slices.Index(gates[:], gate); i >= 0 {
			step = Step(i)
		}
		out = append(out, step.String())
	}
	return slices.Compact(out)
}

// gates are those of the first steps, in their order.
var gates = [...]string{gateTrust, gateGoal, gateBenchmark, gateHarness}

// firstStep is the first open gate; where all are closed a person wants to change
// something, which begins at the goal.
func firstStep(open []string) Step {
	for i, gate := range gates {
		if slices.Contains(open, gate) {
			return Step(i)
		}
	}
	if len(open) > 0 {
		return StepAgents
	}
	return StepGoal
}
