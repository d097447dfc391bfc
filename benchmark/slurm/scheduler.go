package slurm

import (
	"context"
	"fmt"
	"strings"
	"time"

	"si/internal/clean"
	"si/internal/proc"
)

// phase is what a scheduler's state means here.
type phase int

const (
	unknown   phase = iota // it could not be asked
	pending                // it has not started, or will start again
	running                // it has started and is not over
	ended                  // it is over
	lost                   // it is over by no fault of the command
	forgotten              // the scheduler knows nothing of it (any more)
)

func (p phase) over() bool { return p == ended || p == lost || p == forgotten }

// state is a scheduler's answer. Texts are cleaned.
type state struct {
	phase      phase
	word       string // its own word
	reason     string
	node       string
	impossible bool // pending, and it will never start
	timedOut   bool // ended, by the scheduler's own limit
	outOfMem   bool // ended, because memory ran out
}

func (s state) String() string {
	if s.reason == "" || s.reason == "None" {
		return s.word
	}
	return s.word + " (" + s.reason + ")"
}

// submission is what a scheduler needs to know of a job.
type submission struct {
	name   string
	mark   string        // tells this submission from earlier ones of the same name
	script string        // path
	node   string        // run on this node only
	limit  time.Duration // of the whole job, 0 for the scheduler's own
}

// timeMargin is added to the command's own limit: the job enforces that one
// itself, and the scheduler's is for a job that cannot.
const timeMargin = 2 * time.Minute

// scheduler is an existing scheduler. Its methods block for as long as its
// programs do, which is bounded, and may be called concurrently.
type scheduler interface {
	// submit gives the job's id. The error is errAway when it could not be
	// reached, and then the job may exist all the same.
	submit(ctx context.Context, s submission) (string, error)
	// find gives the id of a submission that was made, "" when there is none or
	// when it cannot be told.
	find(ctx context.Context, s submission) (string, error)
	state(ctx context.Context, id string) state
	cancel(ctx context.Context, id string) error
}

// callLimit bounds one call of a scheduler's program; a controller that is away
// lets them wait, some for longer than a minute.
const callLimit = 90 * time.Second

// tools runs a scheduler's programs.
type tools struct {
	run proc.Runner
	env []string
}

// callError is a program that ran and failed.
type callError struct {
	program string
	code    int
	said    string // the end of its output, one line, cleaned
}

func (e *callError) Error() string {
	return fmt.Sprintf("%s ended with exit code %d: %s", e.program, e.code, e.said)
}

// call gives what a program printed. Its end by itself with another code than 0
// is a *callError; no end in time is errAway.
func (t tools) call(ctx context.Context, argv ...string) (string, error) {
	res, err := t.run.Run(ctx, proc.Command{
		Path: argv[0], Args: argv[1:], Dir: "/", Env: t.env, Wall: callLimit, Grace: time.Second,
	})
	switch {
	case err != nil:
		return "", fmt.Errorf("run %s: %w", argv[0], err)
	case res.Outcome == proc.TimedOut:
		return "", fmt.Errorf("%w: %s did not end within %s", errAway, argv[0], callLimit)
	case res.Outcome == proc.Cancelled:
		return "", fmt.Errorf("run %s: %w", argv[0], context.Cause(ctx))
	case res.Outcome != proc.Exited || res.Code != 0:
		said := strings.TrimSpace(string(res.Stderr.Tail))
		if said == "" {
			said = strings.TrimSpace(string(res.Stdout.Tail))
		}
		return "", &callError{program: argv[0], code: res.Code, said: clean.Line(said, 500)}
	}
	return string(res.Stdout.Head), nil
}
