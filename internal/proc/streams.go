package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"
)

// streams are the three standard files of a child, seen from this side.
type streams struct {
	stdin    *feeder // nil: the null device
	stdout   *stream
	stderr   *stream // nil: merged into stdout
	report   *stream // nil: there is none
	forChild []*os.File
	clock    *activity
}

// activity remembers when the last byte came, on the monotonic clock.
type activity struct {
	base time.Time
	last atomic.Int64
}

func (a *activity) touch() { a.last.Store(int64(time.Since(a.base))) }

func (s *streams) quiet() time.Duration {
	return time.Since(s.clock.base) - time.Duration(s.clock.last.Load())
}

func openStreams(c Command) (*streams, error) {
	if !c.Merge && c.Stdout.File != "" && c.Stdout.File == c.Stderr.File {
		return nil, fmt.Errorf("stdout and stderr name the same file %s: set Merge", c.Stdout.File)
	}
	s := &streams{clock: &activity{base: time.Now()}, forChild: make([]*os.File, 3)}
	if err := s.open(c); err != nil {
		s.closeChildEnds()
		s.abandon()
		return nil, err
	}
	return s, nil
}

func (s *streams) open(c Command) error {
	var err error
	if s.forChild[0], s.stdin, err = openStdin(c.Stdin); err != nil {
		return err
	}
	if s.stdout, s.forChild[1], err = openStream(c.Stdout, s.clock, os.Pipe); err != nil {
		return fmt.Errorf("stdout: %w", err)
	}
	if c.Merge {
		s.forChild[2] = s.forChild[1]
	} else if s.stderr, s.forChild[2], err = openStream(c.Stderr, s.clock, os.Pipe); err != nil {
		return fmt.Errorf("stderr: %w", err)
	}
	if c.Report == nil {
		return nil
	}
	report, end, err := openStream(*c.Report, s.clock, socketPair)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	s.report, s.forChild = report, append(s.forChild, end)
	return nil
}

// closeChildEnds must follow the start at once: the end of output is seen when
// the last holder of the child's end has closed it.
func (s *streams) closeChildEnds() { closeAll(s.forChild...) }

// abandon releases what was opened for a child that did not start.
func (s *streams) abandon() {
	if s.stdin != nil {
		s.stdin.abandon()
	}
	for _, st := range s.outputs() {
		st.sink.closeFile()
		closeAll(st.r)
	}
}

func (s *streams) outputs() []*stream {
	var out []*stream
	for _, st := range []*stream{s.stdout, s.stderr, s.report} {
		if st != nil {
			out = append(out, st)
		}
	}
	return out
}

func (s *streams) pump() {
	s.clock.touch()
	if s.stdin != nil {
		go s.stdin.feed()
	}
	for _, st := range s.outputs() {
		go st.read()
	}
}

// finish waits for the readers. A process that escaped from the tree may still
// hold a pipe; it is ended, and if it cannot be found, it is not waited for. The
// count is of the processes ended here.
func (s *streams) finish(pid int) (swept int, err error) {
	var errs []error
	if s.stdin != nil {
		errs = append(errs, s.stdin.finish())
	}
	limit := time.Now().Add(drainLimit)
	for _, st := range s.outputs() {
		if !st.ends(time.Until(limit)) {
			swept += endHolders(st.far, pid)
			st.cutOff(slack)
			<-st.done
		}
		closeAll(st.r)
		errs = append(errs, st.err)
	}
	return swept, errors.Join(errs...)
}

func (s *streams) warnings() []string {
	var out []string
	for _, st := range s.outputs() {
		if f := st.sink.file; f != nil && f.err != nil {
			out = append(out, f.err.Error())
		}
		if st.cut {
			out = append(out, "output was cut: a process that could not be found held the pipe open")
		}
	}
	if s.stdin != nil {
		if err := s.stdin.problem(); err != nil {
			out = append(out, "feed stdin: "+err.Error())
		}
	}
	return out
}

// stream reads one output pipe until its end.
type stream struct {
	r     *os.File
	far   string // the child's end, as /proc/PID/fd names it; "" where there is no such table
	sink  *capture
	clock *activity
	done  chan struct{} // closed by read; sink, err and cut are safe to look at then
	err   error
	cut   bool
}

// openStream makes a stream over what open makes: an end to read and one for the child.
func openStream(o Output, clock *activity, open func() (r, w *os.File, err error)) (*stream, *os.File, error) {
	sink, err := newCapture(o)
	if err != nil {
		return nil, nil, err
	}
	r, w, err := open()
	if err != nil {
		sink.closeFile()
		return nil, nil, fmt.Errorf("make a pipe: %w", err)
	}
	widen(r)
	return &stream{r: r, far: nameOf(w), sink: sink, clock: clock, done: make(chan struct{})}, w, nil
}

// read owns sink. After a callback has panicked it goes on draining, so that the
// child does not block on a full pipe before it is ended.
func (st *stream) read() {
	defer close(st.done)
	defer st.sink.closeFile()
	buf := make([]byte, 32<<10)
	for {
		n, err := st.r.Read(buf)
		if n > 0 {
			st.clock.touch()
			st.guard(func() { st.sink.write(buf[:n]) })
		}
		if err != nil {
			st.over(err)
			return
		}
	}
}

func (st *stream) over(err error) {
	st.sink.end()
	if st.sink.lines != nil {
		st.guard(st.sink.lines.last)
	}
	switch {
	case errors.Is(err, io.EOF):
	case errors.Is(err, os.ErrDeadlineExceeded):
		st.cut = true
	default:
		st.err = errors.Join(st.err, fmt.Errorf("read output: %w", err))
	}
}

// guard turns a panic of the line callback into an error and stops calling it.
func (st *stream) guard(f func()) {
	defer func() {
		if p := recover(); p != nil {
			st.sink.lines = nil
			st.err = errors.Join(st.err, fmt.Errorf("handle a line of output: panic: %v", p))
		}
	}()
	f()
}

// ends waits for the reader, at most for limit.
func (st *stream) ends(limit time.Duration) bool {
	t := time.NewTimer(max(limit, 0))
	defer t.Stop()
	select {
	case <-st.done:
		return true
	case <-t.C:
		return false
	}
}

func (st *stream) cutOff(after time.Duration) { _ = st.r.SetReadDeadline(time.Now().Add(after)) }

func (c *capture) closeFile() {
	if c.file != nil {
		c.file.close()
	}
}
