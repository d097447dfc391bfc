//go:build unix

package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// The lock is held for one line.
const (
	lockWait  = 30 * time.Second
	lockPause = 5 * time.Millisecond
)

// exclusively runs a change while no other process and no other goroutine writes. The
// lock file is never deleted: a lock on a deleted file excludes nobody.
func (s *Store) exclusively(ctx context.Context, change func(*state) error) error {
	if err := s.store.Folder(s.dir); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(s.dir, "lock"), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o644)
	if err != nil {
		return fmt.Errorf("lock the memories: %w", err)
	}
	defer f.Close() // gives the lock back
	if err := waitFor(ctx, f); err != nil {
		return fmt.Errorf("lock the memories (%s): %w", f.Name(), err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	st, err := s.load()
	if err != nil {
		return err
	}
	return change(st)
}

func waitFor(ctx context.Context, f *os.File) error {
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	tick := time.NewTicker(lockPause)
	defer tick.Stop()
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("another process writes them: %w", ctx.Err())
		case <-tick.C:
		}
	}
}

// append writes one line; the lock is held. What a crash left of a line is cut off.
func (s *Store) append(l line) error {
	data, err := json.Marshal(l)
	if err != nil {
		return err
	}
	log, _, err := s.store.OpenLog(s.path())
	if err != nil {
		return err
	}
	return errors.Join(log.Append(data), log.Close())
}
