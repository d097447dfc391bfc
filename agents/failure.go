package agents

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"si/internal/clean"
)

// FailureKind says in which way an agent failed.
type FailureKind string

// The ways in which an agent fails.
const (
	FailStart   FailureKind = "start"   // it could not be started
	FailExit    FailureKind = "exit"    // it ended with an exit code other than 0, or by a signal
	FailTimeout FailureKind = "timeout" // its wall limit
	FailIdle    FailureKind = "idle"    // its limit without output
	FailAnswer  FailureKind = "answer"  // it ended well, but its answer cannot be used

	FailModel     FailureKind = "model"       // the model's server refused, or broke off
	FailAuth      FailureKind = "auth"        // not logged in, or the key is wrong: trying again is no use
	FailUsage     FailureKind = "usage_limit" // the plan's or the server's limit is reached until Until
	FailContext   FailureKind = "context"     // the task is too long for the model
	FailTruncated FailureKind = "truncated"   // it ended without saying that it was done
	FailLimit     FailureKind = "limit"       // a limit of Limits

	// FailNothing is no failure of the agent's work: it looked and has nothing to
	// propose. What says so behind "has": "no other plan: …". Trying again is no use.
	FailNothing FailureKind = "nothing_to_propose"
)

// Failure is an agent's failure. Every error of a Backend and of a Team is one,
// or wraps one, but the error of a cancelled context.
type Failure struct {
	Kind FailureKind
	Role Role
	ID   string
	What string // what is wrong, in one line
	Code int    // exit code, for FailExit
	Said string // its last lines, sanitised; empty when it said nothing
	Log  string // file with its output; empty when there is none
	Err  error  // the cause, when there is one

	Until time.Time // FailUsage: when the limit is lifted; zero when it was not said
	Spent Spent     // what the task cost all the same
}

func (f *Failure) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "run %s: %s", f.ID, f.What)
	if f.Err != nil {
		fmt.Fprintf(&b, ": %v", f.Err)
	}
	if f.Said != "" {
		fmt.Fprintf(&b, "; it said last: %s", clean.Line(f.Said, 300))
	}
	if f.Log != "" {
		fmt.Fprintf(&b, "; its output is in %s", f.Log)
	}
	return b.String()
}

func (f *Failure) Unwrap() error { return f.Err }

// AnswerError says that an agent's answer broke the contract twice, the second
// time after it was told every fault. It unwraps to a *Failure.
type AnswerError struct {
	Role   Role
	ID     string
	Faults []string // of the second answer, each with its field first
	Answer string   // the part of the second answer that was judged, bounded
	Log    string
}

func (e *AnswerError) Error() string { return e.failure().Error() }

func (e *AnswerError) Unwrap() error { return e.failure() }

func (e *AnswerError) failure() *Failure {
	what := "its answer breaks the contract, also after a repair: " + strings.Join(e.Faults, "; ")
	return &Failure{Kind: FailAnswer, Role: e.Role, ID: e.ID, What: clean.Line(what, 600), Log: e.Log}
}

// Nothing returns what an agent says that has nothing to propose, to be read behind
// its name and "has"; "" when err is anything else.
func Nothing(err error) string {
	var f *Failure
	if errors.As(err, &f) && f.Kind == FailNothing {
		return clean.Line(f.What, 600)
	}
	return ""
}

// KindOf returns the way in which an agent failed, "" when err is no failure of
// an agent, a cancelled context for one.
func KindOf(err error) FailureKind {
	var f *Failure
	if errors.As(err, &f) {
		return f.Kind
	}
	return ""
}
