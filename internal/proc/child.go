package proc

import (
	"os"
	"syscall"
	"time"
)

// child is a started command. Its methods are called from one goroutine.
type child interface {
	pid() int
	// ended is closed when the command itself has ended; ending is known then.
	ended() <-chan struct{}
	ending() ending
	// stop asks the whole tree to end and returns at once.
	stop()
	// waitGone waits until what was started here has been waited for, forcing it
	// after grace and a margin. False means that even KILL did not help.
	waitGone(grace time.Duration) bool
	// endRest ends what outlived the command. It follows waitGone.
	endRest() (swept, left int)
	warnings() []string
	release()
}

// ending is what the system says of a command that has ended.
type ending struct {
	status syscall.WaitStatus
	cpu    time.Duration
	maxRSS int64 // bytes
	at     time.Time
}

func endingOf(status syscall.WaitStatus, u *syscall.Rusage) ending {
	e := ending{status: status, at: time.Now()}
	if u != nil {
		e.cpu = time.Duration(u.Utime.Nano() + u.Stime.Nano())
		e.maxRSS = int64(u.Maxrss) * rssUnit
	}
	return e
}

func (l *Local) start(p plan, files []*os.File) (child, error) {
	if p.super {
		return l.startSupervised(p, files)
	}
	return l.startDirect(p, files)
}

// direct is an unsupervised child: the leader of a session and group of its own.
type direct struct {
	process *os.Process
	gone    chan struct{}
	end     ending
	record  record
}

func (l *Local) startDirect(p plan, files []*os.File) (child, error) {
	process, err := os.StartProcess(p.path, p.argv, &os.ProcAttr{
		Dir: p.dir, Env: p.env, Files: files, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return nil, err
	}
	d := &direct{process: process, gone: make(chan struct{})}
	d.record.add(l.o.Registry, process.Pid)
	go d.wait()
	return d, nil
}

func (d *direct) wait() {
	defer close(d.gone)
	d.end = waitFor(d.process)
}

// waitFor gives a child that could not be waited for as killed: its end is all
// that is known of it.
func waitFor(p *os.Process) ending {
	state, err := p.Wait()
	if err != nil {
		return endingOf(syscall.WaitStatus(syscall.SIGKILL), nil)
	}
	status, _ := state.Sys().(syscall.WaitStatus)
	usage, _ := state.SysUsage().(*syscall.Rusage)
	return endingOf(status, usage)
}

func (d *direct) pid() int               { return d.process.Pid }
func (d *direct) ended() <-chan struct{} { return d.gone }
func (d *direct) ending() ending {
	if !closed(d.gone) {
		return endingOf(syscall.WaitStatus(syscall.SIGKILL), nil)
	}
	return d.end
}
func (d *direct) stop() { d.signal(syscall.SIGTERM) }

// signal reaches the group while its leader has not been waited for, so that the
// number cannot have passed to another group.
func (d *direct) signal(sig syscall.Signal) {
	if !closed(d.gone) {
		_ = syscall.Kill(-d.process.Pid, sig)
	}
}

func (d *direct) waitGone(grace time.Duration) bool {
	if within(grace, d.gone) {
		return true
	}
	d.signal(syscall.SIGKILL)
	return within(killLimit+slack, d.gone)
}

func (d *direct) endRest() (swept, left int) {
	if syscall.Kill(-d.process.Pid, 0) == syscall.ESRCH {
		return 0, 0
	}
	return endAll(func() []process { return groupOf(d.process.Pid) }, nil, leftoverGrace, nil)
}

func (d *direct) warnings() []string { return d.record.warnings }
func (d *direct) release()           { d.record.remove() }

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// within waits for c to be closed, at most for limit.
func within(limit time.Duration, c <-chan struct{}) bool {
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-c:
		return true
	case <-t.C:
		return closed(c)
	}
}
