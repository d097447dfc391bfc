package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"si/internal/clean"
	"si/internal/proc"
	"si/loop"
	"si/track"
	"si/tui"
	"si/tui/feed"
	"si/tui/screen"
)

// exitError ends this program with the exit code of the loop that it watched; what
// there was to say is said.
type exitError struct{ code int }

func (e *exitError) Error() string { return fmt.Sprintf("the loop ended with exit code %d", e.code) }

// watchOwn starts the loop as a process of its own and watches it. Nothing of the
// loop depends on this terminal from its first instant, so that leaving it running
// is no act at all: closing the terminal does it too.
func watchOwn(ctx context.Context, w World, p *place, how screenFlags, args []string) error {
	since := w.Now()
	child, log, err := startLoop(w, p, args)
	if err != nil {
		return err
	}
	if !began(p.paths, child, since) {
		return sayOutput(w, child, log)
	}
	follow := feed.NewFollow(p.paths, w.Now)
	defer follow.Close()
	o := p.screenOptions(w, how)
	o.Feed, o.Steer, o.Loop, o.Since = follow, steering{w, p}, child.Done(), since
	m, err := showScreen(ctx, w, o)
	switch {
	case err != nil:
		return fmt.Errorf("%w; the loop runs on as process %d: 'si watch --no-tui' shows it, 'si stop' stops it", err, child.PID)
	case m.Left() == screen.Stuck:
		return errSilent
	case m.Left() == screen.Running:
		return runsOn(w)
	}
	return sayOutput(w, child, log)
}

// startLoop starts `si run` without a screen, in a session of its own.
func startLoop(w World, p *place, args []string) (*proc.Detached, string, error) {
	progress, err := track.LoadProgress(p.paths)
	if err != nil {
		return nil, "", err
	}
	if missing := loop.MissingGates(progress.Value); len(missing) > 0 {
		return nil, "", fmt.Errorf("%w: missing %s; run 'si init'", loop.ErrNotSetUp, strings.Join(missing, ", "))
	}
	if holder, held, err := track.LockHolder(p.paths.LockPath()); err != nil {
		return nil, "", err
	} else if held {
		return nil, "", fmt.Errorf("%w; 'si watch' shows it", &track.LockedError{Path: p.paths.LockPath(), Holder: holder})
	}
	log := filepath.Join(filepath.Dir(p.paths.LogDir(0)), "run.log")
	if err := p.paths.Within(w.Store).Folder(filepath.Dir(log)); err != nil {
		return nil, "", err
	}
	child, err := proc.StartDetached(proc.DetachedCommand{
		Path: w.Self, Args: append([]string{"run", "--no-tui"}, args...), Dir: w.WorkDir, Env: unmarked(os.Environ()), Log: log,
	})
	return child, log, err
}

// unmarked is the environment without the mark of a child: the loop is none.
func unmarked(env []string) []string {
	return slices.DeleteFunc(env, func(kv string) bool { return strings.HasPrefix(kv, proc.MarkVariable+"=") })
}

// beginWait is how long a loop that refuses to run has to say so before the screen
// opens.
const beginWait = 100 * time.Millisecond

// began waits until the loop has written to its journal, and returns false when it
// ended instead. A loop that takes longer is watched while it does.
func began(paths track.Paths, child *proc.Detached, since time.Time) bool {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(beginWait)
	for {
		select {
		case <-child.Done():
			return false
		case <-limit:
			return true
		case <-tick.C:
			if info, err := os.Stat(paths.JournalPath()); err == nil && info.ModTime().After(since) {
				return true
			}
		}
	}
}

// endWait is how long a loop whose last event is written may take to end.
const endWait = 30 * time.Second

// sayOutput prints the end of what the loop printed: its summary and its errors.
func sayOutput(w World, child *proc.Detached, log string) error {
	select {
	case <-child.Done():
	case <-time.After(endWait):
		return runsOn(w)
	}
	text, err := proc.ReadTail(log, 64<<10)
	if err != nil {
		return fmt.Errorf("read what the loop printed: %w", err)
	}
	if _, err := fmt.Fprint(w.Stdout, clean.Text(lastWords(text))); err != nil {
		return err
	}
	code, err := child.Code()
	if err != nil || code == exitOK {
		return err
	}
	if code > signalled && code != exitInterrupted { // it could not say so itself
		if _, err := fmt.Fprintf(w.Stdout, "the loop was killed by signal %d; 'si run' goes on where it was\n", code-signalled); err != nil {
			return err
		}
	}
	return &exitError{code}
}

// signalled is added to the number of a signal in the exit code of what it killed.
const signalled = 128

// lastWords is the summary of a run and what follows, or its last lines.
func lastWords(text []byte) []byte {
	if at := bytes.LastIndex(text, []byte(tui.SummaryHead)); at >= 0 {
		return text[at:]
	}
	const most = 15
	lines := bytes.SplitAfter(text, []byte("\n"))
	return bytes.Join(lines[max(0, len(lines)-most):], nil)
}

// flagArgs are the flags that were given and are to be handed on.
func flagArgs(flags *pflag.FlagSet, pass func(name string) bool) (args []string) {
	flags.Visit(func(f *pflag.Flag) {
		if !pass(f.Name) {
			return
		}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			for _, v := range list.GetSlice() {
				args = append(args, "--"+f.Name+"="+v)
			}
			return
		}
		value := f.Value.String()
		if f.Value.Type() == "stringToString" { // printed in brackets, read without
			value = strings.TrimSuffix(strings.TrimPrefix(value, "["), "]")
		}
		args = append(args, "--"+f.Name+"="+value)
	})
	return args
}

// isExit gives the exit code of a loop that was watched.
func isExit(err error) (int, bool) {
	var exit *exitError
	if errors.As(err, &exit) {
		return exit.code, true
	}
	return 0, false
}
