package cmd_test

import (
	"strings"
	"syscall"
	"testing"

	"si/track"
)

// TestScreen goes through evenings on real terminals, with the real program.
func TestScreen(t *testing.T) {
	program := buildSi(t)
	for name, play := range map[string]func(*testing.T, evening){
		"watched from a second terminal": watchedFromASecondTerminal,
		"stopped and resumed":            stoppedAndResumed,
		"the terminal is closed":         theTerminalIsClosed,
		"killed, and si alone":           killedAndSiAlone,
	} {
		t.Run(name, func(t *testing.T) { play(t, newEvening(t, program)) })
	}
}

// watchedFromASecondTerminal: one terminal starts the loop, the other watches and
// steers it, and leaves; the first one stays to the end.
func watchedFromASecondTerminal(t *testing.T, e evening) {
	t.Helper()
	first := onTerminal(t, 120, 30, e.si("run"))
	first.sees("spoken: loudly")
	first.sees("1 executor at work")

	second := onTerminal(t, 80, 24, with(e.si("watch"), "NO_COLOR=1"))
	second.sees("spoken: loudly")
	second.types("p")
	first.sees("pauses before the next step")
	second.types("q")
	second.sees("leave it running")
	second.types("l")
	second.ends(0)
	second.sees("the loop runs on")
	second.misses(`\x1b\[([0-9]+;)*([34][0-8]|9[0-7])[;m]`) // a colour

	e.open()
	first.sees("paused before the next step")
	first.types("p")
	first.sees("round 2/2")
	e.open()
	first.sees("Best Score: 30")
	first.types("q")
	first.ends(0)
	first.sees("=== Self-Improvement Loop Complete ===") // on the plain terminal too
	e.gone()
}

// stoppedAndResumed stops a run at once by its screen, and goes on with it.
func stoppedAndResumed(t *testing.T, e evening) {
	t.Helper()
	first := onTerminal(t, 100, 30, e.si("run"))
	first.sees("spoken: loudly")
	first.types("qn")
	first.sees("stopped by you")
	first.types("q")
	first.ends(130)
	e.gone()

	refused := onTerminal(t, 100, 30, e.si("run"))
	refused.sees("'si run --resume' goes on")
	if err := refused.cmd.Wait(); err != nil {
		t.Errorf("a run that was stopped, and not resumed: %v", err)
	}

	again := onTerminal(t, 100, 30, e.si("run", "--resume"))
	again.sees("spoken: loudly")
	e.open()
	again.sees("round 2/2")
	e.open()
	again.sees("Best Score: 30")
	again.types("q")
	again.ends(0)
	e.gone()
}

// theTerminalIsClosed: the night's work does not end with a window.
func theTerminalIsClosed(t *testing.T, e evening) {
	t.Helper()
	first := onTerminal(t, 100, 30, e.si("run"))
	first.sees("spoken: loudly")
	first.hangUp()
	if err := first.cmd.Wait(); first.cmd.ProcessState.ExitCode() == -1 {
		t.Errorf("the screen was killed: %v", err)
	}
	holder, held, err := track.LockHolder(e.paths(t).LockPath())
	if err != nil || !held || holder.PID == first.cmd.Process.Pid {
		t.Fatalf("held %v by %v, %v", held, holder, err)
	}
	again := onTerminal(t, 80, 24, e.si("watch"))
	again.sees("spoken: loudly")
	e.open()
	again.sees("round 2/2")
	again.types("ql")
	again.ends(0)
	e.open()
	out, err := e.si("watch").CombinedOutput() // without a terminal: to its end
	if err != nil || !strings.Contains(string(out), "Best Score: 30") {
		t.Fatalf("%v\n%s", err, out)
	}
	e.gone()
}

// killedAndSiAlone kills the loop itself; si without a word goes on with it, and
// from a second terminal it watches.
func killedAndSiAlone(t *testing.T, e evening) {
	t.Helper()
	first := onTerminal(t, 100, 30, e.si("run"))
	first.sees("spoken: loudly")
	holder, held, err := track.LockHolder(e.paths(t).LockPath())
	if err != nil || !held {
		t.Fatalf("held %v by %v, %v", held, holder, err)
	}
	if err := syscall.Kill(holder.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	first.sees("killed, or crashed")
	first.types("q")
	first.ends(137)
	first.sees("the loop was killed by signal 9; 'si run' goes on")

	again := onTerminal(t, 100, 30, e.si())
	again.sees("spoken: loudly") // nobody was asked
	second := onTerminal(t, 80, 24, with(e.si(), "TERM=xterm-16color"))
	second.sees("spoken: loudly")
	second.types("p")
	again.sees("pauses before the next step")
	second.types("ql")
	second.ends(0)
	second.sees("the loop runs on")
	second.misses(`\x1b\[([0-9]+;)*[34]8;`) // a colour beyond the sixteen
	again.types("p")
	again.sees("executor")
	e.open()
	again.sees("round 2/2")
	e.open()
	again.sees("Best Score: 30")
	again.types("q")
	again.ends(0)
	e.gone()
}
