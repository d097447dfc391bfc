package stream

import (
	"encoding/json"
	"strings"
	"time"

	"si/agents"
	"si/internal/proc"
)

// Program is one agent program: how it is started, and how its lines are read.
type Program interface {
	// Order says how the program is started for a task. dir is a folder of the
	// run's own, outside of the workspace, that the program can read.
	Order(t agents.Task, dir string) (Order, error)
	// Dialect reads the lines of one run.
	Dialect(t agents.Task, now func() time.Time) Dialect
}

// Order is how a program is started: in the task's folder, with stdin and then its end.
type Order struct {
	Args  []string
	Env   []string          // KEY=value, beside what Environment hands on
	Stdin string            // the prompt
	Files map[string][]byte // written into the folder of the run, by their names
	Notes []string          // what of the task the program cannot be told
}

// Dialect reads what one run of a program prints. It touches nothing of the
// machine, and is used from one goroutine.
type Dialect interface {
	// Line reads a line that begins like a JSON object, of at most MaxLine bytes.
	// Lines of an unknown kind say nothing: programs get new ones all the time. The
	// dialect keeps nothing of line.
	Line(line []byte) []agents.Event
	// Long is told the beginning of a line that was too long to be read.
	Long(head []byte) []agents.Event
	// Done reports whether the program has nothing more to say: its final event has
	// come, or an error that it would try to overcome for ever.
	Done() bool
	// End is the verdict, after the last line.
	End(e Exit) Verdict
}

// Exit is how a program ended.
type Exit struct {
	Outcome proc.Outcome
	Code    int
}

// Verdict is how a run went by what its stream said. Nothing of it has been cleaned.
type Verdict struct {
	Kind  agents.FailureKind // "" is success: a final event that says so
	What  string             // of a failure, in one line
	Said  string             // the program's own words about it
	Until time.Time          // of a usage limit, zero when not said

	Text string          // the answer
	JSON json.RawMessage // the answer, where the program gives it apart
}

// Failed is the verdict of a run that failed as its program said: by its status
// of HTTP where there is one, otherwise by its words.
func Failed(said string, status int, now time.Time, zone *time.Location) Verdict {
	v := Verdict{Kind: kindOf(said, status), Said: said}
	switch v.Kind { //nolint:exhaustive // the rest is the server's
	case agents.FailAuth:
		v.What = "it is not logged in, or its key is not taken"
	case agents.FailUsage:
		v.What = "its usage limit is reached"
		v.Until = agents.LimitUntil(said, now, zone)
	case agents.FailContext:
		v.What = "the task is too long for its model"
	default:
		v.Kind, v.What = agents.FailModel, "its model's server refused or broke off"
	}
	return v
}

func kindOf(said string, status int) agents.FailureKind {
	switch status {
	case 401, 403:
		return agents.FailAuth
	case 402, 429:
		return agents.FailUsage
	case 413:
		return agents.FailContext
	}
	return agents.SaidWhy(said)
}

// Unfinished is the verdict of a stream without a final event.
func Unfinished() Verdict {
	return Verdict{Kind: agents.FailTruncated, What: "it ended without saying that it was done"}
}

// Object is the text as JSON when it is one object and nothing else, otherwise nil.
func Object(text string) json.RawMessage {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{") || !json.Valid([]byte(text)) {
		return nil
	}
	return json.RawMessage(text)
}
