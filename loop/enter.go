package loop

import (
	"context"
	"errors"
	"fmt"

	"si/gitops"
	"si/track"
)

// enter decides how this run begins: a new round, the round that a crash or a
// stop interrupted, or not at all: a nil round says that only the end is left.
func (l *Loop) enter(ctx context.Context) (*round, error) {
	before := l.progress.Value.Status
	if before == track.StatusUserStopped && !l.cfg.Resume {
		return nil, fmt.Errorf("%w at iteration %d; 'si run --resume' goes on with it", ErrAskResume, l.progress.Value.Iterations)
	}
	resumed := before == track.StatusRunning || before == track.StatusUserStopped
	st, err := track.LoadIteration(l.cfg.Paths)
	if err != nil {
		return nil, err
	}
	current := noRound
	if unfinished(st) {
		current = st.Value.Iteration
	}
	status, reason := l.stopCondition()
	if current == noRound && !resumed && before != track.StatusFailed && status != track.StatusRunning {
		return nil, fmt.Errorf("%w: %s", ErrFinished, howToContinue(status, reason))
	}
	if err := l.begin(ctx, resumed, current); err != nil {
		return nil, err
	}
	if current != noRound {
		if r, err := l.resumeRound(ctx, st); r != nil || err != nil {
			return r, err
		}
	}
	// A crash may have come between the last round and the end of the run.
	if status, reason := l.stopCondition(); status != track.StatusRunning {
		l.final, l.finalReason = status, reason
		return nil, nil
	}
	return l.nextRound(ctx)
}

func unfinished(st track.File[track.IterationState]) bool {
	m := st.Value.Status
	return st.Exists && (m == track.MarkInProgress || m == track.MarkInterrupted || m == track.MarkFailed)
}

// begin cleans up after earlier runs and marks this one as running, once the
// repository is what it should be. current is the round to take up.
func (l *Loop) begin(ctx context.Context, resumed bool, current int) error {
	if err := firstOf(l.sweepProcesses(), l.sweepJobs(ctx)); err != nil {
		return err
	}
	if err := l.cleanUp(ctx, current); err != nil {
		return err
	}
	if err := l.checkImproveBranch(ctx); err != nil {
		return err
	}
	dirty, err := l.cfg.Repo.DirtyPaths(ctx)
	if err != nil {
		return err
	}
	if l.guard, err = newCheckoutGuard(ctx, l); err != nil {
		return err
	}
	l.progress.Value.SI.Reason = ""
	if err := l.setStatus(track.StatusRunning, ""); err != nil {
		return err
	}
	err = l.events.emit(track.EvRunStarted, 0, "si", track.RunStarted{
		Version: l.cfg.Version, Root: l.cfg.Paths.Root, Repo: l.cfg.Repo.Toplevel(),
		Branch: l.refs.improve(), Resumed: resumed, Left: dirty, Broken: l.broken,
	})
	if err != nil {
		return err
	}
	if err := l.events.emit(track.EvWarning, 0, "si", track.Note{Text: l.contained()}); err != nil {
		return err
	}
	if err := firstOf(l.tellIsolation(), l.tellEdits(), l.tellLabel(ctx)); err != nil {
		return err
	}
	for _, entry := range l.goal.NotUsed {
		if err := l.note("the scope in %s names no path in %s: it limits nothing", l.cfg.Paths.GoalPath, entry); err != nil {
			return err
		}
	}
	return l.calibrate(ctx)
}

// notEnforced is said at each start: a promise that rests on checks alone is
// not one that the machine keeps.
const notEnforced = "nothing is sandboxed: agents and the benchmark run with your rights and your network; " +
	"seals, your checkout and your refs are protected by checks"

// tellIsolation says at each start what agents in linked worktrees can reach.
func (l *Loop) tellIsolation() error {
	switch {
	case l.settings.Value.SI.Isolation != "worktree":
		return nil
	case !l.holds():
		return l.note("not enforced: with si.isolation %q and no sandbox an agent's git works in your own repository: it can move your branches, change the configuration "+
			"and the hooks, and read all that was ever committed; what it changed is noticed afterwards; %q is the safer choice", "worktree", "clone")
	}
	return l.note("with si.isolation %q agents read the names of your branches and the configuration of your repository; its objects are hidden, and it is read-only; %q shows them neither", "worktree", "clone")
}

func (l *Loop) sweepProcesses() error {
	if l.cfg.Sweep == nil {
		return nil
	}
	n, err := l.cfg.Sweep()
	if err != nil {
		return fmt.Errorf("end processes that outlived an earlier run: %w", err)
	}
	if n > 0 {
		return l.events.emit(track.EvCleanup, 0, "si", track.Note{Text: fmt.Sprintf("ended %d processes that had outlived an earlier run", n)})
	}
	return nil
}

// checkImproveBranch creates the branch when it is missing and refuses to work
// on one that the user has checked out.
func (l *Loop) checkImproveBranch(ctx context.Context) error {
	branch := l.refs.improve()
	at, err := l.cfg.Repo.CheckedOutAt(ctx, branch)
	if err != nil {
		return err
	}
	if at != "" {
		return fmt.Errorf("%w: branch %s is checked out in %s; switch that checkout to another branch, then start again", ErrNotSetUp, branch, at)
	}
	if _, ok, err := l.cfg.Repo.Ref(ctx, "refs/heads/"+branch); err != nil || ok {
		return err
	}
	if err := l.cfg.Repo.CheckBranchName(ctx, branch); err != nil {
		return err
	}
	champion, err := l.champion()
	if err != nil {
		return err
	}
	if champion != "" {
		if !l.cfg.Repo.HasCommit(ctx, champion) {
			return fmt.Errorf("branch %s is gone, and so is the champion %s of the last round: restore it (git fsck --lost-found), or start a new track", branch, champion)
		}
		if err := l.cfg.Repo.MoveRef(ctx, "refs/heads/"+branch, champion, ""); err != nil || l.events == nil {
			return err
		}
		return l.note("branch %s was gone; it is back at the champion of the last round, %s", branch, short(champion))
	}
	start := l.progress.Value.SI.StartCommit
	if start == "" {
		if start, err = l.cfg.Repo.Resolve(ctx, l.settings.Value.TargetBranch); err != nil {
			return fmt.Errorf("%w: target_branch %q: %w; correct it in %s", ErrNotSetUp, l.settings.Value.TargetBranch, err, l.settings.Path)
		}
	}
	return l.cfg.Repo.MoveRef(ctx, "refs/heads/"+branch, start, "")
}

// champion is the commit that the last recorded round left on the improve
// branch, "" when there is none on record.
func (l *Loop) champion() (string, error) {
	h, err := track.LoadRound(l.cfg.Paths, l.progress.Value.SI.RecordedRound)
	if err != nil || !h.Exists {
		return "", err
	}
	return h.Value.SI.Champion, nil
}

// movedBranch refuses a branch that is not where the last decision left it: what
// stands there was never measured against the champion.
func movedBranch(branch, now, champion string) error {
	if now == champion || champion == "" {
		return nil
	}
	return &TamperedError{During: "the run, or since the last one", Changes: []track.CheckoutEvent{{
		Kind: "ref", Name: "refs/heads/" + branch, Before: champion, After: now, Stops: true,
		Restore: fmt.Sprintf("git update-ref refs/heads/%s %s %s", branch, champion, now),
	}}}
}

// tip is the commit of the improve branch.
func (l *Loop) tip(ctx context.Context) (string, error) {
	id, ok, err := l.cfg.Repo.Ref(ctx, "refs/heads/"+l.refs.improve())
	if err == nil && !ok {
		err = fmt.Errorf("branch %s is gone; restore it (git reflog), or start a new track", l.refs.improve())
	}
	return id, err
}

// nextRound begins the round after the last recorded one.
func (l *Loop) nextRound(ctx context.Context) (*round, error) {
	if err := l.refresh(); err != nil {
		return nil, err
	}
	if err := l.helm.pending(); err != nil {
		return nil, err
	}
	if id := l.progress.Value.SI.BenchmarkID; id != "" && id != benchmarkID(l.settings.Value) {
		l.lab.known, l.lab.past = map[sampleID]track.Sample{}, nil
		if err := l.calibrate(ctx); err != nil {
			return nil, err
		}
	}
	n := l.progress.Value.Iterations + 1
	if err := l.cleanUp(ctx, n); err != nil {
		return nil, err
	}
	base, err := l.tip(ctx)
	if err != nil {
		return nil, err
	}
	champion, err := l.champion()
	if err != nil {
		return nil, err
	}
	if !learnedSince(l.progress.Value.SI.Learned, base, champion) {
		if err := movedBranch(l.refs.improve(), base, champion); err != nil {
			return nil, err
		}
	}
	l.lab.forget(n)
	r := &round{Loop: l, n: n}
	if r.st, err = track.NewIteration(l.cfg.Paths, n, l.cfg.Now().UTC()); err != nil {
		return nil, err
	}
	r.st.Value.SI.Base = base
	ideas, err := track.LoadIdeas(l.cfg.Paths)
	if err != nil {
		return nil, err
	}
	r.st.Value.SI.Ideas = track.Ideas(ideas)
	if err := r.save(); err != nil {
		return nil, err
	}
	return r, r.announce(false)
}

// resumeRound takes up the round in st. A nil round says that there is nothing
// left of it to do.
func (l *Loop) resumeRound(ctx context.Context, st track.File[track.IterationState]) (*round, error) {
	n := st.Value.Iteration
	if n <= l.progress.Value.SI.RecordedRound && st.Value.Recording.Status == track.MarkCompleted {
		return nil, nil
	}
	r := &round{Loop: l, n: n, st: st, resumed: true}
	if err := r.adopt(ctx); err != nil {
		return nil, err
	}
	r.st.Value.Status = track.MarkInProgress
	if err := r.save(); err != nil {
		return nil, err
	}
	return r, r.announce(true)
}

// adopt fills in what a track of the seed's tool, or a lost commit, leaves open.
func (r *round) adopt(ctx context.Context) error {
	si := &r.st.Value.SI
	if si.Base != "" && r.cfg.Repo.HasCommit(ctx, si.Base) {
		return nil
	}
	if si.Base != "" {
		return fmt.Errorf("the commit %s that round %d started from is gone from %s; restore it, or move %s away to play the round anew",
			si.Base, r.n, r.cfg.Repo.Toplevel(), r.st.Path)
	}
	tip, err := r.Loop.tip(ctx)
	if err != nil {
		return err
	}
	si.Base = tip
	// Its executors edited worktrees that are gone: only plans can be taken over.
	r.st.Value.Execution = track.ExecutionState{Status: track.MarkPending, Executors: map[string]track.ExecutorState{}}
	r.st.Value.Tournament = track.TournamentState{Status: track.MarkPending}
	return nil
}

func howToContinue(s track.Status, reason string) string {
	switch s {
	case track.StatusTargetReached:
		return "the target is reached; raise target_value to go on"
	case track.StatusMaxIterations:
		return "max_iterations are done; raise it to go on"
	case track.StatusPlateau:
		return "the gains have become smaller than plateau_threshold; raise plateau_window or lower the threshold to go on"
	case track.StatusCircuitBreaker:
		return "no winner for circuit_breaker_threshold rounds; raise it, change the goal's scope or the agents to go on"
	case track.StatusBudget:
		return reason + "; raise the budget to go on"
	case track.StatusIdle, track.StatusRunning, track.StatusUserStopped, track.StatusFailed:
	}
	return reason
}

// explainMoved turns a lost compare-and-swap into what the user must know.
func explainMoved(err error, branch string) error {
	if errors.Is(err, gitops.ErrMoved) {
		return fmt.Errorf("branch %s was moved by somebody else while the loop ran: %w; look at its reflog, then start again", branch, err)
	}
	return err
}

// rescoreStart gives the starting commit a score on a benchmark that settings.json
// brought: what it had was another number.
func (l *Loop) rescoreStart(ctx context.Context) error {
	start := l.progress.Value.SI.StartCommit
	if start == "" || !l.cfg.Repo.HasCommit(ctx, start) {
		return nil
	}
	s, err := l.retake(ctx, request{key: "adopt/start", purpose: "setup", subject: "start", commit: start, decides: true})
	if err != nil || s.Score == nil {
		return err
	}
	baseline, err := track.LoadBaseline(l.cfg.Paths)
	if err != nil {
		return err
	}
	baseline.Value = track.Baseline{Score: *s.Score, RecordedAt: l.cfg.Now().UTC()}
	return baseline.Save(l.cfg.Store)
}

// calibrate measures the champion's noise where that was never done: on a track that
// the seed's tool has set up, and on a benchmark that settings.json brought.
func (l *Loop) calibrate(ctx context.Context) error {
	p := &l.progress.Value
	changed := p.SI.BenchmarkID != "" && p.SI.BenchmarkID != benchmarkID(l.settings.Value)
	if changed {
		if err := l.note("the benchmark was changed since the last run: the champion is measured anew, and earlier scores cannot be compared with its"); err != nil {
			return err
		}
		p.SI.NoiseMode, p.BestScore = "", nil
	}
	if p.SI.NoiseMode != "" {
		return nil
	}
	tip, err := l.tip(ctx)
	if err != nil {
		return err
	}
	samples, noise, err := l.measureBaseline(ctx, baselineOf{key: "adopt", subject: "champion", commit: tip}, SetUp{AcceptNoise: !changed})
	if err != nil {
		return err
	}
	l.setNoise(samples, noise)
	if changed { // nobody has looked at this benchmark yet
		if err := l.canaries(ctx, l.progress.Value.Iterations+1, tip); err != nil {
			return err
		}
		if err := l.rescoreStart(ctx); err != nil {
			return err
		}
	}
	p.SI.BenchmarkID = benchmarkID(l.settings.Value)
	if p.SI.StartCommit == "" {
		p.SI.StartCommit = tip
	}
	if p.BestScore == nil {
		score := median(scoresOf(samples))
		p.BestScore = &score
	}
	return l.progress.Save(l.cfg.Store)
}
