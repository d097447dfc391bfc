package loop

import (
	"context"
	"errors"
	"sync"
	"time"

	"si/agents"
	"si/track"
)

// round is one round being played. What it knows is on disk; it is dropped and
// read anew after a crash.
type round struct {
	*Loop
	n       int
	resumed bool // a crash or a stop interrupted it
	st      track.File[track.IterationState]
	history []track.History
	brief   *track.Brief
	plans   []*track.File[track.Plan]            // by planner, in order; nil where the planner failed
	results map[string]*track.File[track.Result] // by executor
	readers string                               // workspace of the roles that only read
	lessons lessons
	claimMu sync.Mutex // agents add to claims
	claims  []claim
	fit     fitness    // of the agents that were asked
	skipMu  sync.Mutex // agents append to st.Value.SI.Skipped while the owner saves
}

// step is one step of a round.
type step struct {
	name track.Step
	play func(*round, context.Context) error
}

func steps() []step {
	return []step{
		{track.StepResearch, (*round).research},
		{track.StepPlanning, (*round).planning},
		{track.StepCriticReview, (*round).review},
		{track.StepExecution, (*round).execution},
		{track.StepTournament, (*round).tournament},
		{track.StepRecording, (*round).record},
	}
}

// play plays the round from the step that its state names. Steps already done
// find their documents and only read them.
func (r *round) play(ctx context.Context) (err error) {
	if r.history, err = track.LoadHistory(r.cfg.Paths, r.n-1); err != nil {
		return err
	}
	if err := r.refreshMode(r.n); err != nil {
		return err
	}
	if err := firstOf(r.takeHelm(), r.study(ctx)); err != nil {
		return err
	}
	r.purse.nextRound(r.n)
	began := r.cfg.Now()
	if r.canaryDue(r.n) {
		if err := r.canaries(ctx, r.n, r.st.Value.SI.Base); err != nil {
			if errors.Is(err, errStop) || ctx.Err() != nil {
				return errors.Join(err, r.interrupt())
			}
			return err
		}
	}
	for _, s := range steps() {
		if err := r.playStep(ctx, s); err != nil {
			if errors.Is(err, errStop) || ctx.Err() != nil {
				return errors.Join(err, r.interrupt())
			}
			return err
		}
	}
	return r.finish(ctx, began)
}

func (r *round) playStep(ctx context.Context, s step) error {
	if err := r.helm.gate(ctx, r.cfg.Now, "the step "+string(s.name)); err != nil {
		return err
	}
	if err := r.checkDisk(); err != nil {
		return err
	}
	began := r.cfg.Now()
	r.st.Value.CurrentStep = s.name
	if err := r.save(); err != nil {
		return err
	}
	if err := r.emit(track.EvStepStarted, "si", track.StepEvent{Step: s.name}); err != nil {
		return err
	}
	if err := s.play(r, ctx); err != nil {
		return err
	}
	// Benchmarks and guards run code of candidates: they are watched as agents are.
	if err := r.guard.check(ctx, r.n, string(s.name)); err != nil {
		return err
	}
	return r.emit(track.EvStepEnded, "si", track.StepEvent{Step: s.name, Seconds: r.since(began)})
}

// interrupt marks the round as interrupted in the step where it stands.
func (r *round) interrupt() error {
	r.st.Value.Status = track.MarkInterrupted
	return r.save()
}

func (r *round) save() error {
	r.skipMu.Lock()
	defer r.skipMu.Unlock()
	r.st.Value.UpdatedAt = r.cfg.Now().UTC()
	return r.st.Save(r.cfg.Store)
}

func (r *round) emit(kind track.Kind, actor string, data any) error {
	return r.events.emit(kind, r.n, actor, data)
}

func (r *round) announce(resumed bool) error {
	baseline, err := track.LoadBaseline(r.cfg.Paths)
	if err != nil {
		return err
	}
	ev := track.RoundStarted{Base: r.st.Value.SI.Base, Best: r.progress.Value.BestScore, Max: r.settings.Value.MaxIterations, Resumed: resumed}
	if baseline.Exists {
		ev.Baseline = &baseline.Value.Score
	}
	return r.emit(track.EvRoundStarted, "si", ev)
}

// tip is the champion as the round stands: the last winner's merge, or the base.
func (r *round) tip() string {
	if m := r.st.Value.SI.Merges; len(m) > 0 {
		return m[len(m)-1].Merge
	}
	return r.st.Value.SI.Base
}

func (r *round) since(t time.Time) float64 { return r.cfg.Now().Sub(t).Seconds() }

func (r *round) now() *time.Time {
	t := r.cfg.Now().UTC()
	return &t
}

func (r *round) planner(i int) string { return plannerID(i) }

// facts are what every task of the round is told.
func (r *round) facts() agents.Facts {
	s := r.settings.Value
	return agents.Facts{
		Seed: s.SI.Seed, Command: s.BenchmarkCommand, Metric: s.PrimaryMetric, Direction: s.BenchmarkDirection,
		Goal:    agents.Goal{Text: r.goalText, Objective: r.goal.Objective, InScope: r.goal.InScope, OutScope: r.goal.OutScope},
		Harness: agents.Harness{Text: r.harnText}, Families: r.harness.AllFamilies(),
		Sealed: s.SealedFiles, BestScore: r.progress.Value.BestScore, History: r.history, Brief: r.brief,
	}
}
