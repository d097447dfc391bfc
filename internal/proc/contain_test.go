package proc

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"
)

func TestARunnerThatCannotContainRefuses(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.child("exit", "0")
	c.Contain = &Containment{}
	if _, err := b.Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), "sandbox.Runner") {
		t.Errorf("a command to be contained was run as it is: %v", err)
	}
	c.Contain, c.Shield = nil, true
	if _, err := b.Run(t.Context(), c); err == nil {
		t.Error("a shield without a supervisor was accepted")
	}
}

// A shielded command outlives TERM, and gets KILL after the grace as ever.
func TestAShieldedCommandIgnoresTerm(t *testing.T) {
	t.Parallel()
	for shield, signal := range map[bool]string{true: "SIGKILL", false: "SIGTERM"} {
		b := newBench(t)
		c := Command{Path: "/bin/sleep", Args: []string{"96"}, Supervised: true, Shield: shield, Wall: 300 * time.Millisecond, Grace: 300 * time.Millisecond}
		if res := b.run(t, c); res.Outcome != TimedOut || res.Signal != signal {
			t.Errorf("shield %v: %s by %s", shield, res.Outcome, res.Signal)
		}
	}
}

func TestFindsTheProgramThatWouldRun(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		c    Command
		want string
	}{
		"in PATH":     {Command{Path: "sh", Dir: "/", Env: []string{"PATH=bin:/bin"}}, "/bin/sh"},
		"by its path": {Command{Path: "/bin//sh", Dir: "/"}, "/bin/sh"},
		"relative":    {Command{Path: "./bin/sh", Dir: "/"}, "/bin/sh"},
		"nowhere":     {Command{Path: "sh", Dir: "/", Env: []string{"PATH=/dev"}}, ""},
		"no folder":   {Command{Path: "/bin/sh", Dir: "/no/such"}, ""},
	} {
		got, err := tc.c.Find()
		if got != tc.want || (tc.want == "") != errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
