package proc

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

const (
	superviseArg = "__si_supervise"
	orderStop    = 's'
	controlFile  = 3
	statusFile   = 4
	reportFile   = 5 // the command's descriptor 3, where it has one
	// deadGrace is the time between TERM and KILL when nobody waits any more.
	deadGrace = 300 * time.Millisecond
	// reapLimit is more than it takes to see that a last child was the last.
	reapLimit = 2 * time.Millisecond
)

// Supervise runs this process as the supervisor of one command, if its
// arguments say so, and returns the exit code. main calls it with os.Args before
// anything else: a supervisor lives as long as its command, so it must stay
// small.
//
// The supervisor ends every descendant of the command when the command ends,
// when it is told to, and when the program that started it is no more, however
// that died. On Linux it adopts orphans, so nothing gets away; elsewhere it
// knows only the command's process group.
func Supervise(args []string) (code int, was bool) {
	if len(args) < 2 || args[1] != superviseArg {
		return 0, false
	}
	s, err := newSupervisor(args[2:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "supervise a command:", err)
		return 2, true
	}
	return s.run(), true
}

type supervisor struct {
	grace  time.Duration
	shield bool // the command is started with the signals ignored that this process gets
	report bool // the command has a fourth file
	dir    string
	path   string
	argv   []string
	status *os.File

	leader    int
	code      int           // the command's, known when ended is closed
	ended     chan struct{} // the command has been waited for
	childless chan struct{} // no child is left
	stop      chan struct{} // closed on an order to stop
	abandoned chan struct{} // closed when the other end of the control pipe is no more
	outlived  map[int]bool  // processes seen alive after the command's end
}

func newSupervisor(args []string) (*supervisor, error) {
	if len(args) < 6 {
		return nil, errors.New("this is for the program's own use: too few arguments")
	}
	grace, err := time.ParseDuration(args[0])
	if err != nil {
		return nil, fmt.Errorf("read the grace: %w", err)
	}
	for fd := controlFile; fd <= statusFile; fd++ {
		var st syscall.Stat_t
		if err := syscall.Fstat(fd, &st); err != nil || st.Mode&syscall.S_IFMT != syscall.S_IFIFO {
			return nil, fmt.Errorf("this is for the program's own use: file %d is no pipe", fd)
		}
		syscall.CloseOnExec(fd)
	}
	syscall.CloseOnExec(reportFile) // where there is none, nothing happens
	yes := strconv.FormatBool(true)
	return &supervisor{
		grace: grace, shield: args[1] == yes, report: args[2] == yes, dir: args[3], path: args[4], argv: args[5:],
		status: os.NewFile(statusFile, "status"),
		ended:  make(chan struct{}), childless: make(chan struct{}),
		stop: make(chan struct{}), abandoned: make(chan struct{}),
		outlived: map[int]bool{},
	}, nil
}

func (s *supervisor) run() int {
	// The command is killed with the thread that forked it (Linux), so this
	// thread must not end before the process does.
	runtime.LockOSThread()
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, endSignals()...)
	if err := adopt(); err != nil {
		return s.fail(err)
	}
	pid, err := s.start()
	signal.Notify(signals, endSignals()...)
	if err != nil {
		return s.fail(err)
	}
	s.leader = pid
	s.tell("started %d\n", pid)
	s.letGo()
	go s.reap()
	go s.listen()
	swept, left := s.untilGone(signals)
	s.tell("swept %d %d\n", swept, left)
	if !closed(s.ended) {
		return 128 + int(syscall.SIGKILL) // sent, in vain
	}
	return s.code
}

func endSignals() []os.Signal {
	return []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP}
}

// start forks the command. A signal that is ignored here is ignored there too; one
// that is caught is not. A TERM in the moment of a shielded start is lost: the
// orders of the program that started this one come over the pipe.
func (s *supervisor) start() (pid int, err error) {
	if s.shield {
		signal.Ignore(endSignals()...)
	}
	files := []uintptr{0, 1, 2}
	if s.report {
		files = append(files, reportFile)
	}
	return syscall.ForkExec(s.path, s.argv, &syscall.ProcAttr{
		Dir: s.dir, Env: os.Environ(), Files: files, Sys: commandAttr(),
	})
}

// letGo gives up this process's hold on the command's pipes, so that their ends
// are seen on both sides. If it cannot, they are held until the end, which only
// delays.
func (s *supervisor) letGo() {
	if s.report {
		_ = syscall.Close(reportFile)
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return
	}
	defer closeAll(null)
	for fd := range 3 {
		_ = dup(int(null.Fd()), fd)
	}
}

// fail reports why the command did not start. The exit code is the shell's for it.
func (s *supervisor) fail(err error) int {
	errno := syscall.EINVAL
	_ = errors.As(err, &errno)
	s.tell("failed %d\n", int(errno))
	return 127
}

// tell cannot do anything about an error: nobody listens any more, which the
// control pipe says too.
func (s *supervisor) tell(format string, args ...any) { _, _ = fmt.Fprintf(s.status, format, args...) }

// reap waits for every child, also for adopted ones. It is the only one that
// waits in this process.
func (s *supervisor) reap() {
	defer close(s.childless)
	for {
		var status syscall.WaitStatus
		var usage syscall.Rusage
		pid, err := syscall.Wait4(-1, &status, 0, &usage)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return
		case pid == s.leader && (status.Exited() || status.Signaled()):
			e := endingOf(status, &usage)
			s.tell("ended %d %d %d\n", uint32(status), int64(e.cpu), e.maxRSS)
			s.code = status.ExitStatus()
			if status.Signaled() {
				s.code = 128 + int(status.Signal())
			}
			close(s.ended)
		}
	}
}

// listen waits for orders, and for the end of who gives them.
func (s *supervisor) listen() {
	defer close(s.abandoned)
	control := os.NewFile(controlFile, "control")
	buf := make([]byte, 1)
	for {
		n, err := control.Read(buf)
		if err != nil {
			return
		}
		if n == 1 && buf[0] == orderStop && !closed(s.stop) {
			close(s.stop)
		}
	}
}

// untilGone waits for the first reason to end the tree, and ends it. When nobody
// waits for the result any more, what is left of the grace is not given.
func (s *supervisor) untilGone(signals <-chan os.Signal) (swept, left int) {
	grace, hurry := s.grace, (<-chan struct{})(s.abandoned)
	select {
	case <-s.ended:
		grace = min(grace, leftoverGrace)
		within(reapLimit, s.childless) // mostly it was the last child, and no table need be read
	case <-s.abandoned:
		grace, hurry = min(grace, deadGrace), nil
	case <-s.stop:
	case <-signals:
	}
	_, left = endAll(s.tree, s.alone, grace, hurry)
	within(slack, s.childless)
	return max(0, len(s.outlived)-left), left
}

// alone tells whether nothing lives below this process. Where orphans are adopted, a
// process without children has no descendants, and the kernel says when the last child
// was waited for.
func (s *supervisor) alone() bool { return closed(s.childless) || !orphansAreAdopted }

// tree is what still lives below this process.
func (s *supervisor) tree() []process {
	if closed(s.childless) && orphansAreAdopted {
		return nil
	}
	ended := closed(s.ended)
	all := below(s.leader)
	for _, p := range all {
		if ended && p.pid != s.leader {
			s.outlived[p.pid] = true
		}
	}
	return all
}
