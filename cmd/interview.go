package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"

	"si/agents"
	"si/gitops"
	"si/internal/clean"
	"si/loop"
	"si/loop/survey"
	"si/track"
	"si/tui/interview"
)

// interviewer holds the interview of a track.
type interviewer struct {
	world  World
	place  *place
	agents agentFlags
	open   bool // nothing is sandboxed
	ascii  bool
	branch string // to start from; "" is the track's, or the one that is checked out
}

// hold asks what is to be asked. The track is let go of when it returns.
func (i interviewer) hold(ctx context.Context) (interview.Outcome, error) {
	var none interview.Outcome
	cfg, err := i.place.loopConfig(ctx, i.world, i.agents, i.open)
	if err != nil {
		return none, err
	}
	feed := interview.NewFeed()
	cfg.Listen = append(cfg.Listen, feed.Event)
	gates, err := loop.OpenGates(ctx, cfg)
	if err != nil {
		return none, err
	}
	w, err := i.ask(ctx, cfg, gates)
	if err != nil {
		return none, err
	}
	w.Feed = feed
	t, done, err := terminalFor(i.world)
	if err != nil {
		return none, err
	}
	out, err := interview.Run(ctx, t, w)
	done()
	return out, errors.Join(err, gates.Close())
}

// terminalFor is the terminal with this process's signals, and what ends hearing
// them.
func terminalFor(w World) (interview.Terminal, func(), error) {
	in, out, err := terminalOf(w)
	if err != nil {
		return interview.Terminal{}, nil, err
	}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	t := interview.Terminal{In: in, Out: out, Env: os.Environ(), Signals: signals}
	return t, func() { signal.Stop(signals) }, nil
}

// ask gathers what the interview has to know.
func (i interviewer) ask(ctx context.Context, cfg loop.Config, gates *loop.Gates) (interview.World, error) {
	settings, err := i.settings(ctx)
	if err != nil {
		return interview.World{}, err
	}
	w := interview.World{
		Repository: i.place.repo.Toplevel(), Branch: settings.TargetBranch, Contained: loop.Contained(cfg), Settings: settings,
		LogDir: i.place.paths.LogDir(0), Gates: gates, Now: i.world.Now, Dark: true, ASCII: i.ascii || coarseTerminal(i.world),
	}
	if w.Dirty, err = i.place.repo.DirtyPaths(ctx); err != nil {
		return w, err
	}
	if w.Open, err = gates.Missing(); err != nil {
		return w, err
	}
	if w.Goal, _, err = track.LoadGoal(i.place.paths); err != nil {
		return w, err
	}
	harness, text, err := track.LoadHarness(i.place.paths)
	if err != nil {
		return w, err
	}
	w.Harness, w.Custom = text, harness.Custom
	tree := &commitTree{repo: i.place.repo, branch: settings.TargetBranch}
	w.Survey, w.Files = tree.survey, tree.count
	w.Agents = i.found
	asks, err := i.named(agents.Clarifier)
	if err != nil {
		return w, err
	}
	if asks != tunerName {
		w.Clarify = setUpAgent{gates, settings}
	}
	writes, err := i.named(agents.Builder)
	if err == nil && writes != tunerName {
		w.Build = setUpAgent{gates, settings}
	}
	return w, err
}

// settings are those of the track, or of a new one: with the branch that is
// checked out and a seed.
func (i interviewer) settings(ctx context.Context) (track.Settings, error) {
	doc, err := track.LoadSettings(i.place.paths)
	if err != nil {
		return doc.Value, err
	}
	v := doc.Value
	o := initOptions{branch: i.branch}
	return v, o.startFrom(ctx, i.place, &v, doc.Exists)
}

// commitTree reads the files of a branch's tip.
type commitTree struct {
	repo   *gitops.Repo
	branch string
	files  atomic.Pointer[[]string]
}

func (t *commitTree) survey(ctx context.Context) (survey.Report, error) {
	commit, err := t.repo.Resolve(ctx, t.branch)
	if err != nil {
		return survey.Report{}, err
	}
	entries, err := t.repo.ListTree(ctx, commit)
	if err != nil {
		return survey.Report{}, err
	}
	var paths []string
	for _, e := range entries {
		if strings.HasPrefix(e.Mode, "100") {
			paths = append(paths, e.Path)
		}
	}
	t.files.Store(&paths)
	const most = 1 << 20
	return survey.Look(survey.Tree{Paths: paths, Read: func(path string) ([]byte, bool) {
		data, err := t.repo.ReadFile(ctx, commit, path, most)
		return data, err == nil
	}}), ctx.Err()
}

// count is how many files an entry of a scope names; the survey has listed them.
func (t *commitTree) count(entry string) int {
	if files := t.files.Load(); files != nil {
		return loop.InScope(entry, *files)
	}
	return 0
}

// unfinished says what a person who left has to do to go on.
func unfinished(p *place, out interview.Outcome) error {
	progress, err := track.LoadProgress(p.paths)
	if err != nil {
		return err
	}
	missing := loop.MissingGates(progress.Value)
	switch {
	case out.Declined:
		return fmt.Errorf("%w: nothing of %s was run, and nothing was written there", loop.ErrNoTrust, clean.Line(p.repo.Toplevel(), 300))
	case len(missing) > 0:
		return fmt.Errorf("%w: still to do: %s; what you confirmed is kept, and 'si' goes on there", loop.ErrNotSetUp, strings.Join(interview.StepNames(missing), ", "))
	}
	return nil
}
