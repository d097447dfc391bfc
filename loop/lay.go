package loop

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"si/benchmark"
	"si/gitops"
	"si/internal/clean"
	"si/track"
)

// lay returns an arm in which exactly the tree of commit stands, prepared by
// the set-up command. Both arms of a comparison have names of equal length and
// equally many warm-up runs.
func (b *lab) lay(ctx context.Context, commit, tree string) (*arm, error) {
	b.clock++
	for _, a := range b.arms {
		if a.tree == tree && b.untouched(a) {
			a.used = b.clock
			return a, nil
		}
	}
	a, err := b.freeArm(ctx, commit)
	if err != nil {
		return nil, err
	}
	a.used, a.tree, a.fault, a.runs = b.clock, "", "", 0
	if err := a.ws.Reset(ctx, commit); err != nil {
		// A candidate's run can damage the checkout it ran in: a new one is laid.
		if a, err = b.replaceArm(ctx, a, commit); err != nil {
			return nil, err
		}
	}
	if err := b.moveIn(a); err != nil {
		return nil, err
	}
	if err := b.prepare(ctx, a, commit); err != nil {
		return nil, err
	}
	a.tree = tree
	return a, b.look(a)
}

// look remembers what lies in the arm.
func (b *lab) look(a *arm) (err error) {
	a.seen, err = listing(a.path)
	return err
}

// untouched tells whether the arm is as its own last run left it. The run of
// another tree could have written there.
func (b *lab) untouched(a *arm) bool {
	now, err := listing(a.path)
	return err == nil && now == a.seen
}

// replaceArm lays a new checkout in the place of one that cannot be used.
func (b *lab) replaceArm(ctx context.Context, a *arm, commit string) (*arm, error) {
	_ = a.ws.Remove(ctx) // what is left of it goes with its folder
	b.arms = slices.DeleteFunc(b.arms, func(x *arm) bool { return x == a })
	if err := removeAll(a.path); err != nil {
		return nil, fmt.Errorf("remove a damaged checkout: %w", err)
	}
	ws, err := b.l.cfg.Repo.Worktree(ctx, a.path, commit)
	if err != nil {
		return nil, err
	}
	fresh := &arm{path: a.path, ws: ws, used: a.used}
	b.arms = append(b.arms, fresh)
	return fresh, nil
}

// freeArm opens a further arm while there are fewer than two, and one for each
// executor; then it takes the one that was idle longest.
func (b *lab) freeArm(ctx context.Context, commit string) (*arm, error) {
	if len(b.arms) < b.l.settings.Value.NumberOfAgents+1 || len(b.arms) < 2 {
		path := b.freePath()
		ws, err := b.l.cfg.Repo.Worktree(ctx, path, commit)
		if err != nil {
			return nil, err
		}
		a := &arm{path: path, ws: ws}
		b.arms = append(b.arms, a)
		return a, nil
	}
	oldest := b.arms[0]
	for _, a := range b.arms {
		if a.used < oldest.used {
			oldest = a
		}
	}
	return oldest, nil
}

// layAnew makes the next runs of the commits start from fresh checkouts and builds.
func (b *lab) layAnew() {
	for _, a := range b.arms {
		a.tree = ""
	}
}

// freePath is a place for an arm that no other has.
func (b *lab) freePath() string {
	for i := 0; ; i++ {
		path := filepath.Join(b.folder(), "arm_"+letters(i))
		if !b.uses(path) {
			return path
		}
	}
}

// prepare gives a fresh checkout its linked paths, runs the set-up command and
// the warm-up runs. A set-up command that fails is the tree's fault.
func (b *lab) prepare(ctx context.Context, a *arm, commit string) error {
	if err := b.l.link(ctx, a.ws); err != nil {
		return err
	}
	o := b.l.settings.Value.SI
	log := filepath.Join(b.folder(), filepath.Base(a.path)+".setup.log")
	if o.Setup != "" {
		may, err := b.setupAccess(ctx, commit)
		if err != nil {
			return err
		}
		job, err := b.job(a, log, may)
		if err != nil {
			return err
		}
		job.Timeout = b.patience()
		result, err := b.meter.CommandGuard(ctx, job, benchmark.Guard{Name: "set-up command", Command: o.Setup})
		if err != nil {
			return err
		}
		if !result.OK {
			a.fault = "set-up command: " + clean.Line(result.What, 500) + "; its output is in " + log
		}
	}
	for i := 0; i < o.Measure.Warmup && a.fault == ""; i++ {
		if _, err := b.run(ctx, a, log, ranBy{run: b.meter.Run}); err != nil {
			return err
		}
	}
	return nil
}

// lockFiles name what a tree depends on.
var lockFiles = []string{
	"go.sum", "Cargo.lock", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "poetry.lock", "uv.lock", "Pipfile.lock",
	"pdm.lock", "requirements.txt", "Gemfile.lock", "composer.lock", "gradle.lockfile",
}

// setupAccess is what the set-up command of a commit may reach. The user's own
// start may download into the caches of the toolchains; a candidate's may use the
// network only when it changes what it depends on, and writes to none of them.
func (b *lab) setupAccess(ctx context.Context, commit string) (access, error) {
	start := b.l.progress.Value.SI.StartCommit
	if start == "" || start == commit {
		return access{network: true, caches: true}, nil
	}
	changes, err := b.l.cfg.Repo.Diff(ctx, start, commit)
	if err != nil {
		return access{}, err
	}
	changed := slices.ContainsFunc(changes, func(c gitops.Change) bool { return slices.Contains(lockFiles, filepath.Base(c.Path)) })
	return access{network: changed}, nil
}

// link gives a workspace the untracked paths that settings name.
func (l *Loop) link(ctx context.Context, ws *gitops.Workspace) error {
	var links []gitops.Link
	for _, o := range l.settings.Value.SI.Links {
		links = append(links, gitops.Link{Path: o.Path, Mode: o.Mode})
	}
	warnings, err := ws.Link(ctx, links)
	for _, w := range warnings {
		if err := l.events.emit(track.EvWarning, 0, "si", track.Note{Text: w}); err != nil {
			return err
		}
	}
	if err != nil {
		return fmt.Errorf("linked_paths in %s: %w", l.settings.Path, err)
	}
	return nil
}

// uses tells whether a workspace is an arm of the lab.
func (b *lab) uses(path string) bool {
	return slices.ContainsFunc(b.arms, func(a *arm) bool { return a.path == path })
}
