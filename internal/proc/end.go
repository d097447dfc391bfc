package proc

import (
	"syscall"
	"time"
)

// process is a row of the process table. Start tells it from a later process
// with the same number. Where there is no table to read (not Linux), pid may be
// negative and stand for a process group, and nothing else is filled.
type process struct {
	pid, ppid, group, session int
	state                     byte
	start                     uint64 // clock ticks after boot
}

// endAll ends what find finds: TERM once, up to grace (less when hurry is closed),
// then KILL again and again, because a process may fork between being seen and
// being killed. It gives up after killLimit: left are those that KILL cannot
// reach (another user's, or waiting in the kernel).
//
// A process table is not read at one moment: a process that forks and ends while it
// is read can be missed together with its child. That find finds nothing is therefore
// believed only when gone says so, too; where that is nil, when it finds nothing a
// second time.
func endAll(find func() []process, gone func() bool, grace time.Duration, hurry <-chan struct{}) (ended, left int) {
	if gone == nil {
		gone = func() bool { return len(find()) == 0 }
	}
	seen := map[int]bool{}
	found := func(each func(process)) int {
		all := find()
		for _, p := range all {
			each(p)
			seen[p.pid] = true
		}
		return len(all)
	}
	asked := func() bool {
		return found(func(p process) {
			if !seen[p.pid] {
				p.signal(syscall.SIGTERM)
			}
		}) == 0 && gone()
	}
	if asked() {
		return 0, 0
	}
	poll(grace, hurry, asked)
	poll(killLimit, nil, func() bool {
		left = found(func(p process) { p.signal(syscall.SIGKILL) })
		return left == 0 && gone()
	})
	return max(0, len(seen)-left), left
}

// poll calls done ever more slowly until it is true, limit has passed, or hurry
// is closed.
func poll(limit time.Duration, hurry <-chan struct{}, done func() bool) {
	end := time.Now().Add(limit)
	for pause := time.Millisecond; !done(); pause = min(2*pause, 20*time.Millisecond) {
		if time.Now().After(end) {
			return
		}
		t := time.NewTimer(pause)
		select {
		case <-t.C:
		case <-hurry:
			t.Stop()
			return
		}
	}
}
