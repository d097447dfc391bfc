package proc

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// supervised is a child under a supervisor: this side of the two pipes.
//
// Over control the supervisor is told to stop (one byte); its end, without a
// byte, says that this program is no more. Over status it tells, a line each:
// "started pid" or "failed errno", "ended status cpu rss", "swept n left".
type supervised struct {
	process *os.Process // the supervisor
	leader  int         // the command
	mark    string
	longer  time.Duration // than the grace that it may take to end
	control *os.File
	status  *os.File
	record  record

	over        chan struct{} // closed when the command has ended
	gone        chan struct{} // closed when the supervisor has been waited for
	end         ending
	swept, left int
	clean       bool // the supervisor did its work
}

func (l *Local) startSupervised(p plan, files []*os.File) (child, error) {
	controlR, controlW, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	statusR, statusW, err := os.Pipe()
	if err != nil {
		closeAll(controlR, controlW)
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	argv := append([]string{l.o.Self, superviseArg, p.grace.String(), strconv.FormatBool(p.shield), strconv.FormatBool(p.report), p.dir, p.path}, p.argv...)
	given := append([]*os.File{files[0], files[1], files[2], controlR, statusW}, files[3:]...)
	process, err := os.StartProcess(l.o.Self, argv, &os.ProcAttr{
		Dir: "/", Env: p.env, Sys: &syscall.SysProcAttr{Setsid: true}, Files: given,
	})
	closeAll(controlR, statusW)
	if err != nil {
		closeAll(controlW, statusR)
		return nil, fmt.Errorf("start its supervisor: %w", err)
	}
	s := &supervised{
		process: process, mark: l.o.Mark, longer: l.patience, control: controlW, status: statusR,
		over: make(chan struct{}), gone: make(chan struct{}),
	}
	s.record.add(l.o.Registry, process.Pid)
	return s.greet(l.o.Registry, p.path)
}

// noLeader is the session of no process.
const noLeader = -1

// greet waits for the supervisor's first word: the command runs, or why not.
func (s *supervised) greet(registry, path string) (child, error) {
	in := bufio.NewReader(s.status)
	_ = s.status.SetReadDeadline(time.Now().Add(answerLimit))
	word, numbers, err := readStatus(in)
	_ = s.status.SetReadDeadline(time.Time{})
	if err == nil && word == "started" && numbers[0] > 1 {
		s.leader = int(numbers[0])
		s.record.add(registry, s.leader)
		go s.follow(in)
		return s, nil
	}
	closeAll(s.control)
	_ = s.process.Kill()
	waitFor(s.process)
	s.release()
	if err == nil && word == "failed" {
		return nil, &os.PathError{Op: "fork/exec", Path: path, Err: syscall.Errno(numbers[0])}
	}
	if err == nil {
		err = fmt.Errorf("it said %q", word)
	}
	if orphansAreAdopted { // the command may run already, and have ended its supervisor
		endAll(func() []process { return orphansOf(noLeader, s.mark) }, nil, leftoverGrace, nil)
	}
	return nil, fmt.Errorf("start its supervisor: no answer; does Options.Self name a program that calls Supervise? (%w)", err)
}

// follow reads the supervisor's reports until it has gone.
func (s *supervised) follow(in *bufio.Reader) {
	defer close(s.gone)
	for {
		word, numbers, err := readStatus(in)
		if err != nil {
			break
		}
		switch {
		case word == "ended" && !closed(s.over):
			s.end = ending{
				status: syscall.WaitStatus(numbers[0]), cpu: time.Duration(numbers[1]),
				maxRSS: numbers[2], at: time.Now(),
			}
			close(s.over)
		case word == "swept":
			s.swept, s.left, s.clean = int(numbers[0]), int(numbers[1]), true
		}
	}
	end := waitFor(s.process)
	if !closed(s.over) {
		s.end = end
		close(s.over)
	}
}

// readStatus reads one report: a word and three numbers.
func readStatus(in *bufio.Reader) (word string, numbers [3]int64, err error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return "", numbers, err
	}
	word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	for i, f := range strings.Fields(rest) {
		if i == len(numbers) {
			break
		}
		if numbers[i], err = strconv.ParseInt(f, 10, 64); err != nil {
			return "", numbers, fmt.Errorf("read the supervisor's report %q: %w", line, err)
		}
	}
	return word, numbers, nil
}

func (s *supervised) pid() int               { return s.leader }
func (s *supervised) ended() <-chan struct{} { return s.over }
func (s *supervised) stop()                  { _, _ = s.control.Write([]byte{orderStop}) } // EPIPE: it is ending already
func (s *supervised) warnings() []string     { return s.record.warnings }

func (s *supervised) ending() ending {
	if !closed(s.over) {
		return endingOf(syscall.WaitStatus(syscall.SIGKILL), nil)
	}
	return s.end
}

// waitGone gives the supervisor the time that its own limits need. One that was
// stopped or starved is then done without: it still adopts orphans, so its
// descendants are ended before it is.
func (s *supervised) waitGone(grace time.Duration) bool {
	if within(max(grace, leftoverGrace)+s.longer, s.gone) {
		return true
	}
	endAll(func() []process { return descendantsOf(s.process.Pid) }, nil, 0, nil)
	_ = s.process.Kill()
	return within(slack, s.gone)
}

// endRest has work only when the supervisor was killed.
func (s *supervised) endRest() (swept, left int) {
	if closed(s.gone) && s.clean {
		return s.swept, s.left
	}
	return endAll(func() []process { return orphansOf(s.leader, s.mark) }, nil, leftoverGrace, nil)
}

func (s *supervised) release() {
	closeAll(s.control, s.status)
	s.record.remove()
}
