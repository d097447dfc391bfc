// Package tuner is the built-in backend: it plays every role without a model, a
// key or a network. It finds named numbers and switches in the files in scope
// and searches over them, one change a plan. It promises that the same seed and
// the same history give the same plans, that it never reads or writes outside
// the task's folder, and that it edits exactly the place that a plan names. It
// knows nothing of what the numbers mean, and measures nothing.
package tuner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"si/agents"
)

// Name is what settings call this backend.
const Name = "tuner"

// ErrNothingLeft says that a planner has no value left to try.
var ErrNothingLeft = errors.New("nothing left to try")

// nothing is the answer of a role that has no value left to try. format says so
// behind the agent's name and "has".
func nothing(format string, args ...any) error {
	return &agents.Failure{Kind: agents.FailNothing, What: fmt.Sprintf(format, args...), Err: ErrNothingLeft}
}

// Tuner is the built-in backend. It holds no state: what it knows it reads from
// the task, so one value serves any number of goroutines.
type Tuner struct{}

// New returns the built-in backend.
func New() *Tuner { return &Tuner{} }

// Run plays one role. Every role but the executor answers with one JSON document;
// the executor edits one file below the task's folder and answers with a sentence.
func (*Tuner) Run(ctx context.Context, t agents.Task) (agents.Answer, error) {
	if t.Wall > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, t.Wall)
		defer cancel()
	}
	text, notes, err := play(ctx, t)
	var idle *agents.Failure
	switch {
	case errors.As(err, &idle):
		idle.Role, idle.ID, idle.Log = t.Role, t.ID, t.Log
		notes = append(notes, idle.What)
	case err != nil:
		notes = append(notes, "failed: "+err.Error())
	}
	if logErr := writeLog(t.Log, notes); err == nil {
		err = logErr
	}
	if err != nil {
		return agents.Answer{}, err
	}
	return agents.Answer{Text: report(ctx, t) + text}, nil
}

// play returns the answer, and the lines that go to the task's log.
func play(ctx context.Context, t agents.Task) (string, []string, error) {
	switch t.Role {
	case agents.Researcher:
		return document(research(ctx, t))
	case agents.Planner:
		return document(plan(ctx, t))
	case agents.Architect:
		return document(architect(ctx, t))
	case agents.Critic:
		return document(critic(t))
	case agents.Executor:
		said, err := execute(ctx, t)
		return said, []string{said}, err
	case agents.Clarifier, agents.Builder, agents.Reviewer, agents.Retrospective: // they judge in words
	}
	return "", nil, fmt.Errorf("the built-in tuner does not play the role %q; choose another backend for it", t.Role)
}

// document encodes what a role produced.
func document[T any](doc T, notes []string, err error) (string, []string, error) {
	if err != nil {
		return "", notes, err
	}
	data, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return "", notes, fmt.Errorf("encode the answer: %w", err)
	}
	return string(data) + "\n", notes, nil
}

func writeLog(path string, notes []string) error {
	if path == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("create the folder of the agent's log: %w", err)
	}
	// Never through a link that somebody has put in the log's place.
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("replace the agent's log: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("write the agent's log: %w", err)
	}
	_, err = f.WriteString(strings.Join(notes, "\n") + "\n")
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("write the agent's log: %w", err)
	}
	return nil
}
