package loop

import (
	"context"
	"math"
	"time"

	"si/track"
)

// record writes what the round was: history, candidates, counters, chart,
// archived plans. Each part can be done twice without harm.
func (r *round) record(ctx context.Context) error {
	st := &r.st.Value.Recording
	st.Status = track.MarkInProgress
	h := r.roundHistory()
	doc := track.File[track.History]{Path: r.cfg.Paths.HistoryPath(r.n), Value: h}
	if err := doc.Save(r.cfg.Store); err != nil {
		return err
	}
	st.HistoryPath = r.cfg.Paths.Relative(doc.Path)
	if err := track.AppendList(r.cfg.Store, r.cfg.Paths.RawDataPath, r.rawRecords()...); err != nil {
		return err
	}
	if err := r.countRound(); err != nil {
		return err
	}
	if err := r.chart(); err != nil {
		// The chart is a picture of what is on disk: it can be drawn later.
		if err := r.note("the chart was not drawn: %v", err); err != nil {
			return err
		}
	} else {
		st.VisualizationUpdated = true
	}
	if err := track.ArchivePlans(r.cfg.Store, r.cfg.Paths, r.n); err != nil {
		return err
	}
	st.Status = track.MarkCompleted
	return r.save()
}

// countRound moves the counters, once for each round.
func (r *round) countRound() error {
	p := &r.progress
	if p.Value.SI.RecordedRound >= r.n {
		return nil
	}
	won := r.won()
	if won == nil && r.st.Value.SI.Undecided {
		p.Value.Iterations++ // nobody's fault: neither counter moves
	} else {
		count(&p.Value, r.settings.Value.PlateauThreshold, won)
	}
	if m := r.st.Value.SI.Merges; len(m) > 0 {
		last := m[len(m)-1]
		score := last.After
		p.Value.BestScore, p.Value.SI.BestNear = &score, nil
		if near, ok := nearEnd(r.settings.Value.BenchmarkDirection, last); ok {
			p.Value.SI.BestNear = &near
		}
	}
	p.Value.SI.RecordedRound = r.n
	return p.Save(r.cfg.Store)
}

// won is what the winners brought together, nil without one.
func (r *round) won() *gain {
	m := r.st.Value.SI.Merges
	if len(m) == 0 {
		return nil
	}
	before, after := m[0].Before, m[len(m)-1].After
	g := &gain{relative: relativeGain(r.settings.Value.BenchmarkDirection, before, after), absolute: math.Abs(after - before)}
	if len(m) == 1 && !m[0].Effect.InSigma {
		g.relative = m[0].Effect.Value // from pairs of neighbouring runs: closer than the medians
	}
	return g
}

// nearEnd is the champion's score if only the cautious end of the effect's
// interval is true.
func nearEnd(d track.Direction, m track.Merged) (float64, bool) {
	if m.Effect.Low == nil || m.Before <= 0 || m.Effect.InSigma {
		return 0, false
	}
	near := m.Before * (1 + *m.Effect.Low)
	if d == track.LowerIsBetter {
		near = m.Before * (1 - *m.Effect.Low)
	}
	return near, !math.IsNaN(near) && !math.IsInf(near, 0)
}

func (r *round) roundHistory() track.History {
	h := track.History{Iteration: r.n, Losers: []track.HistoryItem{}}
	si := r.st.Value.SI
	h.BaselineScore = r.progress.Value.BestScore
	if r.progress.Value.SI.RecordedRound >= r.n { // recorded before a crash: best_score is this round's already
		if old, err := track.LoadRound(r.cfg.Paths, r.n); err == nil && old.Exists {
			h.BaselineScore = old.Value.BaselineScore
		}
	}
	if r.brief != nil {
		id := r.cfg.Paths.Relative(r.cfg.Paths.BriefPath(r.n))
		h.ResearchBriefID = &id
	}
	var co []track.HistoryItem
	winners := map[string]track.Merged{}
	for _, m := range si.Merges {
		winners[m.Executor] = m
	}
	for _, p := range r.approved() {
		item := r.historyItem(p, winners)
		if len(si.Merges) > 0 && si.Merges[len(si.Merges)-1].PlanID == p.PlanID {
			h.Winner = &item
			continue
		}
		if _, won := winners[executorOf(p.PlannerID)]; won {
			co = append(co, item)
		} else {
			h.Losers = append(h.Losers, item)
		}
	}
	h.SI = track.HistoryMore{
		StartedAt: r.st.Value.StartedAt, Base: si.Base, Champion: r.tip(), Winners: si.Merges, CoWinners: co,
		Skipped: si.Skipped, Idle: si.Idle, RejectedPlans: r.rejectedPlans(),
	}
	if w := r.won(); w != nil {
		h.SI.Delta = w.relative
	}
	return h
}

func (r *round) historyItem(p track.Plan, winners map[string]track.Merged) track.HistoryItem {
	executor := executorOf(p.PlannerID)
	item := track.HistoryItem{PlanID: p.PlanID, ApproachFamily: p.ApproachFamily, Hypothesis: p.Hypothesis, SubScores: track.SubScore{}}
	item.SI = &track.ItemMore{Executor: executor}
	if p.SI != nil {
		item.SI.Edit = p.SI.Edit
	}
	doc := r.results[executor]
	if doc == nil {
		return item
	}
	v := doc.Value
	item.Score, item.FailureAnalysis = v.BenchmarkScore, v.FailureAnalysis
	if v.SubScores != nil {
		item.SubScores = v.SubScores
	}
	if v.SI != nil {
		item.SI.Commit, item.SI.Effect, item.SI.Verdict, item.SI.Unjudged = v.SI.Commit, v.SI.Effect, v.SI.Verdict, v.SI.Unjudged
		item.SI.Again, item.SI.AgainAhead = v.SI.Again, v.SI.AgainAhead
	}
	if item.SI.Commit != "" {
		item.SI.Ref = r.refs.archive(r.n, executor)
	}
	if m, ok := winners[executor]; ok {
		item.Score, item.SI.Ref = &m.After, m.Merge
	}
	return item
}

func (r *round) rejectedPlans() []track.Skip {
	var out []track.Skip
	for _, p := range r.planValues() {
		if p.CriticApproved || p.CriticReview == nil {
			continue
		}
		s := track.Skip{ID: p.PlanID, Role: string(p.ApproachFamily)}
		if p.CriticReview.RejectionReason != nil {
			s.Reason = *p.CriticReview.RejectionReason
		}
		out = append(out, s)
	}
	return out
}

func (r *round) rawRecords() []track.RawRecord {
	var out []track.RawRecord
	winners := map[string]track.Merged{}
	for _, m := range r.st.Value.SI.Merges {
		winners[m.Executor] = m
	}
	for _, p := range r.approved() {
		item := r.historyItem(p, winners)
		rec := track.RawRecord{Iteration: r.n, PlanID: p.PlanID, BenchmarkScore: item.Score, ApproachFamily: p.ApproachFamily, SubScores: item.SubScores}
		_, rec.IsWinner = winners[item.SI.Executor]
		if item.SI.Effect != nil {
			rec.SI = &track.RawMore{Effect: item.SI.Effect}
		}
		out = append(out, rec)
	}
	return out
}

// finish cleans up after the round and marks it completed.
func (r *round) finish(ctx context.Context, began time.Time) error {
	if err := r.cleanUp(ctx, noRound); err != nil {
		return err
	}
	if err := r.guard.check(ctx, r.n, "round"); err != nil {
		return err
	}
	if err := firstOf(r.checkImproveTip(ctx), r.discover(ctx)); err != nil {
		return err
	}
	st := &r.st.Value
	st.Recording.CleanupDone, st.CurrentStep, st.Status = true, track.StepStopCheck, track.MarkCompleted
	report, err := track.LoadMergeReport(r.cfg.Paths, r.n)
	if err != nil {
		return err
	}
	p := r.progress.Value
	ev := track.RoundEnded{
		Status: report.Value.Status, Winners: st.SI.Merges, Best: p.BestScore,
		Plateau: p.PlateauConsecutiveCount, Breaker: p.CircuitBreakerCount, Seconds: r.since(began),
	}
	if report.Value.Reason != nil {
		ev.Reason = *report.Value.Reason
	}
	if err := r.emit(track.EvRoundEnded, "si", ev); err != nil {
		return err
	}
	return r.save()
}

// checkImproveTip makes sure that the branch still is what the round made it.
func (r *round) checkImproveTip(ctx context.Context) error {
	now, err := r.Loop.tip(ctx)
	if err != nil {
		return err
	}
	return movedBranch(r.refs.improve(), now, r.tip())
}
