package cmd_test

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"si/benchmark/slurm"
	"si/cmd"
	"si/internal/durable"
	"si/internal/proc"
	"si/internal/sandbox"
)

// TestMain makes the test binary the program itself when it is called as such:
// by a supervisor, by a script as "si", or by a test as a process to kill.
func TestMain(m *testing.M) {
	if code, was := proc.Supervise(os.Args); was {
		syscall.Exit(code) // os.Exit waits a second under the race detector, for each child
	}
	if code, was := sandbox.Exec(os.Args); was {
		syscall.Exit(code)
	}
	if code, was := slurm.Serve(os.Args, nil); was {
		syscall.Exit(code)
	}
	built = newBuilds(m)
	testscript.Main(built, map[string]func(){
		"si":     func() { os.Exit(runSi()) },
		"doomed": func() { os.Exit(runDoomed()) },
		"agent":  func() { syscall.Exit(runAgent()) }, // as above
		"noisy":  func() { syscall.Exit(runNoisy()) },
		"talker": func() { syscall.Exit(runTalker()) },
		"leaky":  func() { syscall.Exit(runLeaky()) },
	})
}

// runSi is the program. Its children can be supervised by another build of it: this
// one has the race detector, which makes a start five times as expensive.
func runSi() int {
	self := os.Getenv("SI_TEST_SELF")
	if self == "" {
		return cmd.Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	}
	wd, err := os.Getwd()
	if err != nil {
		return 99
	}
	return cmd.Run(context.Background(), cmd.World{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Lookup: os.LookupEnv, WorkDir: wd, Now: time.Now,
		Store: &durable.Store{}, Self: self, RunID: func() (string, error) { return fmt.Sprintf("%016x", os.Getpid()), nil },
	}, os.Args[1:])
}

// theTime is what the clock of a doomed program says, always: commits are
// dated by it, so that two runs can be compared by their hashes.
func theTime() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC) }

// runDoomed is the program with a clock that stands still and a store that can
// kill the process.
func runDoomed() int {
	wd, err := os.Getwd()
	if err != nil {
		return 99
	}
	self, err := os.Executable()
	if err != nil {
		return 99
	}
	return cmd.Run(context.Background(), cmd.World{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Lookup: os.LookupEnv, WorkDir: wd, Now: theTime,
		Store: &durable.Store{Hooks: killHooks()}, Self: self,
		RunID: func() (string, error) { return os.Getenv("DOOM_RUN"), nil },
	}, os.Args[1:])
}
