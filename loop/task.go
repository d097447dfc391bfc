package loop

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"si/agents"
	"si/track"
)

// attempts is how often an agent is tried: once, and once more.
const attempts = 2

// task is what every task of the round has in common.
func (r *round) task(role agents.Role, id, dir string) agents.Task {
	o := r.settings.Value.SI.Agents
	return agents.Task{
		Role: role, ID: id, Round: r.n, Dir: dir, Facts: r.facts(),
		Log:    filepath.Join(r.cfg.Paths.LogDir(r.n), id+".log"),
		Env:    agents.AgentEnv(r.cfg.Lookup, slices.Concat(r.cfg.Env, o.Env)),
		Hide:   r.secrets(),
		Wall:   seconds(o.WallSeconds, time.Hour),
		Idle:   seconds(o.IdleSeconds, 15*time.Minute),
		Limits: limitsOf(r.settings.Value.SI.Budget.Task),
	}
}

// repeats is how often an agent may make the same tool call in a row: some poll, but
// none of them for ever.
const repeats = 20

func limitsOf(b track.TaskBudget) agents.Limits {
	return agents.Limits{Steps: b.Steps, Repeats: max(0, orDefault(b.Repeats, repeats)), Tokens: b.Tokens, CostUSD: b.CostUSD}
}

func seconds(value float64, otherwise time.Duration) time.Duration {
	if value <= 0 {
		return otherwise
	}
	return time.Duration(value * float64(time.Second))
}

// attempt runs one agent's task, once more when it fails. An agent that failed
// twice is recorded as skipped and gives skipped = true, and so does one that has
// nothing to propose; an error is what stops the round. It is called from the goroutine of the agent.
func (r *round) attempt(ctx context.Context, t agents.Task, run func(context.Context, agents.Task) error) (skipped bool, err error) {
	rep, err := r.teach(&t)
	if err != nil {
		return false, err
	}
	var failure error
	var patience patience
	patience.watching(&t)
	for i := 1; i <= attempts; {
		if err := r.helm.pending(); err != nil {
			return false, err
		}
		failure, err = r.once(ctx, t, i, run)
		if failure == nil && err == nil {
			return false, firstOf(r.debrief(t, rep), r.afterTask(ctx, t, rep.said(), &rep.transcript))
		}
		if err != nil {
			return false, err
		}
		if why := agents.Nothing(failure); why != "" {
			return true, r.idle(t, why)
		}
		if hopeless(failure) {
			break
		}
		waited, err := r.park(ctx, t, failure, &patience)
		if err != nil {
			return false, err
		}
		if !waited { // a limit that was lifted is no failure
			i++
		}
	}
	return true, r.skip(t, failure)
}

// hopeless says that a second try would come to the same.
func hopeless(failure error) bool {
	var spent *overBudget
	return errors.As(failure, &spent) || errors.Is(failure, errSkipped) || errors.Is(failure, errVetoed) || agents.KindOf(failure) == agents.FailAuth
}

// overBudget says that there is not enough left for a task, or for the rest of it.
type overBudget struct{ what string }

func (e *overBudget) Error() string { return e.what }

// once runs the task a single time: failure is the agent's, err is ours.
func (r *round) once(ctx context.Context, t agents.Task, i int, run func(context.Context, agents.Task) error) (failure, err error) {
	began := r.cfg.Now()
	if i > 1 {
		t.Log = strings.TrimSuffix(t.Log, ".log") + fmt.Sprintf(".attempt%d.log", i)
	}
	bill, refused := r.purse.start(t.Role, r.settings.Value.SI.Budget)
	if refused != "" {
		return &overBudget{"not started: " + refused}, nil
	}
	defer bill.close()
	mine, cut := context.WithCancelCause(ctx)
	defer cut(nil)
	ev := track.AgentEvent{Role: string(t.Role), ID: t.ID, Backend: r.cfg.Names[t.Role], Attempt: i, Log: t.Log}
	if err := r.cfg.Store.Folder(filepath.Dir(t.Log)); err != nil {
		return nil, fmt.Errorf("prepare the log of %s: %w", t.ID, err)
	}
	w, err := r.witness(&t, &ev, bill, cut)
	if err != nil {
		return nil, err
	}
	defer w.close()
	if err := r.emit(track.EvAgentStarted, t.ID, ev); err != nil {
		return nil, err
	}
	if err := removeAll(r.tmpOf(t.ID)); err != nil {
		return nil, err
	}
	closeDoor, err := r.openDoor(ctx, &t)
	if err != nil {
		return nil, fmt.Errorf("open the server of skills for %s: %w", t.ID, err)
	}
	defer closeDoor()
	if err := r.containAgent(&t); err != nil {
		return nil, fmt.Errorf("prepare the sandbox of %s: %w", t.ID, err)
	}
	failure, err = r.held(ctx, mine, t, run)
	if err != nil {
		return nil, err
	}
	ev = w.event()
	ev.Seconds = r.since(began)
	r.fit.note(t.Role, failure)
	kind := track.EvAgentEnded
	if failure != nil && agents.Nothing(failure) == "" {
		kind, ev.Reason = track.EvAgentFailed, failure.Error()
	}
	return failure, r.emit(kind, t.ID, ev)
}

// held runs the task while it holds its share of the machine and can be ended by the
// user, and looks at what it did to the user's checkout. mine is the context that
// ends with this task.
func (r *round) held(ctx, mine context.Context, t agents.Task, run func(context.Context, agents.Task) error) (failure, err error) {
	hold, err := r.lab.share(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	mine, done := r.helm.watch(mine, t.ID)
	failure = run(mine, t)
	if why := unwanted(mine); why != nil && failure != nil {
		failure = why
	}
	done()
	hold.Release()
	if failure != nil && ctx.Err() != nil {
		return nil, ctx.Err() // it was ended, it did not fail
	}
	if err := r.guard.check(ctx, r.n, t.ID); err != nil {
		return nil, err
	}
	var ours *loopError
	if errors.As(failure, &ours) {
		return nil, ours.err
	}
	return failure, nil
}

// loopError marks an error inside a task that is not the agent's: a full disk,
// a lost repository. It ends the round instead of costing the agent its place.
type loopError struct{ err error }

func (e *loopError) Error() string { return e.err.Error() }
func (e *loopError) Unwrap() error { return e.err }

func notTheAgents(err error) error {
	if err == nil {
		return nil
	}
	return &loopError{err}
}

func (r *round) skip(t agents.Task, failure error) error {
	r.skipMu.Lock()
	r.st.Value.SI.Skipped = append(r.st.Value.SI.Skipped, track.Skip{ID: t.ID, Role: string(t.Role), Reason: failure.Error()})
	r.skipMu.Unlock()
	return r.emit(track.EvAgentSkipped, t.ID, track.AgentEvent{Role: string(t.Role), ID: t.ID, Reason: failure.Error(), Log: t.Log})
}

// idle records an agent that has nothing to propose: it did its work and failed in
// nothing, so no mistake comes of it.
func (r *round) idle(t agents.Task, why string) error {
	r.skipMu.Lock()
	r.st.Value.SI.Idle = append(r.st.Value.SI.Idle, track.Skip{ID: t.ID, Role: string(t.Role), Reason: why})
	r.skipMu.Unlock()
	return r.emit(track.EvNothing, t.ID, track.AgentEvent{Role: string(t.Role), ID: t.ID, Reason: why, Log: t.Log})
}
