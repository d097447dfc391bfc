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
	f, err := l.openLock()
	if err != nil {
		return err
	}
	defer f.Close() // gives the lock back
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			break
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("lock the skills (%s): %w", f.Name(), err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("lock the skills: another process changes them (lock %s): %w", f.Name(), ctx.Err())
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
