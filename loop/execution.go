package loop

import (
	"context"
	"fmt"

	"si/track"
)

// execution lets an executor carry out each approved plan in a workspace of its
// own, side by side, and takes one run of the benchmark for each change as soon
// as it is committed. That run is a check: it decides nothing.
func (r *round) execution(ctx context.Context) error {
	plans := r.approved()
	r.results = make(map[string]*track.File[track.Result], len(plans))
	if r.st.Value.Execution.Executors == nil {
		r.st.Value.Execution.Executors = map[string]track.ExecutorState{}
	}
	finished := make(chan candidate, len(plans))
	group := newGroup(ctx)
	for _, p := range plans {
		c := candidate{executor: executorOf(p.PlannerID), plan: p}
		if r.knownResult(c) {
			continue
		}
		if err := r.mark(c, track.MarkInProgress); err != nil {
			return group.abandon(err)
		}
		group.run(c.executor, func(ctx context.Context) error {
			done, err := r.execute(ctx, c)
			if err == nil {
				finished <- done
			}
			return err
		})
	}
	checkErr := r.checkFinished(ctx, group, finished)
	if err := firstOf(group.wait(), checkErr); err != nil {
		return err
	}
	r.st.Value.Execution.Status, r.st.Value.Execution.CompletedAt = track.MarkCompleted, r.now()
	return r.save()
}

// checkFinished measures the changes in the order in which they are finished,
// while other executors still work.
func (r *round) checkFinished(ctx context.Context, g *group, finished chan candidate) error {
	all := make(chan struct{})
	waiter := newGroup(ctx)
	waiter.run("wait for the executors", func(context.Context) error {
		_ = g.wait() // the caller waits too, and handles the error
		close(all)
		return nil
	})
	defer waiter.wait() //nolint:errcheck // it gives none
	for {
		select {
		case c := <-finished:
			if err := r.check(ctx, c); err != nil {
				return err
			}
		case <-all:
			for {
				select {
				case c := <-finished:
					if err := r.check(ctx, c); err != nil {
						return err
					}
				default:
					return nil
				}
			}
		}
	}
}

// candidate is one executor's change on its way to the tournament.
type candidate struct {
	executor string
	plan     track.Plan
	commit   string
	tree     string
	warnings []string
	failure  *track.FailureAnalysis // why there is no change to measure
}

func (r *round) approved() []track.Plan {
	var out []track.Plan
	for _, p := range r.plans {
		if p != nil && p.Value.CriticApproved {
			out = append(out, p.Value)
		}
	}
	return out
}

// knownResult takes over a result that is on disk and valid.
func (r *round) knownResult(c candidate) bool {
	doc, err := track.LoadResult(r.cfg.Paths, r.n, c.executor)
	if err != nil || !doc.Exists || doc.Value.PlanID != c.plan.PlanID {
		return false
	}
	r.results[c.executor] = &doc
	return true
}

func (r *round) mark(c candidate, m track.Mark) error {
	st := track.ExecutorState{Status: m, PlanID: c.plan.PlanID}
	if doc := r.results[c.executor]; doc != nil {
		st.OutputPath, st.BenchmarkScore = r.cfg.Paths.Relative(doc.Path), doc.Value.BenchmarkScore
	}
	r.st.Value.Execution.Status = track.MarkInProgress
	r.st.Value.Execution.Executors[c.executor] = st
	return r.save()
}

// check takes the candidate's one run and writes its result.
func (r *round) check(ctx context.Context, c candidate) error {
	result := track.Result{ExecutorID: c.executor, PlanID: c.plan.PlanID, Timestamp: *r.now(), SubScores: track.SubScore{}}
	result.SI = &track.ResultMore{Commit: c.commit, Tree: c.tree, Warnings: c.warnings}
	if c.failure != nil {
		result.Status, result.FailureAnalysis = failedStatus(c.failure.Category), c.failure
		return r.writeResult(c, result)
	}
	s, err := r.lab.take(ctx, request{
		round: r.n, key: "check/" + c.executor, purpose: "check", subject: c.executor, commit: c.commit,
	})
	if err != nil {
		return err
	}
	result.BenchmarkRaw, result.SI.LogFile = s.Raw, s.Log
	result.BenchmarkScore, result.Status = s.Score, track.ResultSuccess
	if s.SubScores != nil {
		result.SubScores = s.SubScores
	}
	if s.Score == nil {
		result.Status = failedStatus(s.Category)
		result.FailureAnalysis = benchmarkFailure(s)
	}
	return r.writeResult(c, result)
}

func (r *round) writeResult(c candidate, result track.Result) error {
	doc := track.File[track.Result]{Path: r.cfg.Paths.ResultPath(r.n, c.executor), Value: result}
	if err := doc.Save(r.cfg.Store); err != nil {
		return err
	}
	r.results[c.executor] = &doc
	m := track.MarkCompleted
	if result.FailureAnalysis != nil {
		m = track.MarkFailed
	}
	return r.mark(c, m)
}

func failedStatus(c track.Category) track.ResultStatus {
	if c == track.CategoryTimeout {
		return track.ResultTimeout
	}
	return track.ResultError
}

func benchmarkFailure(s track.Sample) *track.FailureAnalysis {
	f := &track.FailureAnalysis{What: "the benchmark gave no score: " + s.Fault, Category: s.Category}
	switch s.Category {
	case track.CategoryTimeout:
		f.Why = "the change makes the benchmark run longer than its time limit, or hang"
		f.Lesson = "estimate the cost of the change on the benchmark's input before making it"
	case track.CategoryOOM:
		f.Why = "the change needs more memory than the machine gives"
		f.Lesson = "bound what the change allocates"
	case track.CategoryParseError:
		f.Why = "the change altered what the benchmark prints"
		f.Lesson = "leave the benchmark's output as it is"
	case track.CategoryRegression, track.CategoryLogicError, track.CategoryScopeError, track.CategoryInfrastructure, track.CategorySealed:
		f.Why = "the change breaks the program that the benchmark runs"
		f.Lesson = "build and run the changed code before finishing"
	}
	return f
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func failure(cat track.Category, what, why, lesson string, args ...any) *track.FailureAnalysis {
	return &track.FailureAnalysis{What: fmt.Sprintf(what, args...), Why: why, Category: cat, Lesson: lesson}
}
