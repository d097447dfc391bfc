package command

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"si/agents"
	"si/internal/proc"
)

const (
	promptName = "prompt.md"
	answerName = "answer.json"
)

// exchange is the folder through which si and one run of the program pass
// files. The program may do there what it likes, so si reaches into it through
// an os.Root, which no link leads out of.
type exchange struct {
	dir  string
	root *os.Root
}

func newExchange(parent string, t agents.Task) (*exchange, error) {
	if err := makeLogDir(t.Log); err != nil {
		return nil, err
	}
	if parent != "" {
		if err := os.MkdirAll(parent, 0o700); err != nil {
			return nil, err
		}
	}
	dir, err := os.MkdirTemp(parent, "si-task-")
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	x := &exchange{dir, root}
	if err := root.WriteFile(promptName, []byte(t.Prompt), 0o600); err != nil {
		x.remove()
		return nil, err
	}
	return x, nil
}

func (x *exchange) prompt() string { return filepath.Join(x.dir, promptName) }
func (x *exchange) answer() string { return filepath.Join(x.dir, answerName) }

// contain adds the folder to what the program may write to.
func (x *exchange) contain(c *proc.Containment) *proc.Containment {
	if c == nil {
		return nil
	}
	own := *c
	own.Writable = append(slices.Clone(c.Writable), x.dir)
	return &own
}

// read returns what the program wrote as its answer, "" when it wrote nothing.
// The file is opened without blocking, as a named pipe could stand in its place.
func (x *exchange) read() (text string, err error) {
	f, err := x.root.OpenFile(answerName, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("read %s: it is no regular file", x.answer())
	}
	if info.Size() > maxAnswer {
		return "", fmt.Errorf("read %s: its %d bytes are more than the %d of an answer", x.answer(), info.Size(), maxAnswer)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxAnswer))
	return string(data), err
}

// remove is best effort: a folder that the program made undeletable must not
// cost the answer that was paid for, and the parent is cleaned at every start.
func (x *exchange) remove() {
	_ = x.root.Close()
	_ = os.RemoveAll(x.dir)
}
