// Package command plays roles with any program: a line for the shell that reads
// a prompt and prints, or writes, an answer. It knows nothing of any agent's own
// protocol; what such a program prints beyond its answer is only logged.
package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"si/agents"
	"si/internal/proc"
	"si/internal/secret"
)

const (
	maxAnswer = 4 << 20  // bytes of the file
	maxTail   = 1 << 20  // bytes of stdout: 16 programs that flood it have to fit into memory
	maxSaid   = 64 << 10 // bytes of a stream that are kept for a message
)

// Options say which program plays.
type Options struct {
	Command string // a line for /bin/sh
	Name    string // shown to people; the command when empty
	Dir     string // folder outside every workspace for the files of a run; the system's when empty

	Now  func() time.Time // default time.Now
	Zone *time.Location   // of times that the program prints, default the machine's
}

// Backend runs the program. It is safe for concurrent use.
type Backend struct {
	run proc.Runner
	o   Options
}

// New returns a backend that runs o.Command through run.
func New(run proc.Runner, o Options) *Backend {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Zone == nil {
		o.Zone = time.Local
	}
	return &Backend{run, o}
}

// Name is what people call the backend.
func (b *Backend) Name() string {
	if b.o.Name != "" {
		return b.o.Name
	}
	return b.o.Command
}

// Run gives the program the prompt on its stdin and in the file that
// SI_PROMPT_FILE names, with t.Dir as its working folder. The answer is the
// file that SI_ANSWER_FILE names when the program wrote one, otherwise its
// stdout. An exit code other than 0 is a failure whatever was printed.
func (b *Backend) Run(ctx context.Context, t agents.Task) (agents.Answer, error) {
	if strings.TrimSpace(b.o.Command) == "" {
		return agents.Answer{}, failure(t, agents.FailStart, "its command is empty: set one in si.agents of settings.json", nil)
	}
	files, err := newExchange(b.o.Dir, t)
	if err != nil {
		return agents.Answer{}, failure(t, agents.FailStart, "its files cannot be made", err)
	}
	defer files.remove()
	hide := t.Secrets(t.Env)
	result, err := b.run.Run(ctx, b.child(t, files, hide))
	err = judge(ctx, t, result, err)
	var answer agents.Answer
	if err == nil {
		answer, err = answerOf(t, files, result)
	}
	var f *agents.Failure
	if errors.As(err, &f) {
		f = f.Without(hide)
		b.explain(t, f)
		return agents.Answer{}, f
	}
	return answer.Without(hide), err
}

func (b *Backend) child(t agents.Task, files *exchange, hide secret.Set) proc.Command {
	env := append(append([]string(nil), t.Env...),
		"SI_ROLE="+string(t.Role), "SI_ROUND="+strconv.Itoa(t.Round), "SI_TASK="+t.ID,
		"SI_PROMPT_FILE="+files.prompt(), "SI_ANSWER_FILE="+files.answer())
	kept := maxTail
	if t.Role == agents.Executor {
		kept = maxSaid // what it says is advice
	}
	return proc.Command{
		Path: "/bin/sh", Args: []string{"-c", b.o.Command},
		Dir: t.Dir, Env: env, Stdin: strings.NewReader(t.Prompt),
		Stdout: proc.Output{File: t.Log, HeadMax: maxSaid, TailMax: kept, Hide: hide},
		Stderr: proc.Output{File: agents.ErrorLog(t.Log), HeadMax: maxSaid, TailMax: maxSaid, Hide: hide},
		Wall:   t.Wall, Idle: t.Idle, Supervised: true, Contain: files.contain(t.Contain),
	}
}

// answerOf prefers the file: a program that writes it uses stdout for chatter.
func answerOf(t agents.Task, files *exchange, r proc.Result) (agents.Answer, error) {
	text, err := files.read()
	if err != nil {
		return agents.Answer{}, failure(t, agents.FailAnswer, "its answer file cannot be used", err)
	}
	if strings.TrimSpace(text) == "" {
		text = string(r.Stdout.Tail) // the answer comes last, should the stream be longer than what is kept
	}
	if excuse(t, text) {
		f := failure(t, agents.FailExit, "it gives no document, and says why", nil)
		f.Said = agents.LastLines([]byte(text))
		return agents.Answer{}, f
	}
	return agents.Answer{Text: text}, nil
}

// judge turns the end of the child into an error. A runner's error together
// with an outcome means that the child ran, but not all of it could be ended or
// read: what such a child leaves is not to be trusted.
func judge(ctx context.Context, t agents.Task, r proc.Result, runErr error) error {
	if ctx.Err() != nil && (runErr != nil || r.Outcome == proc.Cancelled) { // a finished answer is kept
		return ctx.Err()
	}
	if runErr != nil && r.Outcome == "" {
		return failure(t, agents.FailStart, "it cannot be run", runErr)
	}
	var f *agents.Failure
	switch r.Outcome {
	case proc.Cancelled:
		return context.Canceled
	case proc.TimedOut:
		f = failure(t, agents.FailTimeout, fmt.Sprintf("ended after its limit of %s", t.Wall), nil)
	case proc.IdledOut:
		f = failure(t, agents.FailIdle, fmt.Sprintf("ended after %s without output", t.Idle), nil)
	case proc.Signaled:
		f = failure(t, agents.FailExit, "ended by the signal "+r.Signal, nil)
	case proc.Exited:
		if r.Code == 0 && runErr == nil {
			return nil
		}
		f = failure(t, agents.FailExit, fmt.Sprintf("exit code %d", r.Code), runErr)
		if notFound(r) {
			f.Kind, f.What = agents.FailStart, fmt.Sprintf("its program cannot be started, exit code %d", r.Code)
		}
	default:
		f = failure(t, agents.FailExit, fmt.Sprintf("ended in an unknown way, %q", r.Outcome), nil)
	}
	f.Code, f.Said = r.Code, said(r)
	return f
}

// notFound tells the codes by which a shell says that there is no such program, or that
// it cannot be executed (POSIX, 2.8.2), where nothing was printed that could be work.
func notFound(r proc.Result) bool {
	return (r.Code == 126 || r.Code == 127) && r.Stdout.Total == 0
}

func failure(t agents.Task, kind agents.FailureKind, what string, err error) *agents.Failure {
	return &agents.Failure{Kind: kind, Role: t.Role, ID: t.ID, What: what, Log: t.Log, Err: err}
}

// said is the last lines of stderr, or of stdout when stderr is empty.
func said(r proc.Result) string {
	text := agents.LastLines(r.Stderr.Tail)
	if text == "" {
		text = agents.LastLines(r.Stdout.Tail)
	}
	return text
}

// makeLogDir makes the folder of the log, which the runner expects to exist.
func makeLogDir(log string) error {
	if log == "" {
		return nil
	}
	return os.MkdirAll(filepath.Dir(log), 0o755)
}
