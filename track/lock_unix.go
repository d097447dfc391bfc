//go:build unix

package track

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"golang.org/x/sys/unix"

	"si/internal/durable"
)

// maxHolder bounds what is read of a lock file, which anybody can write.
const maxHolder = 4 << 10

// Holder describes the process that holds a lock.
type Holder struct {
	PID       int       `json:"pid"`
	Host      string    `json:"host"`
	StartedAt time.Time `json:"started_at"`
	Command   string    `json:"command"`
}

func (h Holder) String() string {
	if h.PID == 0 {
		return "another process"
	}
	text := fmt.Sprintf("process %d on %s (%s", h.PID, plain(h.Host), plain(h.Command))
	if !h.StartedAt.IsZero() {
		text += ", since " + h.StartedAt.UTC().Format(time.RFC3339)
	}
	return text + ")"
}

// plain makes a text of an untrusted file fit for a terminal.
func plain(text string) string {
	return clip(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, text), 200)
}

// LockedError says that another process holds the track.
type LockedError struct {
	Path   string
	Holder Holder
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("the track is held by %s; wait for it to end, or stop it with 'si stop' (lock %s)", e.Holder, e.Path)
}

// Lock is a held lock. The system releases it when the process ends, however it
// ends: there is no stale lock.
type Lock struct{ f *os.File }

// lockTries and lockPause bridge the instant in which LockHolder tries the lock.
const (
	lockTries = 5
	lockPause = 10 * time.Millisecond
)

// AcquireLock takes the lock at path for h, whose PID and Host are filled in
// when they are zero, or returns a *LockedError at once. The file holds the
// holder's data, for the message, and is never deleted: a lock on a deleted file
// excludes nobody.
func AcquireLock(path string, h Holder) (*Lock, error) {
	if err := durable.MkdirAll(filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("lock the track: %w", err)
	}
	f, err := openLock(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		err = flock(f, unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) || try == lockTries {
			break
		}
		<-time.After(lockPause)
	}
	if errors.Is(err, unix.EWOULDBLOCK) {
		defer f.Close() // nothing was written
		return nil, &LockedError{Path: path, Holder: readHolder(f)}
	}
	if err == nil {
		err = writeHolder(f, h)
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return &Lock{f}, nil
}

// Release gives the lock back and leaves the file, empty.
func (l *Lock) Release() error {
	err := l.f.Truncate(0)
	if cerr := l.f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("release lock %s: %w", l.f.Name(), err)
	}
	return nil
}

// LockHolder reports whether some process holds the lock at path, and which.
func LockHolder(path string) (h Holder, held bool, err error) {
	f, err := openLock(path, os.O_RDONLY)
	if errors.Is(err, os.ErrNotExist) {
		return Holder{}, false, nil
	}
	if err != nil {
		return Holder{}, false, err
	}
	defer f.Close() // opened for reading only
	err = flock(f, unix.LOCK_SH|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return readHolder(f), true, nil
	}
	if err != nil {
		return Holder{}, false, fmt.Errorf("try lock %s: %w", path, err)
	}
	return Holder{}, false, nil
}

// openLock opens a lock file; a link there could point at any file of the user,
// and a pipe would block.
func openLock(path string, flag int) (*os.File, error) {
	f, err := os.OpenFile(path, flag|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o644)
	if errors.Is(err, unix.ELOOP) {
		return nil, &FileError{Path: path, What: "a symbolic link where the lock belongs", Hint: "remove it", Err: err}
	}
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		_ = f.Close()
		return nil, &FileError{Path: path, What: "not a regular file where the lock belongs", Hint: "remove it", Err: err}
	}
	return f, nil
}

func flock(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func writeHolder(f *os.File, h Holder) error {
	if h.PID == 0 {
		h.PID = os.Getpid()
	}
	if h.Host == "" {
		h.Host, _ = os.Hostname() // only for the message
	}
	h.StartedAt = h.StartedAt.UTC()
	data, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err = f.WriteAt(append(data, '\n'), 0)
	return err
}

// readHolder reads the holder's data. What cannot be read gives the zero
// Holder: the holder may be writing it this instant.
func readHolder(f *os.File) (h Holder) {
	data, err := io.ReadAll(io.NewSectionReader(f, 0, maxHolder))
	if err != nil || json.Unmarshal(data, &h) != nil {
		return Holder{}
	}
	return h
}
