package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"si/internal/proc"
)

// helperWorks says that Exec does anything on this system.
const helperWorks = true

// reportFile is the descriptor on which a command reports, see proc.Command.
const reportFile = 3

// Exit codes are the shell's.
const (
	codeCannotRun = 126
	codeNotFound  = 127
)

// Exec does the part of a sandbox that is done inside it, if the arguments of
// this process say so, and returns the exit code; it does not return when the
// process becomes the command. main calls it with os.Args before anything else.
func Exec(args []string) (code int, was bool) {
	if len(args) < 2 || args[1] != execArg {
		return 0, false
	}
	o, argv, err := readOrder(args[2:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "contain a command:", err)
		return codeCannotRun, true
	}
	if o.Trial != nil {
		return o.try(), true
	}
	if o.First {
		return o.first(args[0], argv), true
	}
	return o.become(argv), true
}

// first is the first process of a process namespace. It waits for whatever ends
// and leaves when the command has: the kernel ends the rest.
func (o order) first(self string, argv []string) int {
	// Caught, not ignored, because the command would inherit that. The supervisor
	// signals every process by itself.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	// The command belongs to the same user: it shall not trace this process.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return o.fail(fmt.Errorf("protect the sandbox's first process: %w", err))
	}
	runtime.LockOSThread() // the command inherits from the thread that forks it
	newKeyring()
	path, env := o.Path.String(), reveal(os.Environ())
	if err := runnable(path); err != nil {
		return o.fail(err)
	}
	if (o.Limits != proc.Limits{}) {
		// A process of its own takes the limits: this one would count, and must live on.
		again := order{Path: o.Path, Limits: o.Limits}
		args, err := again.args(argv)
		if err != nil {
			return o.fail(err)
		}
		path, argv, env = self, append([]string{self}, args...), os.Environ()
	}
	if err := o.tell(wordStarted); err != nil {
		fmt.Fprintln(os.Stderr, "contain a command:", err)
		return codeCannotRun
	}
	files := []uintptr{0, 1, 2}
	if o.Report {
		files = append(files, reportFile)
		defer func() { _ = unix.Close(reportFile) }()
	}
	pid, err := syscall.ForkExec(path, argv, &syscall.ProcAttr{Env: env, Files: files, Sys: &syscall.SysProcAttr{Setsid: true}})
	if err != nil {
		return cannotRun(o.Path.String(), err)
	}
	return o.waitFor(pid)
}

// newKeyring gives this thread, and what it starts, a ring of keys of its own
// (keyctl(2)). The one of the user's login may hold keys, and is a place in which a
// command could leave something for a later one. Where a kernel or a container has no
// such rings, there is nothing to part with.
func newKeyring() { _, _ = unix.KeyctlInt(unix.KEYCTL_JOIN_SESSION_KEYRING, 0, 0, 0, 0) }

func (o order) waitFor(leader int) int {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return codeCannotRun // the command has been waited for by nobody else: cannot be
		case pid == leader && status.Exited():
			o.tellLeft()
			return status.ExitStatus()
		case pid == leader && status.Signaled():
			o.tellLeft()
			_ = o.tell(fmt.Sprintf("%s %d", wordSignal, int(status.Signal())))
			return 128 + int(status.Signal())
		}
	}
}

// What a command has started may need a moment to end after it; what the kernel must end
// may need another.
const (
	endsByItself = 100 * time.Millisecond
	endsByForce  = 2 * time.Second
)

// tellLeft ends what the command has left and tells how many processes that were. In
// this order: one that is left could read the pipe before the runner does.
func (o order) tellLeft() {
	if reapAll(endsByItself) {
		return
	}
	left := processesHere()
	_ = unix.Kill(-1, unix.SIGKILL) // from the first process: all others here
	reapAll(endsByForce)            // and the kernel ends what is left then
	_ = o.tell(fmt.Sprintf("%s %d", wordLeft, left))
}

// reapAll waits for children until there is none: what loses its parent here becomes one
// of the first process's.
func reapAll(patience time.Duration) bool {
	for end := time.Now().Add(patience); ; {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		switch {
		case errors.Is(err, syscall.ECHILD):
			return true
		case pid > 0 || errors.Is(err, syscall.EINTR):
			continue
		case err != nil || time.Now().After(end):
			return false
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// processesHere counts the processes of the namespace but this one, at least one.
func processesHere() int {
	n := 0
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && pid > 1 {
			n++
		}
	}
	return max(n, 1)
}

// become turns this process into the command, restricted.
func (o order) become(argv []string) int {
	runtime.LockOSThread()
	newKeyring()
	path, env := o.Path.String(), reveal(os.Environ())
	if err := runnable(path); err != nil {
		return o.fail(err)
	}
	var pipe sender
	if len(o.Started) > 0 {
		var err error
		if pipe, err = openSender(o.Started.String()); err != nil { // now: Landlock refuses it later
			return o.fail(err)
		}
	}
	if err := setLimits(o.Limits); err != nil {
		return o.fail(err)
	}
	if o.Land != nil {
		if err := o.Land.restrict(); err != nil {
			return o.fail(err)
		}
	}
	if len(o.Started) > 0 {
		if err := pipe.tell(wordStarted); err != nil {
			return codeCannotRun
		}
	}
	return cannotRun(path, syscall.Exec(path, argv, env))
}

func (o order) tell(line string) error {
	pipe, err := openSender(o.Started.String())
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(int(pipe)) }()
	return pipe.tell(line)
}

// fail says why the command cannot be started: to the runner, else on stderr.
func (o order) fail(err error) int {
	word := wordFailed
	if errors.Is(err, fs.ErrNotExist) {
		word = wordMissing
	}
	if len(o.Started) == 0 || o.tell(word+" "+err.Error()) != nil {
		fmt.Fprintln(os.Stderr, "contain a command:", err)
	}
	return codeNotFound
}

func runnable(path string) error {
	if err := unix.Access(path, unix.X_OK); err != nil {
		return fmt.Errorf("find the program: %w", &os.PathError{Op: "execute inside the sandbox", Path: path, Err: err})
	}
	return nil
}

// cannotRun says like a shell that a program is none.
func cannotRun(path string, err error) int {
	fmt.Fprintf(os.Stderr, "run %s: %v\n", path, err)
	if errors.Is(err, fs.ErrNotExist) {
		return codeNotFound
	}
	return codeCannotRun
}
