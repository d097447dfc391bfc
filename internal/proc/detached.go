package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// Detached is a program that was started to outlive this one: a loop that a screen
// watches. It is the only kind of child that this package does not end.
type Detached struct {
	PID  int
	done chan struct{}
	code int
	err  error
}

// DetachedCommand is what StartDetached runs. Stdin is nothing; Env is complete, and
// gets no mark: the program is the root of a tree of its own.
type DetachedCommand struct {
	Path string
	Args []string
	Dir  string
	Env  []string
	Log  string // gets stdout and stderr; truncated
}

// StartDetached starts a program in a session of its own, so that no signal of this
// one's terminal reaches it.
func StartDetached(c DetachedCommand) (*Detached, error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", filepath.Base(c.Path), err)
	}
	defer null.Close() // the child has its own
	log, err := os.OpenFile(c.Log, os.O_CREATE|os.O_WRONLY|os.O_TRUNC|os.O_APPEND|syscall.O_NOFOLLOW, 0o644)
	if err != nil {
		return nil, fmt.Errorf("start %s: open its log: %w", filepath.Base(c.Path), err)
	}
	defer log.Close() // the child has its own
	process, err := os.StartProcess(c.Path, append([]string{c.Path}, c.Args...), &os.ProcAttr{
		Dir: c.Dir, Env: c.Env, Files: []*os.File{null, log, log}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", filepath.Base(c.Path), err)
	}
	d := &Detached{PID: process.Pid, done: make(chan struct{})}
	go d.wait(process)
	return d, nil
}

// wait is owned by Done: it ends when the program does, or with this one.
func (d *Detached) wait(p *os.Process) {
	defer close(d.done)
	state, err := p.Wait()
	if err != nil {
		d.err = err
		return
	}
	d.code = state.ExitCode()
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		d.code = 128 + int(status.Signal())
	}
}

// Done is closed when the program has ended.
func (d *Detached) Done() <-chan struct{} { return d.done }

// errRuns says that a program has not ended.
var errRuns = errors.New("it still runs")

// Code is the program's exit code once it has ended, 128 + signal when it was ended
// by one.
func (d *Detached) Code() (int, error) {
	select {
	case <-d.done:
		return d.code, d.err
	default:
		return 0, errRuns
	}
}

// ReadTail reads the last bytes of a file, at most most of them.
func ReadTail(path string, most int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close() // opened for reading only
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read %s: not a regular file", path)
	}
	if over := info.Size() - most; over > 0 {
		if _, err := f.Seek(over, io.SeekStart); err != nil {
			return nil, err
		}
	}
	return io.ReadAll(io.LimitReader(f, most))
}
