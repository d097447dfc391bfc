package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
)

// feeder copies a reader into the child's stdin and closes it. A child that
// does not read never blocks a run: the pipe is cut when the child has ended.
type feeder struct {
	w    *os.File
	src  io.Reader
	done chan struct{}
	err  error
}

// openStdin returns the child's end, and the feeder unless there is nothing.
func openStdin(src io.Reader) (*os.File, *feeder, error) {
	if src == nil {
		null, err := os.Open(os.DevNull)
		if err != nil {
			return nil, nil, fmt.Errorf("stdin: %w", err)
		}
		return null, nil, nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("stdin: make a pipe: %w", err)
	}
	return r, &feeder{w: w, src: src, done: make(chan struct{})}, nil
}

func (f *feeder) feed() {
	defer close(f.done)
	defer closeAll(f.w)
	defer func() {
		if p := recover(); p != nil {
			f.err = fmt.Errorf("panic: %v", p)
		}
	}()
	// The writer is hidden behind an interface so that no splice gets round the deadline.
	_, err := io.Copy(struct{ io.Writer }{f.w}, f.src)
	if !expected(err) {
		f.err = err
	}
}

// expected tells the ends that are the child's business: it stopped reading, or
// it ended and finish cut the copy off.
func expected(err error) bool {
	for _, ok := range []error{syscall.EPIPE, os.ErrDeadlineExceeded, os.ErrClosed, io.ErrClosedPipe} {
		if errors.Is(err, ok) {
			return true
		}
	}
	return err == nil
}

func (f *feeder) finish() error {
	_ = f.w.SetWriteDeadline(time.Now())
	f.closeSource()
	t := time.NewTimer(slack)
	defer t.Stop()
	select {
	case <-f.done:
		return nil
	case <-t.C:
		return errors.New("feed stdin: its reader blocks and cannot be closed; give one that is an io.Closer")
	}
}

// problem is what went wrong with the source, if the copy has ended.
func (f *feeder) problem() error {
	select {
	case <-f.done:
		return f.err
	default:
		return nil
	}
}

func (f *feeder) closeSource() {
	if c, ok := f.src.(io.Closer); ok {
		_ = c.Close() // it was closed to end a Read; the caller knows its own errors
	}
}

func (f *feeder) abandon() {
	closeAll(f.w)
	f.closeSource()
}
