// Package cmd wires the program: flags and configuration, which renderer, exit
// codes. It decides nothing about a loop.
package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"si/internal/clean"
	"si/internal/durable"
	"si/internal/secret"
	"si/loop"
	"si/track"
)

// Version of the program; the Makefile sets the commit.
const Version = "0.1.0"

// The exit codes of the program.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitNotSetUp    = 3
	exitLocked      = 4
	exitInterrupted = 130
)

// World is what the program sees of the machine. A test gives another one.
type World struct {
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Lookup  func(string) (string, bool) // the environment
	Secrets secret.Set                  // of all of it
	WorkDir string
	Now     func() time.Time
	Store   *durable.Store
	Self    string                 // path of this executable, for the supervisor of children
	Stops   <-chan loop.StopKind   // stop requests; nil installs the signal handler
	RunID   func() (string, error) // a new one for each run
}

// Main runs the program and returns its exit code.
func Main(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	wd, err := os.Getwd()
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "si: find the working folder: %v\n", err)
		return exitFailed
	}
	self, err := os.Executable()
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "si: find this program: %v\n", err)
		return exitFailed
	}
	return Run(ctx, World{
		Stdin: stdin, Stdout: stdout, Stderr: stderr, Lookup: os.LookupEnv, Secrets: secret.Of(os.Environ()), WorkDir: wd,
		Now: time.Now, Store: &durable.Store{}, Self: self, RunID: newRunID,
	}, args)
}

// Run is Main in a given world.
func Run(ctx context.Context, w World, args []string) int {
	root := newRoot(w) //nolint:contextcheck // cobra hands each command the context of ExecuteContext
	root.SetArgs(args)
	root.SetIn(w.Stdin)
	root.SetOut(w.Stdout)
	root.SetErr(w.Stderr)
	err := root.ExecuteContext(ctx)
	code := exitCode(err)
	if _, said := isExit(err); err != nil && !said && !errors.Is(err, errSilent) {
		_, _ = fmt.Fprintf(w.Stderr, "si: %s\n", message(err))
	}
	return code
}

// errSilent ends a command with its exit code; what there was to say is said.
var errSilent = errors.New("silent")

// usageError is a mistake in the command line.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

func exitCode(err error) int {
	var usage *usageError
	var locked *track.LockedError
	if code, was := isExit(err); was {
		return code
	}
	switch {
	case err == nil, errors.Is(err, loop.ErrAskResume), errors.Is(err, loop.ErrFinished):
		return exitOK
	case errors.As(err, &usage), strings.HasPrefix(err.Error(), "unknown command"):
		return exitUsage
	case errors.Is(err, loop.ErrInterrupted):
		return exitInterrupted
	case errors.As(err, &locked):
		return exitLocked
	case errors.Is(err, loop.ErrNotSetUp), errors.Is(err, loop.ErrNoTrust), errors.Is(err, loop.ErrNoisy):
		return exitNotSetUp
	case isSetUpError(err):
		return exitNotSetUp
	}
	return exitFailed
}

// message is the error for a terminal: what agents and benchmarks wrote into it
// cannot move the cursor.
func message(err error) string {
	return clean.Text([]byte(err.Error()))
}

func newRoot(w World) *cobra.Command {
	root := &cobra.Command{
		Use:   "si",
		Short: "improve a git repository against a benchmark, by itself",
		Long: `si improves a git repository against a benchmark, by itself, for as long as it is
allowed to. It researches, plans, reviews, lets coding agents execute each plan in
a workspace of its own, measures the candidates itself, and merges what is truly
better into an improve/… branch. Your checkout is never touched.

Start with:  si               in your repository: asks what is needed, then starts,
                              goes on, or shows what runs
             si demo          a small repository and the built-in tuner
             si init --help   set up by flags, without a terminal
             si run           start or go on

Exit codes: 0 finished or stopped by you; 1 failed; 2 usage; 3 set-up or trust
missing; 4 another loop holds the track; 130 interrupted twice.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       Version,
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usagef("%w; see '%s --help'", err, c.CommandPath())
	})
	root.CompletionOptions.HiddenDefaultCmd = true
	place := &placeFlags{}
	place.add(root)
	root.RunE = runHome(w, place)
	for _, newCommand := range commands() {
		root.AddCommand(newCommand(w, place))
	}
	return root
}

func commands() []func(World, *placeFlags) *cobra.Command {
	return []func(World, *placeFlags) *cobra.Command{
		newInit, newRun, newStop, newPause, newResume, newSkip, newVeto, newMeasure, newIdea, newWatch, newReplay, newStatus, newHistory, newShow, newWhy, newDiff, newPlot, newDeliver, newDoctor, newDemo, newPaths, newValidate,
		newKnowledge, newMistakes, newPolicy, newProposals, newRetro,
		newSkills, newCurator, newMemory, newMCP,
	}
}

// noArgs refuses arguments as a mistake in usage.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s takes no argument, got %q; see '%s --help'", c.CommandPath(), args[0], c.CommandPath())
	}
	return nil
}

// oneArg asks for exactly one argument.
func oneArg(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usagef("%s takes one argument, %s; see '%s --help'", c.CommandPath(), what, c.CommandPath())
		}
		return nil
	}
}
