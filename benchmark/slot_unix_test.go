//go:build unix

package benchmark

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func openSlot(t *testing.T, dir string) *Slot {
	t.Helper()
	s, err := OpenSlot(dir)
	if err != nil {
		t.Fatal(err)
	}
	s.poll = time.Millisecond
	return s
}

func hold(t *testing.T, s *Slot, mode SlotMode, who string) *SlotHold {
	t.Helper()
	h, err := s.Acquire(t.Context(), SlotRequest{Mode: mode, Who: who})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Release)
	return h
}

// waiter acquires in the background.
type waiter struct {
	waits chan []Ticket
	got   chan *SlotHold
}

func wait(t *testing.T, s *Slot, req SlotRequest) *waiter {
	t.Helper()
	w := &waiter{waits: make(chan []Ticket, 1), got: make(chan *SlotHold, 1)}
	req.Waiting = func(others []Ticket) { w.waits <- others }
	done := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer close(done)
		if h, err := s.Acquire(ctx, req); err == nil {
			w.got <- h
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
	return w
}

// take waits until the waiter has the slot.
func (w *waiter) take(t *testing.T) *SlotHold {
	t.Helper()
	select {
	case h := <-w.got:
		t.Cleanup(h.Release)
		return h
	case <-time.After(20 * time.Second):
		t.Fatal("the slot was not given on")
		return nil
	}
}

func (w *waiter) empty(t *testing.T, what string) {
	t.Helper()
	select {
	case <-w.got:
		t.Errorf("%s got the slot too early", what)
	default:
	}
}

func TestSlotExclusive(t *testing.T) {
	s := openSlot(t, t.TempDir())
	h := hold(t, s, SlotExclusive, "loop a")
	w := wait(t, openSlot(t, s.dir), SlotRequest{Mode: SlotExclusive, Who: "loop b"})
	others := <-w.waits
	if len(others) != 1 || others[0].Who != "loop a" || others[0].Waiting || others[0].PID != os.Getpid() {
		t.Errorf("told of %v", others)
	}
	all, err := s.Tickets()
	if err != nil || len(all) != 2 {
		t.Errorf("tickets %v, %v", all, err)
	}
	w.empty(t, "loop b")
	h.Release()
	h.Release()
	w.take(t)
}

func TestSlotSharedTogether(t *testing.T) {
	s := openSlot(t, t.TempDir())
	a, b := hold(t, s, SlotShared, "a"), hold(t, s, SlotShared, "b")
	w := wait(t, s, SlotRequest{Mode: SlotExclusive, Who: "c"})
	<-w.waits
	a.Release()
	w.empty(t, "c")
	b.Release()
	w.take(t)
}

// TestSlotNoStarvation: those who share the slot cannot keep out for ever who
// wants it alone.
func TestSlotNoStarvation(t *testing.T) {
	s := openSlot(t, t.TempDir())
	a := hold(t, s, SlotShared, "a")
	alone := wait(t, s, SlotRequest{Mode: SlotExclusive, Who: "alone"})
	<-alone.waits
	late := wait(t, s, SlotRequest{Mode: SlotShared, Who: "late"})
	<-late.waits
	late.empty(t, "late")
	a.Release()
	h := alone.take(t)
	late.empty(t, "late")
	h.Release()
	late.take(t)
}

// TestSlotLowPriority: a low one lets others through while it waits.
func TestSlotLowPriority(t *testing.T) {
	s := openSlot(t, t.TempDir())
	a := hold(t, s, SlotShared, "a")
	low := wait(t, s, SlotRequest{Mode: SlotExclusive, Who: "low", Low: true})
	<-low.waits
	b := wait(t, s, SlotRequest{Mode: SlotShared, Who: "b"}).take(t)
	a.Release()
	low.empty(t, "low")
	b.Release()
	low.take(t)
}

func TestSlotCancelled(t *testing.T) {
	s := openSlot(t, t.TempDir())
	h := hold(t, s, SlotExclusive, "a")
	ctx, cancel := context.WithCancel(t.Context())
	_, err := s.Acquire(ctx, SlotRequest{Mode: SlotShared, Who: "b", Waiting: func([]Ticket) { cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	if all, _ := s.Tickets(); len(all) != 1 {
		t.Errorf("tickets %v", all)
	}
	h.Release()
	hold(t, s, SlotExclusive, "c") // and the cancelled one left no lock behind
}

// TestSlotAfterCrash: a process that died holds nothing, and is not listed.
func TestSlotAfterCrash(t *testing.T) {
	s := openSlot(t, t.TempDir())
	ticket := filepath.Join(s.dir, "tickets", "t-dead")
	if err := os.WriteFile(ticket, []byte(`{"who": "dead"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if all, err := s.Tickets(); err != nil || len(all) != 0 {
		t.Errorf("tickets %v, %v", all, err)
	}
	if _, err := os.Stat(ticket); !os.IsNotExist(err) {
		t.Errorf("the dead ticket is still there: %v", err)
	}
}

// TestSlotNotInherited: a child that lives on does not keep the slot.
func TestSlotNotInherited(t *testing.T) {
	s := openSlot(t, t.TempDir())
	h := hold(t, s, SlotExclusive, "a")
	child := exec.CommandContext(t.Context(), "sleep", "1000")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = child.Process.Kill(); _ = child.Wait() }()
	h.Release()
	wait(t, s, SlotRequest{Mode: SlotExclusive, Who: "b"}).take(t)
}

func TestTicketString(t *testing.T) {
	text := Ticket{Who: "a\x1b[2J", PID: 7, Mode: SlotShared, Waiting: true}.String()
	if strings.Contains(text, "\x1b") || !strings.Contains(text, "process 7") || !strings.Contains(text, "waits") {
		t.Error(text)
	}
}
