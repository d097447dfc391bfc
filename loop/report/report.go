// Package report writes what a reviewer who was not there needs: the result of a
// track as Markdown and as one HTML page. Both are pure functions of a Report;
// nothing is read, measured or run here. Every text in a Report may come from an
// agent, a benchmark or the repository: what is written shows it, and does nothing
// that it says. The page has no script, loads nothing and opens from a file.
package report

import (
	"time"

	"si/track"
)

// Report is what is known of a track that is handed over. Empty texts, nil
// pointers and empty lists are things that are not known; they are left out or
// said to be unknown, never invented.
type Report struct {
	Title      string // the goal in one line
	Goal       string // the goal's whole text, as the user wrote it
	Repository string // its name, not where it lies on the machine
	Benchmark  Benchmark
	Source     Source
	Run        Run
	Whole      *Duel  // the start against the result, measured afresh; nil when it was not
	WholeWhy   string // why it was not
	Rules      Rules
	Gains      []Gain // in the order in which they were kept
	Refused    Refused
	// NotEnforced are promises that this run rests on without a machine that
	// keeps them: no sandbox, an open network.
	NotEnforced []string
	Warnings    []string // a noisy machine, the user's word in the place of a proof
	Machine     Machine
	Versions    []Version
	Checks      []Check // beside those that every report has
	Progress    []byte  // the track's chart, an SVG as plot.Render gives it
}

// Benchmark is how the score was taken.
type Benchmark struct {
	Command   string
	Setup     string // run once in a new tree; "" when nothing is
	Metric    string // the name that the score goes by in its output
	Direction track.Direction
	Sealed    []string // paths that no change may touch
}

// Source says where the result lies in git. Commits are full ids.
type Source struct {
	Target   string // the branch that the work started from
	Improve  string // the branch that the rounds were merged into
	Delivery string // the branch with one clean commit for each gain; "" when there is none
	Start    string // commit before the first gain
	Champion string // commit after the last one, which Whole measured
	Tip      string // commit at the tip of Delivery
}

// Run is what it took.
type Run struct {
	Started, Ended time.Time
	Rounds         int
	StopReason     string // why it ended, in words
	BenchmarkRuns  int
	AgentTasks     int
}

// Rules are the settings that decide what is kept.
type Rules struct {
	// Alpha is the level of the test that was really used, as a fraction; each end
	// of an interval holds with confidence 1 - Alpha. 0 is unknown.
	Alpha     float64
	MinEffect float64 // smallest effect that is kept, as a fraction
	MaxRuns   int     // of one comparison, both sides together
	NoiseMode string  // deterministic, quasi-deterministic or noisy
	Sigma     float64 // noise of one run, as a fraction (in units of the score where effects are InSigma)
	ErrorRate string  // how often a change that does nothing is kept, in words
}

// Duel is one comparison of two trees.
type Duel struct {
	Effect        track.Effect // of the later tree over the earlier one
	Before, After float64      // medians
	Samples       []Sample     // every run, in the order in which they were taken
}

// Sample is one run of the benchmark in a Duel.
type Sample struct {
	After bool // of the later tree
	Score float64
}

// Gain is one change that was kept.
type Gain struct {
	Round      int
	Executor   string
	PlanID     string // what `si why` takes
	Hypothesis string // what the change was to do, in its author's words
	Family     string // kind of approach
	Commit     string // on the delivery branch; "" when it was left off
	Merge      string // on the improve branch
	Files      []File
	Diff       []byte // unified; may be cut
	DiffCut    bool   // Diff was cut before it came here
	Duel       Duel   // that it won
	SubScores  []SubScore
	Guards     []Guard
	Validation *track.Validated // the benchmark that agents do not see
	Warnings   []string         // of the critic and of the checks
	LeftOut    LeftOut
}

// File is a file that a gain changed, with its counts of lines.
type File struct {
	Path           string
	Added, Removed int
	Binary         bool // lines are not counted
}

// SubScore is a further number of the benchmark; nil when it gave none.
type SubScore struct {
	Name          string
	Before, After *float64
}

// Guard is something that a change had to keep.
type Guard struct {
	Name   string
	Passed bool
	Reason string
}

// Worth is what leaving a gain out of the result has shown.
type Worth string

// What a kept gain can turn out to be.
const (
	WorthReal      Worth = "real"       // without it the result is worse
	WorthRides     Worth = "rides"      // without it the result is as good
	WorthHarmful   Worth = "harmful"    // without it the result is better
	WorthNeeded    Worth = "needed"     // without it the benchmark does not run
	WorthBuiltOn   Worth = "built_on"   // a later gain builds on it: it cannot be left out alone
	WorthReplaced  Worth = "replaced"   // a later gain has undone it
	WorthUndecided Worth = "undecided"  // the runs do not tell
	WorthUntried   Worth = "unmeasured" // nobody looked
)

// LeftOut is the result against the result without one gain.
type LeftOut struct {
	Worth  Worth
	Effect *track.Effect // of having the gain; nil when it was not measured
	Reason string
}

// Refused are the candidates that were not kept, in short.
type Refused struct {
	Total  int
	Counts []Count     // by category
	Near   []Candidate // that came closest
	Ideas  []Candidate // refused only because they touch the same lines as a gain
}

// Count is how many candidates were refused for one reason.
type Count struct {
	Category string
	N        int
}

// Candidate is a change that was not kept.
type Candidate struct {
	Round      int
	Executor   string
	PlanID     string
	Hypothesis string
	Effect     *track.Effect // nil when no comparison measured it
	Reason     string
}

// Machine is where the runs were taken.
type Machine struct {
	OS, CPU string
	Cores   int
}

// Version names a program and its version.
type Version struct{ Name, Version string }

// Check is a command by which a reader can look for himself.
type Check struct{ What, Command string }
