package loop

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

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
		if a.tree == tree && b.putBack(a) {
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
	home, err := b.moveIn(a)
	if err != nil {
		return nil, err
	}
	laid, err := takeSnapshot(a.path, nil)
	if err != nil {
		return nil, err
	}
	if err := b.prepare(ctx, a, commit); err != nil {
		return nil, err
	}
	a.tree = tree
	return a, b.freeze(a, laid, home)
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

// prepare gives a fresh checkout its linked paths and runs the set-up command. One that
// fails, or that changes what is sealed, is the tree's fault.
func (b *lab) prepare(ctx context.Context, a *arm, commit string) error {
	if err := b.l.link(ctx, a.ws); err != nil {
		return err
	}
	setup := b.l.settings.Value.SI.Setup
	if setup == "" {
		return nil
	}
	may, err := b.setupAccess(ctx, commit)
	if err != nil {
		return err
	}
	log := filepath.Join(b.folder(), filepath.Base(a.path)+".setup.log")
	job, err := b.job(a, log, may)
	if err != nil {
		return err
	}
	job.Timeout = b.patience()
	result, err := b.meter.CommandGuard(ctx, job, benchmark.Guard{Name: "set-up command", Command: setup})
	if err != nil {
		return err
	}
	if !result.OK {
		a.fault = "set-up command: " + clean.Line(result.What, 500) + "; its output is in " + log
		return nil
	}
	return b.checkSealed(ctx, a)
}

// checkSealed looks whether the set-up command has left the sealed files alone: it can
// be made of a candidate's code.
func (b *lab) checkSealed(ctx context.Context, a *arm) error {
	seals, err := benchmark.NewSeals(b.l.settings.Value.SealedFiles)
	if err != nil {
		return fmt.Errorf("%s: sealed_files: %w", b.l.settings.Path, err)
	}
	dirty, err := a.ws.Dirty(ctx)
	if err != nil {
		a.fault = "set-up command: it damaged the checkout that it ran in: " + clean.Line(err.Error(), 300)
		return nil
	}
	if bad := slices.DeleteFunc(dirty, func(path string) bool { return !seals.Match(path) }); len(bad) > 0 {
		a.fault = "set-up command: it changed sealed files: " + quoted(bad)
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

// uses tells whether a folder is an arm of the lab, a HOME, or holds copies.
func (b *lab) uses(path string) bool {
	name := filepath.Base(path)
	if filepath.Dir(path) == b.folder() && (strings.HasPrefix(name, "home") || strings.HasPrefix(name, copiesPrefix)) {
		return true
	}
	return slices.ContainsFunc(b.arms, func(a *arm) bool { return a.path == path })
}
