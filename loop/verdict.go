package loop

import (
	"context"
	"fmt"

	"si/track"
)

// endsRound marks a refusal, in the state of a round, after which nobody else
// is judged.
const endsRound = "ends_round"

// refusal is why a candidate is not kept.
type refusal struct {
	reason string
	effect *track.Effect // nil when no duel measured it
	worse  bool          // it was seen to be worse than the champion
	ends   bool          // nobody else is judged in this round
	turn   bool          // it was never its turn
}

// refuse records that a candidate is not kept.
func (r *round) refuse(e entrant, why refusal) error {
	if r.settled(e) {
		return nil
	}
	status := track.ResultSuccess
	var analysis *track.FailureAnalysis
	if why.worse {
		status = track.ResultRegression
		analysis = failure(track.CategoryRegression, "%s", "the change does not help on this benchmark",
			"do not repeat this change as it is", why.reason)
	}
	ev := track.VerdictEvent{Executor: e.executor, PlanID: e.plan.PlanID, Reason: why.reason, Effect: why.effect}
	if err := r.emit(track.EvVerdict, "si", ev); err != nil {
		return err
	}
	e.result.Value.SI.Unjudged = why.turn
	if err := r.judged(e, status, "refused: "+why.reason, why.effect, analysis); err != nil {
		return err
	}
	role := ""
	if why.ends {
		role = endsRound
	}
	r.st.Value.SI.Refused = append(r.st.Value.SI.Refused, track.Skip{ID: e.executor, Role: role, Reason: why.reason})
	return r.save()
}

// judged writes the verdict into the candidate's result.
func (r *round) judged(e entrant, status track.ResultStatus, verdict string, effect *track.Effect, why *track.FailureAnalysis) error {
	v := &e.result.Value
	v.Status, v.FailureAnalysis = status, why
	v.SI.Verdict, v.SI.Effect = verdict, effect
	return e.result.Save(r.cfg.Store)
}

// archiveLosers tags every candidate that was not merged and deletes the
// experiment branches. A winner is kept by the improve branch.
func (r *round) archiveLosers(ctx context.Context) ([]string, error) {
	archived := []string{}
	winners := map[string]bool{}
	for _, m := range r.st.Value.SI.Merges {
		winners[m.Executor] = true
	}
	for _, executor := range sortedKeys(r.results) {
		doc := r.results[executor]
		if doc.Value.SI == nil || doc.Value.SI.Commit == "" {
			continue
		}
		commit := doc.Value.SI.Commit
		if !winners[executor] {
			tag := r.refs.archive(r.n, executor)
			if err := r.pin(ctx, "refs/tags/"+tag, commit); err != nil {
				return nil, err
			}
			if err := r.emit(track.EvArchived, "si", track.ArchiveEvent{Executor: executor, Tag: tag, Commit: commit}); err != nil {
				return nil, err
			}
			archived = append(archived, tag)
		}
		branch := "refs/heads/" + r.refs.experiment(r.n, executor)
		if id, ok, err := r.cfg.Repo.Ref(ctx, branch); err != nil {
			return nil, err
		} else if ok {
			if err := r.cfg.Repo.DeleteRef(ctx, branch, id); err != nil {
				return nil, err
			}
		}
	}
	return archived, nil
}

// report is the merge report of the round.
func (r *round) report(candidates int, archived []string) track.File[track.MergeReport] {
	v := track.MergeReport{Iteration: r.n, GoalSlug: r.refs.goal, Archived: archived, RegressionsDetected: []string{}}
	reason := ""
	merges := r.st.Value.SI.Merges
	switch {
	case len(merges) > 0:
		last := merges[len(merges)-1]
		v.Status, v.ReBenchmarkScore = track.MergeMerged, &last.After
		v.Winner = &track.MergeWinner{
			ExecutorID: last.Executor, Branch: r.refs.experiment(r.n, last.Executor), Hypothesis: r.hypothesis(last.PlanID),
			ScoreBefore: merges[0].Before, ScoreAfter: last.After, SubScores: last.SubScores,
		}
	case candidates > 0:
		v.Status, reason = track.MergeNoImprovement, "no candidate proved to be better than the champion"
	case len(r.approved()) == 0 && len(r.planValues()) > 0:
		v.Status, reason = track.MergeAllRejected, "every plan was rejected"
	default:
		v.Status, reason = track.MergeNoWinner, fmt.Sprintf("none of %d executors gave a change that could be measured", len(r.approved()))
	}
	if reason != "" {
		v.Reason = &reason
	}
	for _, executor := range sortedKeys(r.results) {
		if r.results[executor].Value.Status == track.ResultRegression {
			v.RegressionsDetected = append(v.RegressionsDetected, executor)
		}
	}
	return track.File[track.MergeReport]{Path: r.cfg.Paths.MergeReportPath(r.n), Value: v}
}

func (r *round) hypothesis(planID string) string {
	for _, p := range r.planValues() {
		if p.PlanID == planID {
			return p.Hypothesis
		}
	}
	return ""
}
