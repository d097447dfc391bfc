// Package loop is the controller: the gates before it starts, the steps of a
// round, the tournament, the stop conditions, and starting again after a crash.
// It promises that a step is done when its document is on disk, that an event is
// in the journal before a subscriber hears of it, that it never waits for a
// subscriber, and that killed at any instant its next start reaches the same end.
// It draws nothing and asks nobody anything.
package loop

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"si/agents"
	"si/benchmark"
	"si/benchmark/slurm"
	"si/gitops"
	"si/internal/durable"
	"si/internal/proc"
	"si/internal/sandbox"
	"si/internal/secret"
	"si/learn/retro"
	"si/plot"
	"si/track"
)

// Agents plays the roles. Its methods are called from several goroutines.
type Agents interface {
	Research(ctx context.Context, t agents.Task) (track.Brief, error)
	Plan(ctx context.Context, t agents.Task) (track.Plan, error)
	Architect(ctx context.Context, t agents.Task) (track.ArchitectReview, error)
	Critic(ctx context.Context, t agents.Task) (track.CriticReview, error)
	Execute(ctx context.Context, t agents.Task) error
	Ask(ctx context.Context, t agents.Task) (agents.Answer, error)
}

// Config is what a loop needs. All of it is required unless it says otherwise.
type Config struct {
	Version  string
	RunID    string
	Paths    track.Paths
	Store    *durable.Store
	Repo     *gitops.Repo
	Runner   proc.Runner
	Agents   Agents
	Names    map[agents.Role]string         // of the backends, for the events
	Folders  map[agents.Role]agents.Folders // what the backends need of the user's home
	Env      []string                       // names of variables handed to agents, beside those of the settings
	Now      func() time.Time
	Lookup   func(string) (string, bool) // the environment
	Secrets  secret.Set                  // of all of the environment, also of what no agent is handed
	WorkDir  string                      // folder of our workspaces
	SlotDir  string                      // folder of the machine's benchmark slot
	Listen   []func(track.Event)         // hear each event after it is on disk; must not block
	Resume   bool                        // go on with a run that the user stopped
	Sweep    func() (int, error)         // ends processes that outlived a crash; may be nil
	Stops    <-chan StopKind             // stop requests of this process; may be nil
	Sandbox  *sandbox.Sandbox            // that Runner uses; nil: nothing is contained
	ChartDPI int                         // dots per inch of progress.png; plot.DPI when 0
	Launch   *slurm.Launcher             // takes the runs of the benchmark elsewhere; nil: on this machine

	// Solo lets one agent, by its name, play a task of auxiliary work; Primary is the
	// one that ends every chain of them, "" when none is configured.
	Solo     func(ctx context.Context, name string, t agents.Task) (agents.Answer, error)
	Primary  string
	TakesMCP map[agents.Role]bool // the role's agent takes servers of the Model Context Protocol
	Self     string               // path of this program, which such an agent starts

	Judges bool // the role retrospective is an agent that can judge; else runs are looked back on by counting

	After func(time.Duration) <-chan time.Time // the alarm of Now's clock; nil is the machine's
}

// Sentinels that a caller tests to choose an exit code.
var (
	// ErrNotSetUp says that a gate of the set-up is open.
	ErrNotSetUp = errors.New("set-up is not finished")
	// ErrInterrupted says that the loop was stopped at once, in the middle of a step.
	ErrInterrupted = errors.New("interrupted")
	// ErrAskResume says that the user stopped the last run and has not said to resume it.
	ErrAskResume = errors.New("the last run was stopped by the user")
	// ErrFinished says that a stop condition of the last run still holds.
	ErrFinished = errors.New("the track is finished")
	// errStop ends a step early because a stop was asked for.
	errStop = errors.New("stop asked for")
)

// Loop runs one track. Its methods are not safe for concurrent use; what runs
// beside it (agents, the control inbox) talks to it by channels.
type Loop struct {
	cfg      Config
	events   *emitter
	settings track.File[track.Settings]
	progress track.File[track.AgentSettings]
	goal     track.Goal
	goalText string
	harness  track.Harness
	harnText string
	refs     refNames
	lab      *lab
	guard    *checkoutGuard
	learner  *learner
	aids     aids
	helm     *helm
	purse    purse
	past     ledger             // of the earlier starts of this run
	broken   []track.BrokenTask // their agents that were killed
	lot      lot
	started  time.Time
	notesMu  sync.Mutex // agents' tasks note side by side
	notes    []string
	drawn    *plot.Data // what the chart of this run shows
	played   int        // rounds of this run
	idle     int        // the last of them in which agents could not be started

	// How the run ends. It is written down after the final measurement, so that a
	// run killed in between takes that measurement when it is started again.
	final       track.Status
	finalReason string
}

// Run runs the loop until a stop condition holds. The error is one of the
// sentinels, a *track.LockedError, or what went wrong.
func Run(ctx context.Context, cfg Config) (track.Summary, error) {
	l := &Loop{cfg: cfg, started: cfg.Now()}
	lock, err := track.AcquireLock(cfg.Paths.LockPath(), track.Holder{Command: "si run", StartedAt: cfg.Now()})
	if err != nil {
		return track.Summary{}, err
	}
	defer lock.Release() //nolint:errcheck // the system releases it when the process ends
	if err := firstOf(refuseOtherModes(cfg), hideOurs(ctx, cfg)); err != nil {
		return track.Summary{}, err
	}
	if err := l.open(); err != nil {
		return track.Summary{}, err
	}
	defer l.close(context.WithoutCancel(ctx))
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	box := l.steer(cancel)
	defer box.close()
	err = l.rounds(ctx)
	if clearErr := l.clearMode(); err == nil {
		err = clearErr
	}
	if errors.Is(context.Cause(ctx), ErrInterrupted) {
		err = ErrInterrupted
	}
	return l.end(ctx, err)
}

// rounds plays rounds until a stop condition holds (nil), a stop is asked for
// (errStop), or something makes it impossible to go on.
func (l *Loop) rounds(ctx context.Context) error {
	first, err := l.enter(ctx)
	if err != nil || first == nil {
		return err
	}
	if err := l.openAids(ctx); err != nil {
		return err
	}
	for r := first; ; {
		if err := r.play(ctx); err != nil {
			return err
		}
		status, reason := l.stopCondition()
		if err := l.worthwhile(r, status != track.StatusRunning); err != nil {
			return err
		}
		if status != track.StatusRunning {
			l.final, l.finalReason = status, reason
			return nil
		}
		if every := l.settings.Value.SI.Learn.RetroEvery; every > 0 && r.n%every == 0 {
			if err := l.learn(ctx, retro.ByEvery); err != nil {
				return err
			}
		}
		if r, err = l.nextRound(ctx); err != nil {
			return err
		}
	}
}

// open reads the track and prepares what every round needs.
func (l *Loop) open() (err error) {
	if err := l.cfg.Paths.EnsureLayout(l.cfg.Store); err != nil {
		return err
	}
	if err := l.load(); err != nil {
		return err
	}
	if missing := MissingGates(l.progress.Value); len(missing) > 0 {
		return fmt.Errorf("%w: missing %s; run 'si init'", ErrNotSetUp, join(missing))
	}
	if l.events, err = openEmitter(l.cfg); err != nil {
		return err
	}
	l.cfg.Repo.LendFrom(filepath.Join(l.cfg.WorkDir, "lent"))
	l.refs = refNames{prefix: l.progress.Value.SI.RefPrefix, goal: *l.progress.Value.GoalSlug}
	l.learner = &learner{l: l}
	past, spent, err := l.events.past()
	if err != nil {
		l.events.close()
		return err
	}
	l.takeUp(spent, l.progress.Value.Status)
	if id := l.progress.Value.SI.BenchmarkID; id != "" && id != benchmarkID(l.settings.Value) {
		past = nil // what was taken with another benchmark says nothing about this one
	}
	if l.lab, err = newLab(l, past); err != nil {
		l.events.close()
		return err
	}
	return nil
}

func (l *Loop) close(ctx context.Context) {
	at, cancel := context.WithCancel(ctx)
	cancel() // the end of a run that had one has waited already
	_ = l.closeAids(at)
	l.lab.close(ctx)
	l.events.close()
}

// load reads every document that the user may have edited.
func (l *Loop) load() (err error) {
	if l.settings, err = track.LoadSettings(l.cfg.Paths); err != nil {
		return err
	}
	if l.progress, err = track.LoadProgress(l.cfg.Paths); err != nil {
		return err
	}
	if l.goal, l.goalText, err = track.LoadGoal(l.cfg.Paths); err != nil {
		return err
	}
	l.harness, l.harnText, err = track.LoadHarness(l.cfg.Paths)
	return err
}

func (l *Loop) setStatus(s track.Status, reason string) error {
	p := &l.progress
	p.Value.Status, p.Value.SI.Reason = s, reason
	return p.Save(l.cfg.Store)
}

func (l *Loop) spec() (benchmark.Spec, error) { return benchmark.SpecOf(l.settings.Value) }

// note is a sentence that the summary repeats.
func (l *Loop) note(format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	l.notesMu.Lock()
	l.notes = append(l.notes, text)
	l.notesMu.Unlock()
	return l.events.emit(track.EvWarning, 0, "si", track.Note{Text: text})
}
