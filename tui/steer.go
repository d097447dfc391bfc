package tui

import "context"

// Act is something that a person can ask of a loop.
type Act string

// The acts. Their names are those of the commands that do the same.
const (
	ActStop    Act = "stop"    // When: step or now
	ActPause   Act = "pause"   // before the next step
	ActResume  Act = "resume"  // after a pause
	ActIdea    Act = "idea"    // Text: for the planners
	ActSkip    Act = "skip"    // Target: an agent at work
	ActVeto    Act = "veto"    // Target: an executor of the round, or a plan
	ActMeasure Act = "measure" // Target: an executor of the round
)

// Wish is one request of a person to a loop.
type Wish struct {
	Act    Act
	When   string
	Target string
	Text   string
}

// Steer carries wishes to the loop, in whichever process it runs. Ask returns
// once the wish is on disk, with a sentence that says when it takes effect. It is
// called from one goroutine at a time, and never from one that draws.
type Steer interface {
	Ask(ctx context.Context, w Wish) (string, error)
}
