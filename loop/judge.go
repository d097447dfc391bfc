package loop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"si/agents"
	"si/gitops"
	"si/internal/clean"
	"si/internal/proc"
	"si/learn/retro"
)

// judge is who looks back: an agent, or nil for the built-in one that only counts.
func (l *Loop) judge() retro.Judge {
	if !l.cfg.Judges {
		return nil
	}
	return func(ctx context.Context, o retro.Order) (retro.Answer, error) {
		r := &round{Loop: l, n: l.progress.Value.Iterations}
		return r.askJudge(ctx, o)
	}
}

// askJudge lets an agent look back, in a workspace of its own at the champion in which
// it may write. What it changed there is read out of git, and judged path by path.
func (r *round) askJudge(ctx context.Context, o retro.Order) (retro.Answer, error) {
	path := r.workspace("retrospective")
	t := r.task(agents.Retrospective, "retrospective", path)
	t.Prompt, t.Schema = o.Prompt, o.Schema
	var out retro.Answer
	var failure error
	var patience patience
	patience.watching(&t)
	for i := 1; i <= attempts; {
		var err error
		failure, err = r.once(ctx, t, i, func(ctx context.Context, t agents.Task) error {
			ws, err := r.openWorkspace(ctx, path, r.learner.laid)
			if err != nil {
				return notTheAgents(err)
			}
			answer, err := r.cfg.Agents.Ask(ctx, t)
			if err != nil {
				return err
			}
			out = retro.Answer{Text: answer.Text}
			if answer.JSON != nil {
				out.Text = string(answer.JSON)
			}
			if _, err := retro.Parse(out.Text); err != nil {
				return &agents.Failure{Kind: agents.FailAnswer, Role: t.Role, ID: t.ID, What: "its judgement cannot be read", Log: t.Log, Err: err}
			}
			return notTheAgents(r.judgeChanges(ctx, ws, &out))
		})
		if err != nil || failure == nil {
			return out, err
		}
		if hopeless(failure) {
			break
		}
		waited, err := r.park(ctx, t, failure, &patience)
		if err != nil {
			return out, err
		}
		if !waited {
			i++
		}
	}
	return out, failure
}

// Bounds of what a judge may leave in its workspace, and of an activation test.
const (
	tryWall         = 5 * time.Minute
	maxJudgeChanges = 200
	modeFile        = "100644"
)

// judgeChanges reads what the judge changed in its workspace. Nothing of it is in the
// repository's own tree yet: each path is decided about first.
func (r *round) judgeChanges(ctx context.Context, ws *gitops.Workspace, out *retro.Answer) error {
	commit, changes, err := r.cfg.Repo.Collect(ctx, ws, r.learner.laid, gitops.CommitMeta{Message: "what a retrospective wishes\n", When: r.cfg.Now().UTC(), Secrets: r.secrets(), Limits: gitops.Limits{FileBytes: maxLearnedFile}})
	if errors.Is(err, gitops.ErrNoChange) || errors.Is(err, gitops.ErrRefused) {
		return nil // what cannot be committed is not taken
	}
	if err != nil {
		return err
	}
	for i, c := range changes {
		if i == maxJudgeChanges {
			break
		}
		change := retro.Change{Path: c.Path, Deleted: c.Status == 'D', Special: !ordinary(c)}
		if !change.Deleted && !change.Special {
			if change.Content, err = r.cfg.Repo.ReadFile(ctx, commit.ID, c.Path, maxLearnedFile); err != nil {
				return fmt.Errorf("read %q of the judge: %w", c.Path, err)
			}
		}
		out.Changes = append(out.Changes, change)
	}
	return nil
}

// ordinary tells whether a change is one of plain text files.
func ordinary(c gitops.Change) bool {
	for _, mode := range []string{c.OldMode, c.NewMode} {
		if there(mode) != "" && mode != modeFile {
			return false
		}
	}
	return true
}

// tryCommand runs the activation test of a skill in a scratch checkout of the champion
// over which the skill is laid.
func (l *Loop) tryCommand(ctx context.Context, command string, files map[string][]byte) (retro.Tried, error) {
	r := &round{Loop: l, n: l.progress.Value.Iterations}
	log := filepath.Join(l.cfg.Paths.LogDir(r.n), "activation.log")
	result, err := r.scratch(ctx, scratchRun{name: "activation", commit: l.learner.laid, command: command, files: files, log: log, wall: tryWall})
	if err != nil {
		return retro.Tried{}, fmt.Errorf("run the activation test: %w", err)
	}
	return retro.Tried{ExitCode: result.code, Output: result.said}, nil
}

// scratchRun is a command that the program runs on somebody's word, in a checkout that
// is thrown away.
type scratchRun struct {
	name    string
	commit  string
	command string
	files   map[string][]byte // laid over the commit; nil content removes
	log     string
	wall    time.Duration
}

// scratchResult is how it ended; code is -1 when it was ended.
type scratchResult struct {
	code int
	said string
}

// scratch runs a command that may write to its checkout.
func (r *round) scratch(ctx context.Context, s scratchRun) (scratchResult, error) {
	path := r.workspace(s.name)
	ws, err := r.openWorkspace(ctx, path, s.commit)
	if err != nil {
		return scratchResult{}, err
	}
	defer ws.Remove(context.WithoutCancel(ctx)) //nolint:errcheck // the next clean-up removes it
	for name, data := range s.files {
		if err := layFile(path, name, data); err != nil {
			return scratchResult{}, fmt.Errorf("lay out %q: %w", name, err)
		}
	}
	if err := r.cfg.Store.Folder(filepath.Dir(s.log)); err != nil {
		return scratchResult{}, err
	}
	t := r.task(agents.Executor, s.name, path)
	if err := r.containCommand(&t); err != nil {
		return scratchResult{}, err
	}
	result, err := r.cfg.Runner.Run(ctx, proc.Command{
		Path: "/bin/sh", Args: []string{"-c", s.command}, Dir: path, Env: t.Env, Supervised: true, Contain: t.Contain, Wall: s.wall, Idle: s.wall,
		Stdout: proc.Output{File: s.log, FileMax: 1 << 20, TailMax: 4 << 10}, Stderr: proc.Output{TailMax: 4 << 10},
	})
	if err != nil && result.Outcome == "" || ctx.Err() != nil {
		return scratchResult{}, errors.Join(err, ctx.Err())
	}
	out := scratchResult{code: result.Code, said: clean.Text([]byte(strings.TrimSpace(string(result.Stdout.Tail) + "\n" + string(result.Stderr.Tail))))}
	if result.Outcome != proc.Exited {
		out.code = -1
	}
	return out, r.guard.check(ctx, r.n, s.name)
}

// layFile writes one file below a folder, and follows no link out of it.
func layFile(dir, name string, data []byte) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if data == nil {
		err := root.Remove(name)
		if errors.Is(err, os.ErrNotExist) {
			err = nil
		}
		return err
	}
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return root.WriteFile(name, data, 0o644)
}
