package loop

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"si/agents"
	"si/gitops"
	"si/track"
)

// setUpRoles are the roles around the set-up; *agents.Team plays them.
type setUpRoles interface {
	Clarify(ctx context.Context, t agents.Task, in agents.Interview) (agents.Clarification, error)
	Build(ctx context.Context, t agents.Task, o agents.BuildOrder) (agents.Construction, error)
}

// Built is a benchmark that an agent wrote, on a branch of its own: the user's
// branches stay as they are, and the loop starts from that branch when the user
// takes the benchmark.
type Built struct {
	agents.Construction
	Branch string
	Paths  []string // files that the branch adds
}

// limits of an agent at set-up: a person waits.
const (
	clarifierWall = 5 * time.Minute
	builderWall   = 45 * time.Minute
)

// Clarify lets the clarifier read the branch and judge a goal.
func (g *Gates) Clarify(ctx context.Context, v track.Settings, in agents.Interview) (c agents.Clarification, err error) {
	job := setUpJob{id: string(agents.Clarifier), role: agents.Clarifier, wall: clarifierWall}
	err = g.withAgent(ctx, v, job, func(roles setUpRoles, t agents.Task, _ *gitops.Workspace, _ string) error {
		c, err = roles.Clarify(ctx, t, in)
		return err
	})
	return c, err
}

// Build lets the builder write a benchmark, and commits what it added to a branch
// of its own. A builder that changes what is there is refused: the benchmark has to
// measure the program as it is.
func (g *Gates) Build(ctx context.Context, v track.Settings, o agents.BuildOrder) (built Built, err error) {
	// An executor's containment: it writes to its workspace and nowhere else.
	job := setUpJob{id: string(agents.Builder), role: agents.Executor, wall: builderWall}
	var commit gitops.Commit
	err = g.withAgent(ctx, v, job, func(roles setUpRoles, t agents.Task, ws *gitops.Workspace, base string) error {
		if built.Construction, err = roles.Build(ctx, t, o); err != nil {
			return err
		}
		var changes []gitops.Change
		meta := gitops.CommitMeta{Message: "Benchmark: " + built.Command, When: g.cfg.Now().UTC(), Secrets: t.Hide, Limits: gitops.Limits{FileBytes: int64(orDefault(v.SI.MaxFileMB, 100)) << 20}}
		if commit, changes, err = g.cfg.Repo.Collect(ctx, ws, base, meta); err != nil {
			return fmt.Errorf("take the builder's benchmark: %w", err)
		}
		built.Paths, err = addedOnly(changes)
		return err
	})
	if err != nil {
		return built, err
	}
	built.Branch, err = g.benchmarkBranch(ctx, commit.ID)
	return built, err
}

// setUpJob is what an agent at set-up is started with.
type setUpJob struct {
	id   string
	role agents.Role // of the containment
	wall time.Duration
}

// withAgent gives an agent a workspace of the branch, and looks afterwards whether
// the user's side of the repository is as it was.
func (g *Gates) withAgent(ctx context.Context, v track.Settings, job setUpJob, do func(setUpRoles, agents.Task, *gitops.Workspace, string) error) error {
	if err := g.trusted(); err != nil {
		return err
	}
	roles, ok := g.cfg.Agents.(setUpRoles)
	if !ok {
		return errors.New("the agents of this run play no role at set-up")
	}
	base, err := g.cfg.Repo.Resolve(ctx, v.TargetBranch)
	if err != nil {
		return err
	}
	l := &Loop{cfg: g.cfg, started: g.cfg.Now()}
	l.settings.Value = v
	if l.events, err = openEmitter(g.cfg); err != nil {
		return err
	}
	defer l.events.close()
	if l.guard, err = newCheckoutGuard(ctx, l); err != nil {
		return err
	}
	l.cfg.Repo.LendFrom(filepath.Join(l.cfg.WorkDir, "lent"))
	r := &round{Loop: l}
	path := r.workspace(job.id)
	ws, err := r.openWorkspace(ctx, path, base)
	if err != nil {
		return err
	}
	defer ws.Remove(context.WithoutCancel(ctx)) //nolint:errcheck // the next clean-up removes it
	t, err := r.setUpTask(job, path)
	if err != nil {
		return err
	}
	err = do(roles, t, ws, base)
	return firstOf(l.guard.check(context.WithoutCancel(ctx), 0, job.id), err)
}

func (r *round) setUpTask(job setUpJob, path string) (agents.Task, error) {
	o := r.settings.Value.SI.Agents
	t := agents.Task{
		Role: job.role, ID: job.id, Dir: path, Log: filepath.Join(r.cfg.Paths.LogDir(0), job.id+".log"), Env: agents.AgentEnv(r.cfg.Lookup, slices.Concat(r.cfg.Env, o.Env)), Hide: r.secrets(),
		Wall: job.wall, Idle: seconds(o.IdleSeconds, job.wall), Limits: limitsOf(r.settings.Value.SI.Budget.Task),
	}
	if err := r.cfg.Store.Folder(filepath.Dir(t.Log)); err != nil {
		return t, err
	}
	return t, r.containAgent(&t)
}

// addedOnly names the files of a benchmark, all of them new.
func addedOnly(changes []gitops.Change) ([]string, error) {
	var added []string
	for _, c := range changes {
		if c.Status != 'A' {
			return nil, fmt.Errorf("the builder changed %q, which is there already; a benchmark is made of new files only", c.Path)
		}
		added = append(added, c.Path)
	}
	return added, nil
}

// benchmarkBranch makes a new branch at the benchmark's commit.
func (g *Gates) benchmarkBranch(ctx context.Context, commit string) (string, error) {
	const most = 100
	for n := 1; n <= most; n++ {
		name := "si/benchmark"
		if n > 1 {
			name = fmt.Sprintf("si/benchmark-%d", n)
		}
		if _, there, err := g.cfg.Repo.Ref(ctx, "refs/heads/"+name); err != nil {
			return "", err
		} else if there {
			continue
		}
		return name, g.cfg.Repo.MoveRef(ctx, "refs/heads/"+name, commit, "")
	}
	return "", errors.New("there are 100 branches si/benchmark-… already; delete those that you do not need")
}
