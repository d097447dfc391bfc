package slurm

import (
	"errors"
	"strings"
)

// ErrUndecided is the kind of an error that says nothing about the command: the
// node was lost, the job was preempted or cancelled by somebody, the scheduler
// did not answer. The run may be asked for again.
var ErrUndecided = errors.New("undecided")

// ErrImpossible is the kind of an error of a request that the scheduler will
// never grant as it stands. The settings have to change.
var ErrImpossible = errors.New("impossible request")

// errAway says that the scheduler could not be reached.
var errAway = errors.New("the scheduler does not answer")

// JobError is what went wrong with a job. Its kind, ErrUndecided or
// ErrImpossible, is found by errors.Is.
type JobError struct {
	Job   string // the scheduler's number, "" when there is none
	Name  string // the job's name
	Node  string // where it ran, "" when unknown
	State string // the scheduler's word for its state, and the reason
	What  string // what is wrong, and what to do
	Log   string // the end of the job's own log, one line, cleaned
	Kind  error

	away bool // the scheduler did not answer, so the job may live
}

func (e *JobError) Error() string {
	var b strings.Builder
	b.WriteString("job " + e.Name)
	if e.Job != "" {
		b.WriteString(" (" + e.Job + ")")
	}
	if e.Node != "" {
		b.WriteString(" on node " + e.Node)
	}
	if e.State != "" {
		b.WriteString(", state " + e.State)
	}
	b.WriteString(": " + e.What)
	if e.Log != "" {
		b.WriteString("; its log ends with: " + e.Log)
	}
	if e.Kind != nil {
		b.WriteString(" (" + e.Kind.Error() + ")")
	}
	return b.String()
}

func (e *JobError) Unwrap() error { return e.Kind }

// isAway reports whether the job may live although the call has failed.
func isAway(err error) bool {
	var failed *JobError
	return errors.As(err, &failed) && failed.away
}
