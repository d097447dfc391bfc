package tools

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"si/internal/clean"
	"si/internal/proc"
)

const (
	longestCommand = 10 * time.Minute
	keptOutput     = 16 << 10 // bytes of each end of a command's output
	maxCommand     = 64 << 10 // bytes
)

func shellTool() tool {
	return tool{edits: true, Spec: Spec{
		Name: "shell",
		About: fmt.Sprintf("Run a command with /bin/sh in the working folder. It gets no input. It is ended, with everything that it started, after its time; "+
			"of a long output the first and the last %d bytes are shown.", keptOutput),
		Schema: params([]string{"command"},
			[3]string{"command", "string", "the command line"},
			[3]string{"seconds", "integer", fmt.Sprintf("how long it may take, at most %d", int(longestCommand.Seconds()))}),
	}, call: (*Box).runShell}
}

func (b *Box) runShell(ctx context.Context, args []byte) (string, error) {
	var a struct {
		Command string `json:"command"`
		Seconds int    `json:"seconds"`
	}
	if err := decode(args, &a); err != nil {
		return "", err
	}
	if strings.TrimSpace(a.Command) == "" || len(a.Command) > maxCommand || strings.ContainsRune(a.Command, 0) {
		return "", &malformed{fmt.Sprintf("command: want a line of 1 to %d bytes", maxCommand)}
	}
	wall := b.shell.Wall
	if a.Seconds > 0 {
		wall = time.Duration(min(a.Seconds, int(longestCommand.Seconds()))) * time.Second
	}
	out := proc.Output{HeadMax: keptOutput, TailMax: keptOutput}
	r, err := b.shell.Run.Run(ctx, proc.Command{
		Path: "/bin/sh", Args: []string{"-c", a.Command}, Dir: b.dir, Env: b.shell.Env,
		Stdout: out, Merge: true, Wall: wall, Supervised: true, Contain: b.shell.Contain,
	})
	if err != nil && r.Outcome == "" {
		return "", fmt.Errorf("the command cannot be run: %w", err)
	}
	return told(r, wall)
}

// told is what the model reads of a command. A command that fails is a failed
// call, with its output all the same.
func told(r proc.Result, wall time.Duration) (string, error) {
	text := output(r.Stdout)
	var end string
	switch r.Outcome {
	case proc.Exited:
		if r.Code == 0 {
			return text, nil
		}
		end = fmt.Sprintf("exit code %d", r.Code)
	case proc.TimedOut:
		end = fmt.Sprintf("ended after %s, its time", wall)
	case proc.Signaled:
		end = "ended by the signal " + r.Signal
	case proc.IdledOut, proc.Cancelled:
		end = "ended from outside"
	}
	return "", errors.New(end + "\n" + text)
}

func output(c proc.Captured) string {
	if c.Total == 0 {
		return "(it printed nothing)"
	}
	head, tail := string(c.Head), ""
	if over := c.Total - int64(len(c.Head)); over > 0 {
		tail = cutFrom(string(c.Tail), int(min(over, int64(len(c.Tail)))))
	}
	return clean.Text([]byte(middle(head, tail, c.Total)))
}
