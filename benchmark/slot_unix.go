//go:build unix

package benchmark

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// SlotMode says how a slot is held.
type SlotMode string

// The modes of a slot. One that measures holds it exclusively, one whose agents
// work holds it shared.
const (
	SlotExclusive SlotMode = "exclusive"
	SlotShared    SlotMode = "shared"
)

// slotPoll is how often a waiting process looks again. flock has no wait that a
// context could end without leaving a thread behind.
const slotPoll = 50 * time.Millisecond

// Slot is the machine's benchmark slot, shared by all processes of one user
// through a folder. The kernel holds its locks, so they end with the process
// that has them, however it ends. Those that want it exclusively come first:
// while one of them waits, no new shared holder gets in, unless the waiting one
// is of low priority.
type Slot struct {
	dir  string
	poll time.Duration
}

// Ticket says who holds the slot or waits for it.
type Ticket struct {
	Who     string    `json:"who"`
	PID     int       `json:"pid"`
	Mode    SlotMode  `json:"mode"`
	Waiting bool      `json:"waiting"`
	Since   time.Time `json:"since"`
}

func (t Ticket) String() string {
	verb := "holds it"
	if t.Waiting {
		verb = "waits for it"
	}
	return fmt.Sprintf("%s (process %d) %s, %s, since %s", cleanLine(t.Who), t.PID, verb, t.Mode, t.Since.Local().Format(time.TimeOnly))
}

// SlotRequest asks for a slot.
type SlotRequest struct {
	Mode    SlotMode
	Who     string         // for those who have to wait
	Low     bool           // step behind everyone else who waits
	Waiting func([]Ticket) // called once, when the slot is not free at once, with the others' tickets; may be nil
}

// OpenSlot uses the slot in dir, a folder of the user's own, which is made when
// it is missing.
func OpenSlot(dir string) (*Slot, error) {
	if err := os.MkdirAll(filepath.Join(dir, "tickets"), 0o700); err != nil {
		return nil, fmt.Errorf("open the benchmark slot: %w", err)
	}
	return &Slot{dir: dir, poll: slotPoll}, nil
}

// SlotHold is a slot that is held. Release gives it back, once.
type SlotHold struct {
	lock, ticket *os.File
	once         sync.Once
}

// Release gives the slot back. It may be called again, and does nothing then.
func (h *SlotHold) Release() {
	h.once.Do(func() {
		_ = os.Remove(h.ticket.Name())
		_ = h.ticket.Close()
		_ = h.lock.Close() // closing the only descriptor ends the lock
	})
}

// Acquire waits until the slot can be held as asked, or the context ends.
func (s *Slot) Acquire(ctx context.Context, req SlotRequest) (*SlotHold, error) {
	ticket, err := s.ticket(Ticket{Who: req.Who, PID: os.Getpid(), Mode: req.Mode, Waiting: true, Since: time.Now()})
	if err != nil {
		return nil, err
	}
	lock, err := s.wait(ctx, req, ticket)
	if err != nil {
		_ = os.Remove(ticket.Name())
		_ = ticket.Close()
		return nil, err
	}
	held := Ticket{Who: req.Who, PID: os.Getpid(), Mode: req.Mode, Since: time.Now()}
	if err := writeTicket(ticket, held); err != nil {
		_ = lock.Close()
		_ = ticket.Close()
		return nil, err
	}
	return &SlotHold{lock: lock, ticket: ticket}, nil
}

// wait takes the gate and then the slot. Who wants the slot exclusively keeps
// the gate while waiting, which holds back newcomers; who is of low priority
// lets the gate go again each time the slot is not free.
func (s *Slot) wait(ctx context.Context, req SlotRequest, ticket *os.File) (*os.File, error) {
	gate, err := s.open("gate.lock")
	if err != nil {
		return nil, err
	}
	defer func() { _ = gate.Close() }()
	lock, err := s.open("slot.lock")
	if err != nil {
		return nil, err
	}
	how := unix.LOCK_SH
	if req.Mode == SlotExclusive {
		how = unix.LOCK_EX
	}
	gated := false
	err = s.until(ctx, req, ticket, func() (bool, error) {
		if !gated {
			if gated, err = tryLock(gate, unix.LOCK_EX); err != nil || !gated {
				return false, err
			}
		}
		got, err := tryLock(lock, how)
		if err == nil && !got && req.Low {
			gated = false
			err = unlock(gate)
		}
		return got, err
	})
	if err != nil {
		_ = lock.Close()
		return nil, err
	}
	return lock, nil
}

// until calls try until it succeeds or fails.
func (s *Slot) until(ctx context.Context, req SlotRequest, ticket *os.File, try func() (bool, error)) error {
	tick := time.NewTicker(s.poll)
	defer tick.Stop()
	for told := false; ; {
		if got, err := try(); err != nil || got {
			return err
		}
		if !told && req.Waiting != nil {
			others, err := s.tickets(ticket.Name())
			if err != nil {
				return err
			}
			req.Waiting(others)
		}
		told = true
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the benchmark slot: %w", context.Cause(ctx))
		case <-tick.C:
		}
	}
}

func (s *Slot) open(name string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(s.dir, name), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the benchmark slot: %w", err)
	}
	return f, nil
}

// tryLock takes a lock if it is free.
func tryLock(f *os.File, how int) (bool, error) {
	for {
		err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		default:
			return false, fmt.Errorf("lock %s: %w; put the folder on a file system with locks", f.Name(), err)
		}
	}
}

func unlock(f *os.File) error {
	if err := unix.Flock(int(f.Fd()), unix.LOCK_UN); err != nil {
		return fmt.Errorf("unlock %s: %w", f.Name(), err)
	}
	return nil
}

// ticket makes a file that says who waits. It is locked as long as its process
// lives, so one that is left behind by a crash is known.
func (s *Slot) ticket(t Ticket) (*os.File, error) {
	f, err := os.CreateTemp(filepath.Join(s.dir, "tickets"), "t-*")
	if err != nil {
		return nil, fmt.Errorf("queue for the benchmark slot: %w", err)
	}
	if _, err = tryLock(f, unix.LOCK_EX); err == nil {
		err = writeTicket(f, t)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

func writeTicket(f *os.File, t Ticket) error {
	data, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("queue for the benchmark slot: %w", err)
	}
	if err := f.Truncate(0); err != nil {
		return fmt.Errorf("queue for the benchmark slot: %w", err)
	}
	if _, err := f.WriteAt(data, 0); err != nil {
		return fmt.Errorf("queue for the benchmark slot: %w", err)
	}
	return nil
}

// Tickets lists who holds the slot and who waits for it.
func (s *Slot) Tickets() ([]Ticket, error) { return s.tickets("") }

func (s *Slot) tickets(but string) ([]Ticket, error) {
	dir := filepath.Join(s.dir, "tickets")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("see who has the benchmark slot: %w", err)
	}
	var list []Ticket
	for _, e := range entries {
		if name := filepath.Join(dir, e.Name()); name != but && e.Type().IsRegular() {
			if t, ok := liveTicket(name); ok {
				list = append(list, t)
			}
		}
	}
	return list, nil
}

// liveTicket reads a ticket and removes it when its process is gone. One that
// was just made and is not locked yet may be removed too; its owner still holds
// the open file and is merely not listed.
func liveTicket(name string) (Ticket, bool) {
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return Ticket{}, false
	}
	defer func() { _ = f.Close() }()
	if free, err := tryLock(f, unix.LOCK_SH); err != nil || free {
		_ = os.Remove(name)
		return Ticket{}, false
	}
	var t Ticket
	data, err := io.ReadAll(io.LimitReader(f, 64<<10))
	if err != nil || json.Unmarshal(data, &t) != nil {
		return Ticket{}, false
	}
	return t, true
}
