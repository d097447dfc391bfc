//go:build unix

package skills

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"si/internal/durable"
)

// The lock is held for one change: milliseconds, or as long as a backup takes.
const (
	lockWait  = 60 * time.Second
	lockPause = 5 * time.Millisecond
)

// exclusively runs a change while no other process and no other goroutine makes
// one. The lock file lies beside the library, which is renamed as a whole; it is
// never deleted, as a lock on a deleted file excludes nobody.
func (l *Library) exclusively(ctx context.Context, change func() error) error {
	err := l.locked(ctx.Done(), change)
	if errors.Is(err, errGivenUp) && ctx.Err() != nil {
		return fmt.Errorf("%w: %w", err, ctx.Err())
	}
	return err
}

var errGivenUp = errors.New("another process changes them")

// locked waits for the lock until given is closed or lockWait is over.
func (l *Library) locked(given <-chan struct{}, change func() error) error {
	f, err := l.openLock()
	if err != nil {
		return err
	}
	defer f.Close() // gives the lock back
	over := time.NewTimer(lockWait)
	defer over.Stop()
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			break
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("lock the skills (%s): %w", f.Name(), err)
		}
		select {
		case <-given:
			return fmt.Errorf("lock the skills (%s): %w", f.Name(), errGivenUp)
		case <-over.C:
			return fmt.Errorf("lock the skills (%s): %w, for more than %v", f.Name(), errGivenUp, lockWait)
		case <-time.After(lockPause):
		}
	}
	if err := l.settle(); err != nil {
		return err
	}
	return change()
}

func (l *Library) openLock() (*os.File, error) {
	if err := durable.MkdirAll(l.base); err != nil {
		return nil, fmt.Errorf("lock the skills: %w", err)
	}
	path := filepath.Join(l.base, "skills.lock")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock the skills: %w", err)
	}
	return f, nil
}
