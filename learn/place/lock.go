package place

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// lockPause is between two tries to get the lock. Holders keep it for
// milliseconds.
const lockPause = 5 * time.Millisecond

// Lock waits until nobody else writes the learned files, or ctx ends. What is
// locked is the checkout's folder itself, so that no file for it appears in the
// repository; a file system that cannot lock folders (some network ones) gets a file
// beside the learned ones. The system gives the lock back when the process ends.
func (p Place) Lock(ctx context.Context) (release func(), err error) {
	f, err := os.Open(p.top)
	if err != nil {
		return nil, fmt.Errorf("lock the learned files: %w", err)
	}
	err = wait(ctx, f)
	if errors.Is(err, unix.EBADF) || errors.Is(err, unix.ENOLCK) || errors.Is(err, unix.EINVAL) {
		_ = f.Close()
		if f, err = p.lockFile(); err == nil {
			err = wait(ctx, f)
		}
	}
	if err != nil {
		if f != nil {
			_ = f.Close()
		}
		return nil, fmt.Errorf("lock the learned files of %s: %w; another process may be writing them", p.top, err)
	}
	return func() { _ = f.Close() }, nil
}

func (p Place) lockFile() (*os.File, error) {
	dir, err := p.target(p.dir)
	if err == nil {
		err = p.store.Within(p.top).Folder(dir)
	}
	if err != nil {
		return nil, err
	}
	return os.OpenFile(filepath.Join(dir, ".lock"), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o644)
}

func wait(ctx context.Context, f *os.File) error {
	tick := time.NewTicker(lockPause)
	defer tick.Stop()
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}
