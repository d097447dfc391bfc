// Package interview sets a track up on a terminal, gate by gate: trust, goal,
// benchmark, harness, agents, start. Every answer is written by the gate that it
// closes, when the person has confirmed it, and not before; leaving at any
// question keeps the gates that were closed and nothing of the one that was open.
// It decides nothing itself: what can be run, measured and written is behind the
// small interfaces here.
package interview

import (
	"context"
	"time"

	"si/loop"
	"si/loop/clarify"
	"si/loop/survey"
	"si/track"
)

// Gates writes the answers; *loop.Gates does. Its methods are called one at a time.
type Gates interface {
	Trust(ctx context.Context) error
	Distrust() error
	CheckGoal(ctx context.Context, a loop.GoalAnswer, v track.Settings) error
	Goal(ctx context.Context, a loop.GoalAnswer, v track.Settings) error
	Benchmark(ctx context.Context, v track.Settings, in loop.SetUp) error
	Harness(text []byte) error
	Settings(change func(*track.Settings)) error
	Finish(ctx context.Context) error
}

// Agent is an agent that was found on this machine.
type Agent struct {
	Name  string // as settings name it
	Title string // for people
	State string // its version, or why it cannot be used now
	Ready bool
}

// Clarifier asks about a goal in place of the rules. An error is told, and the
// rules ask.
type Clarifier interface {
	Clarify(ctx context.Context, d clarify.Draft, turns []clarify.Turn, seen clarify.Seen) (Clarified, error)
}

// Clarified is what a clarifier makes of the answers so far.
type Clarified struct {
	Draft    clarify.Draft
	Scores   clarify.Scores
	Question clarify.Question
}

// Builder lets an agent write a benchmark where none is, on a branch of its own.
type Builder interface {
	Build(ctx context.Context, d clarify.Draft, seen clarify.Seen) (Built, error)
}

// Built is a benchmark that was written, and the branch that has it.
type Built struct {
	Finding survey.Finding
	Branch  string
}

// World is what the interview needs of the rest of the program.
type World struct {
	Repository string   // its top folder
	Branch     string   // what improve/… will start from
	Dirty      []string // what is not committed, and so not improved
	Contained  string   // what agents and benchmarks are held in, in a line
	Open       []string // the gates that are open
	Goal       track.Goal
	Settings   track.Settings // those of the track, or of a new one
	Harness    string         // harness.md, "" for a new one
	Custom     []string       // its rules in words
	LogDir     string         // where the benchmark's output goes, file by file

	Gates   Gates
	Survey  func(ctx context.Context) (survey.Report, error)
	Files   func(pattern string) int                   // how many files of the branch an entry of a scope matches
	Agents  func(ctx context.Context) ([]Agent, error) // those of this machine, the best first; the tuner is always one
	Clarify Clarifier                                  // nil: the rules ask
	Build   Builder                                    // nil: none is offered
	Feed    *Feed                                      // hears the loop's events
	Now     func() time.Time
	Dark    bool
	ASCII   bool
}

// Outcome is how an interview ended.
type Outcome struct {
	Start    bool // the person wants the loop to run now
	Finished bool // every gate is closed
	Left     bool // the person left before the end
	Declined bool // trust was not given
}

// The gates' names, as loop.MissingGates has them.
const (
	gateTrust     = "trust_confirmed"
	gateGoal      = "si_setting_goal"
	gateBenchmark = "si_setting_benchmark"
	gateHarness   = "si_setting_harness"
)
