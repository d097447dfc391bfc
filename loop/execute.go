package loop

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"si/agents"
	"si/benchmark"
	"si/gitops"
	"si/track"
)

// modeSymlink is git's mode of a symbolic link.
const modeSymlink = "120000"

// maxLinkTarget is the longest target of a link that Linux follows, in bytes.
const maxLinkTarget = 4096

// execute runs one executor and turns what it left in its workspace into a
// commit on its experiment branch. A branch that is there already is the work
// of an executor that finished before a crash: it is not run again.
func (r *round) execute(ctx context.Context, c candidate) (candidate, error) {
	if r.helm.vetoed(c.plan) {
		c.failure = vetoed()
		return c, r.emitCandidate(c, nil)
	}
	if done, err := r.salvage(ctx, &c); done || err != nil {
		return c, err
	}
	path := r.workspace(c.executor)
	t := r.task(agents.Executor, c.executor, path)
	t.Facts.Plan = &c.plan
	t.Facts.History, t.Facts.Brief = nil, nil // scores of others invite copying
	skipped, err := r.attempt(ctx, t, func(ctx context.Context, t agents.Task) error {
		ws, err := r.openWorkspace(ctx, path, r.st.Value.SI.Base)
		if err == nil {
			err = r.holdWorktree(&t)
		}
		if err != nil {
			return notTheAgents(err)
		}
		if err := r.cfg.Agents.Execute(ctx, t); err != nil {
			return err
		}
		return notTheAgents(r.collect(ctx, ws, &c))
	})
	if err != nil {
		return c, err
	}
	if skipped && r.helm.vetoed(c.plan) {
		c.failure = vetoed()
		return c, r.emitCandidate(c, nil)
	}
	if skipped {
		c.failure = failure(track.CategoryInfrastructure, "the executor did not finish: %s",
			"the agent itself did not finish; the plan was not tried", "try the plan again", r.whySkipped(c.executor))
		return c, r.emitCandidate(c, nil)
	}
	return c, nil
}

// vetoed is what becomes of a plan that the user does not want.
func vetoed() *track.FailureAnalysis {
	return failure(track.CategoryInfrastructure, "%v", "a person decided; nothing was measured", "do not propose it again", errVetoed)
}

// whySkipped is the reason for which an agent of the round was left out.
func (r *round) whySkipped(id string) string {
	r.skipMu.Lock()
	defer r.skipMu.Unlock()
	for _, s := range r.st.Value.SI.Skipped {
		if s.ID == id {
			return s.Reason
		}
	}
	return "nobody knows why"
}

// salvage adopts the commit on the candidate's experiment branch, if there is
// one that belongs to this plan and starts from this round's base.
func (r *round) salvage(ctx context.Context, c *candidate) (bool, error) {
	ref := "refs/heads/" + r.refs.experiment(r.n, c.executor)
	id, ok, err := r.cfg.Repo.Ref(ctx, ref)
	if err != nil || !ok {
		return false, err
	}
	entries, err := r.cfg.Repo.Log(ctx, "", id, 1)
	if err != nil {
		return false, err
	}
	if len(entries) == 1 && r.isCandidate(entries[0], c.plan) {
		c.commit, c.tree = id, entries[0].Tree
		changes, err := r.cfg.Repo.Diff(ctx, r.st.Value.SI.Base, id)
		if err != nil {
			return false, err
		}
		r.warn(c, changes)
		return true, nil
	}
	return false, r.cfg.Repo.DeleteRef(ctx, ref, id)
}

// isCandidate tells whether a commit is what an executor made of the plan in
// this round.
func (r *round) isCandidate(e gitops.LogEntry, p track.Plan) bool {
	return len(e.Parents) == 1 && e.Parents[0] == r.st.Value.SI.Base &&
		strings.TrimSpace(e.Message) == strings.TrimSpace(commitMessage(p))
}

// collect commits what the executor changed, checks it against the seals and
// the scope, and pins it by its branch.
func (r *round) collect(ctx context.Context, ws *gitops.Workspace, c *candidate) error {
	commit, changes, err := r.cfg.Repo.Collect(ctx, ws, r.st.Value.SI.Base, r.meta(commitMessage(c.plan)))
	if err != nil {
		if c.failure = refusedByGit(err); c.failure == nil {
			return err
		}
		return r.emitCandidate(*c, changes)
	}
	c.commit, c.tree = commit.ID, commit.Tree
	if c.failure, err = r.inspectChange(ctx, commit.ID, changes); err != nil {
		return err
	}
	r.warn(c, changes)
	if c.failure != nil {
		// Kept as a tag, so that what was refused can be looked at.
		if err := r.pin(ctx, "refs/tags/"+r.refs.archive(r.n, c.executor), commit.ID); err != nil {
			return err
		}
		return r.emitCandidate(*c, changes)
	}
	if err := r.pin(ctx, "refs/heads/"+r.refs.experiment(r.n, c.executor), commit.ID); err != nil {
		return err
	}
	return r.emitCandidate(*c, changes)
}

// pin makes a commit permanent: on the disk, then under a ref, then on the disk
// again. Only then may a document name it.
func (r *round) pin(ctx context.Context, ref, commit string) error {
	old, _, err := r.cfg.Repo.Ref(ctx, ref)
	if err != nil {
		return err
	}
	if old != commit {
		if err := r.cfg.Repo.MoveRef(ctx, ref, commit, old); err != nil {
			return err
		}
	}
	return r.cfg.Repo.Sync()
}

func (r *round) emitCandidate(c candidate, changes []gitops.Change) error {
	ev := track.CandidateEvent{Executor: c.executor, PlanID: c.plan.PlanID, Commit: c.commit, Tree: c.tree, Warnings: c.warnings}
	for i, ch := range changes {
		if i == 100 {
			ev.Files = append(ev.Files, fmt.Sprintf("and %d more", len(changes)-i))
			break
		}
		ev.Files = append(ev.Files, ch.Path)
	}
	if c.failure != nil {
		ev.Category, ev.Reason = c.failure.Category, c.failure.What
	}
	return r.emit(track.EvCandidate, c.executor, ev)
}

// refusedByGit says which errors of Collect are the candidate's own fault.
func refusedByGit(err error) *track.FailureAnalysis {
	var broken *gitops.Error // what an agent can do to its workspace is its own fault
	switch {
	case errors.Is(err, gitops.ErrNoChange):
		return failure(track.CategoryLogicError, "the executor changed nothing", "no file of the workspace differs from the champion",
			"a plan must name a change that is not already made")
	case errors.Is(err, gitops.ErrRefused), errors.As(err, &broken) && (broken.Op == "collect" || broken.Op == "stage"):
		return failure(track.CategoryScopeError, "the change cannot be committed: %v", "it holds what a candidate may not hold",
			"change source files only", err)
	}
	return nil
}

// inspectChange applies the seals, the rules for links and the scope.
func (r *round) inspectChange(ctx context.Context, commit string, changes []gitops.Change) (*track.FailureAnalysis, error) {
	seals, err := benchmark.NewSeals(r.settings.Value.SealedFiles)
	if err != nil {
		return nil, fmt.Errorf("%s: sealed_files: %w", r.settings.Path, err)
	}
	paths := make([]string, 0, len(changes))
	sealed := make([]benchmark.Change, 0, len(changes))
	newLinks := map[string]bool{}
	for _, ch := range changes {
		paths = append(paths, ch.Path)
		sealed = append(sealed, benchmark.Change{Path: ch.Path, OldMode: there(ch.OldMode), NewMode: there(ch.NewMode), OldID: there(ch.OldID), NewID: there(ch.NewID)})
		if ch.NewMode == modeSymlink {
			newLinks[ch.Path] = true
		}
	}
	if bad := seals.Violations(sealed); len(bad) > 0 {
		return failure(track.CategorySealed, "sealed paths were changed: %s", "the change touches what the benchmark is made of",
			"leave sealed paths alone", quoted(bad)), nil
	}
	links, err := r.links(ctx, commit, newLinks)
	if err != nil {
		return nil, err
	}
	if bad := seals.LinkFaults(links); len(bad) > 0 {
		return failure(track.CategorySealed, "symbolic links lead where they may not: %s", "a link out of the tree, or to a sealed path, can replace what is measured",
			"do not add such links", quoted(bad)), nil
	}
	if files := benchmark.RunnerFiles(paths); r.settings.Value.SI.RunnerFiles == "strict" && len(files) > 0 {
		return failure(track.CategorySealed, "files that test and build programs read by themselves were changed: %s", "such a file can change what the benchmark does, and runner_files is strict",
			"change source files only", quoted(files)), nil
	}
	if bad := slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return !onlyLearned(p) }); len(bad) > 0 {
		return failure(track.CategoryScopeError, "learned files were changed: %s", "what the repository learns is counted and written by the program, never by an agent",
			"say in the report what was learned", quoted(bad)), nil
	}
	if bad := r.outOfScope(paths); len(bad) > 0 {
		return failure(track.CategoryScopeError, "paths out of scope were changed: %s", "goal.md does not list them as in scope, or excludes them",
			"stay within the scope of goal.md", quoted(bad)), nil
	}
	return r.inspectSteering(ctx, commit, paths)
}

// there is a mode or an id, "" for the zeros that stand where nothing is.
func there(s string) string {
	if strings.Trim(s, "0") == "" {
		return ""
	}
	return s
}

// links reads the symbolic links of a candidate's tree, when it brings new ones:
// a new link may lead through an old one.
func (r *round) links(ctx context.Context, commit string, added map[string]bool) ([]benchmark.Link, error) {
	if len(added) == 0 {
		return nil, nil
	}
	entries, err := r.cfg.Repo.ListTree(ctx, commit)
	if err != nil {
		return nil, err
	}
	var links []benchmark.Link
	for _, e := range entries {
		if e.Mode != modeSymlink {
			continue
		}
		target, err := r.cfg.Repo.ReadFile(ctx, commit, e.Path, maxLinkTarget)
		if err != nil {
			return nil, fmt.Errorf("read the link %q: %w", e.Path, err)
		}
		links = append(links, benchmark.Link{Path: e.Path, Target: string(target), Old: !added[e.Path]})
	}
	return links, nil
}

// outOfScope names the changed paths that goal.md does not let a change touch.
func (r *round) outOfScope(paths []string) []string {
	var bad []string
	for _, p := range paths {
		if !inScope(r.goal, p) {
			bad = append(bad, p)
		}
	}
	return bad
}

func (r *round) warn(c *candidate, changes []gitops.Change) {
	var paths []string
	for _, ch := range changes {
		paths = append(paths, ch.Path)
	}
	for _, p := range benchmark.RunnerFiles(paths) {
		c.warnings = append(c.warnings, fmt.Sprintf("changes %q, which test and build programs read by themselves", p))
	}
}

func commitMessage(p track.Plan) string {
	return fmt.Sprintf("%s\n\nPlan: %s\nFamily: %s\n", subject(p.Hypothesis), p.PlanID, p.ApproachFamily)
}

// meta dates every commit of the round at its start, so that a round played
// again gives the same commits.
func (r *round) meta(message string) gitops.CommitMeta {
	return gitops.CommitMeta{Message: message, When: r.st.Value.StartedAt, Secrets: r.secrets(), Limits: gitops.Limits{FileBytes: int64(orDefault(r.settings.Value.SI.MaxFileMB, 100)) << 20}}
}

func (r *round) workspace(id string) string {
	return filepath.Join(r.cfg.WorkDir, "agents", fmt.Sprintf("round_%d_%s", r.n, id))
}
