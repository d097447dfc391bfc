package cmd_test

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"
)

// TestABlockedTerminal: one that takes no more output holds nobody, and has its
// modes back.
func TestABlockedTerminal(t *testing.T) {
	e := newEvening(t, buildSi(t))
	first := onTerminal(t, 100, 30, e.si("run"))
	first.sees("spoken: loudly")
	if err := unix.IoctlSetInt(int(first.slave.Fd()), unix.TCXONC, unix.TCOOFF); err != nil {
		t.Fatal(err)
	}
	first.types("????") // something to draw
	if err := first.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- first.cmd.Wait() }()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		_ = first.cmd.Process.Kill()
		t.Fatal("it waits for the terminal")
	}
	if after, err := term.GetState(first.slave.Fd()); err != nil || *after != *first.before {
		t.Errorf("the terminal is not as it was: %v", err)
	}
	if out, err := e.si("stop", "--now").CombinedOutput(); err != nil || !strings.Contains(string(out), "asked") {
		t.Errorf("the loop does not run on: %v %s", err, out)
	}
	e.gone()
}
