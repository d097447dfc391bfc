package loop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"

	"si/benchmark/duel"
	"si/gitops"
	"si/track"
)

// mostWinners is how many candidates one round can merge: the leader, and the
// runner-up against the new champion. The seed's rule knows one.
func (r *round) mostWinners() int {
	if r.seedRule() {
		return 1
	}
	return 2
}

// conflicts is how the refusal of a candidate that does not merge begins.
const conflicts = "it conflicts with the champion"

// leaderRefused is why the candidates behind a refused one are not judged.
const leaderRefused = "a candidate ahead of it was refused"

// entrant is a candidate in the tournament.
type entrant struct {
	candidate
	result *track.File[track.Result]
	score  float64 // of the run that ranks it
}

// tournament decides which candidates are kept. Every run that it asks for is
// in the journal, and every decision is a function of those runs, so that a
// tournament that was killed goes on where it stood.
func (r *round) tournament(ctx context.Context) error {
	if doc, err := track.LoadMergeReport(r.cfg.Paths, r.n); err == nil && doc.Exists && r.st.Value.Tournament.Status == track.MarkCompleted {
		return nil
	}
	field, err := r.field(ctx)
	if err != nil {
		return err
	}
	r.st.Value.Tournament.Status = track.MarkInProgress
	if err := firstOf(r.compete(ctx, field), r.measureAgain(ctx)); err != nil {
		return err
	}
	archived, err := r.archiveLosers(ctx)
	if err != nil {
		return err
	}
	report := r.report(len(field), archived)
	if err := report.Save(r.cfg.Store); err != nil {
		return err
	}
	if err := r.pushWinner(ctx); err != nil {
		return err
	}
	st := &r.st.Value.Tournament
	st.Status, st.CompletedAt = track.MarkCompleted, r.now()
	if m := r.st.Value.SI.Merges; len(m) > 0 {
		last := m[len(m)-1]
		st.Winner, st.WinnerScore = &last.Executor, &last.After
	}
	return r.save()
}

// compete screens the field and lets the leaders duel. When the benchmark turns
// out to be noisy on the way, what is not settled yet is judged anew, as noisy.
func (r *round) compete(ctx context.Context, field []entrant) error {
	for {
		ranked, err := r.screen(ctx, field)
		if err != nil {
			return err
		}
		if err := r.challenge(ctx, ranked); !errors.Is(err, errSwitched) {
			return err
		}
	}
}

// field returns the candidates that can be judged: those with a change that was
// committed and a benchmark that ran on it.
func (r *round) field(ctx context.Context) ([]entrant, error) {
	var out []entrant
	for _, p := range r.approved() {
		c := candidate{executor: executorOf(p.PlannerID), plan: p}
		doc := r.results[c.executor]
		if doc == nil || doc.Value.BenchmarkScore == nil || doc.Value.SI == nil || doc.Value.SI.Commit == "" {
			continue
		}
		c.commit, c.tree = doc.Value.SI.Commit, doc.Value.SI.Tree
		if !r.cfg.Repo.HasCommit(ctx, c.commit) {
			return nil, fmt.Errorf("the commit %s of %s is gone from the repository, though %s names it: restore it, or remove that file to run the executor again",
				short(c.commit), c.executor, doc.Path)
		}
		out = append(out, entrant{candidate: c, result: doc, score: *doc.Value.BenchmarkScore})
	}
	return out, nil
}

// screen ranks the field, best first, and leaves out who is behind the
// champion. Where runs repeat exactly, the check of the execution step ranks;
// where they do not, each candidate and the champion run once more, in random
// order: a run that was taken while agents worked ranks nobody.
func (r *round) screen(ctx context.Context, field []entrant) ([]entrant, error) {
	if len(field) == 0 {
		return nil, nil
	}
	champion, err := r.screenScores(ctx, field)
	if err != nil {
		return nil, err
	}
	ranked, err := r.rank(field, champion)
	if err != nil {
		return nil, err
	}
	var ahead []entrant
	for _, i := range ranked {
		ahead = append(ahead, field[i])
	}
	better := r.settings.Value.BenchmarkDirection.Better
	for i, e := range field {
		if slices.Contains(ranked, i) || champion == nil {
			continue
		}
		reason := fmt.Sprintf("its run of %.6g is not ahead of the champion's %.6g", e.score, *champion)
		if err := r.refuse(e, refusal{reason: reason, worse: better(*champion, e.score)}); err != nil {
			return nil, err
		}
	}
	return ahead, nil
}

// rank returns the indices of the candidates that are worth a duel, best first.
func (r *round) rank(field []entrant, champion *float64) ([]int, error) {
	scores := make([]float64, len(field))
	for i, e := range field {
		scores[i] = e.score
	}
	if champion != nil && !r.seedRule() {
		return duel.Rank(r.duelConfig(comparison{round: r.n}), *champion, scores)
	}
	// The seed's rule, or a champion that gave no score: the duel says why.
	better := r.settings.Value.BenchmarkDirection.Better
	var order []int
	for i := range field {
		if champion == nil || !better(*champion, scores[i]) {
			order = append(order, i)
		}
	}
	sort.SliceStable(order, func(a, b int) bool { return better(scores[order[a]], scores[order[b]]) })
	return order, nil
}

func (r *round) seedRule() bool { return r.settings.Value.SI.Measure.Selection == "seed" }

// screenScores sets the scores that rank the field and returns the champion's.
func (r *round) screenScores(ctx context.Context, field []entrant) (*float64, error) {
	if r.seedRule() {
		return r.progress.Value.BestScore, nil
	}
	order := duel.ScreenOrder(r.mode(), len(field), r.settings.Value.SI.Seed^hash(fmt.Sprintf("%d/screen", r.n)))
	if !slices.Contains(order, duel.ScreenChampion) {
		// Where runs repeat, the checks rank; the champion runs in the same place.
		order = []int{duel.ScreenChampion}
	}
	var champion *float64
	for _, i := range order {
		req := request{round: r.n, key: "screen/champion", purpose: "screen", subject: "champion", commit: r.st.Value.SI.Base, decides: true}
		if i >= 0 {
			req.key, req.subject, req.commit = "screen/"+field[i].executor, field[i].executor, field[i].commit
		}
		s, err := r.retake(ctx, req)
		if err != nil {
			return nil, err
		}
		switch {
		case i < 0:
			champion = s.Score
		case s.Score != nil:
			field[i].score = *s.Score
		}
	}
	return champion, nil
}

// retake takes a run and, when it gave no score, once more: a machine that went
// to sleep is nobody's fault.
func (l *Loop) retake(ctx context.Context, req request) (track.Sample, error) {
	s, err := l.lab.take(ctx, req)
	if err != nil || s.Score != nil {
		return s, err
	}
	req.key += "/again"
	return l.lab.take(ctx, req)
}

// challenge lets the ranked candidates duel the champion of the moment.
func (r *round) challenge(ctx context.Context, ranked []entrant) error {
	ended := "" // why the rest is not judged
	for _, e := range ranked {
		if r.settled(e) {
			ended = r.settledReason(e)
			continue
		}
		if ended == "" && len(r.st.Value.SI.Merges) >= r.mostWinners() {
			ended = "the round has its winners"
		}
		if ended != "" {
			if err := r.refuse(e, refusal{reason: "not judged: " + ended, turn: true}); err != nil {
				return err
			}
			continue
		}
		if r.helm.vetoed(e.plan) {
			if err := r.refuse(e, refusal{reason: errVetoed.Error(), turn: true}); err != nil {
				return err
			}
			continue
		}
		next, err := r.judge(ctx, e)
		if err != nil {
			return err
		}
		ended = next
	}
	return nil
}

// judge decides about one candidate. ends is the reason when its refusal ends
// the round: a refusal by noise does, since trying one null after the other
// would find a lucky one; a conflict or a guard says nothing about the next.
func (r *round) judge(ctx context.Context, e entrant) (ends string, err error) {
	tip := r.tip()
	merge, err := r.cfg.Repo.Merge(ctx, tip, e.commit, r.meta(r.mergeMessage(e, 0, 0)))
	if err != nil {
		return "", err
	}
	if len(merge.Conflicts) > 0 {
		return "", r.refuse(e, refusal{reason: conflicts + " in " + quoted(merge.Conflicts)})
	}
	if err := r.holdMerge(ctx, e.executor, merge.Commit); err != nil {
		return "", err
	}
	if why, err := r.inspectMerge(ctx, tip, merge); err != nil {
		return "", err
	} else if why != nil {
		return "", r.refuse(e, refusal{reason: why.What})
	}
	if reason, err := r.commandGuards(ctx, e, merge.Commit); err != nil {
		return "", err
	} else if reason != "" {
		return "", r.refuse(e, refusal{reason: reason})
	}
	out, err := r.duel(ctx, e, tip, merge)
	if err != nil {
		return "", err
	}
	if out.undecided {
		r.st.Value.SI.Undecided = true
	}
	if !out.accepted {
		// The seed's rule tries the next one, which is how it keeps lucky noise.
		ends := !r.seedRule() && (out.effect != nil || out.undecided)
		why := refusal{reason: out.reason, effect: out.effect, ends: ends, worse: out.effect != nil && out.effect.Value < 0}
		if !ends {
			return "", r.refuse(e, why)
		}
		return leaderRefused, r.refuse(e, why)
	}
	reason, err := r.lastWord(ctx, e, tip, merge, &out)
	if err != nil {
		return "", err
	}
	if reason != "" {
		return "", r.refuse(e, refusal{reason: reason, effect: out.effect})
	}
	return "", r.accept(ctx, e, tip, merge, out)
}

// lastWord is what a candidate that won its duel must pass before it is kept. It
// returns why it is refused, or "".
func (r *round) lastWord(ctx context.Context, e entrant, tip string, merge gitops.Merge, out *duelOutcome) (string, error) {
	if reason, err := r.metricGuards(e, *out); err != nil || reason != "" {
		return reason, err
	}
	if reason, err := r.clock(ctx, e, tip, merge, out); err != nil || reason != "" {
		return reason, err
	}
	reason, found, err := r.validate(ctx, e, tip, merge)
	out.validated = found
	return reason, err
}

// inspectMerge applies the seals and the scope to what the merge brings: git can
// move a file of a candidate to where a folder has gone.
func (r *round) inspectMerge(ctx context.Context, tip string, merge gitops.Merge) (*track.FailureAnalysis, error) {
	changes, err := r.cfg.Repo.Diff(ctx, tip, merge.Commit)
	if err != nil {
		return nil, err
	}
	return r.inspectChange(ctx, merge.Commit, changes)
}

// accept moves the improve branch to the merge.
func (r *round) accept(ctx context.Context, e entrant, tip string, merge gitops.Merge, out duelOutcome) error {
	commit, err := r.cfg.Repo.Recommit(ctx, merge.Commit, r.mergeMessage(e, out.before, out.after))
	if err != nil {
		return err
	}
	m := track.Merged{
		Executor: e.executor, PlanID: e.plan.PlanID, Commit: e.commit, TipBefore: tip, Merge: commit,
		Before: out.before, After: out.after, Effect: *out.effect, SubScores: out.subAfter(),
		Validation: out.validated, Doubt: out.doubt,
	}
	reason := out.reason
	if out.doubt != "" {
		reason += "; " + out.doubt
	}
	if err := r.moveImprove(ctx, commit, tip); err != nil {
		return err
	}
	if err := r.emit(track.EvVerdict, "si", track.VerdictEvent{Executor: e.executor, PlanID: e.plan.PlanID, Accepted: true, Reason: reason, Effect: out.effect}); err != nil {
		return err
	}
	if err := r.emit(track.EvMerged, "si", m); err != nil {
		return err
	}
	if err := r.judged(e, track.ResultSuccess, "accepted: "+reason, out.effect, nil); err != nil {
		return err
	}
	r.st.Value.SI.Merges = append(r.st.Value.SI.Merges, m)
	return r.save()
}

// moveImprove moves the branch from tip to commit. When a crash came between
// the move and its record, the branch is there already.
func (r *round) moveImprove(ctx context.Context, commit, tip string) error {
	ref := "refs/heads/" + r.refs.improve()
	err := r.cfg.Repo.MoveRef(ctx, ref, commit, tip)
	if errors.Is(err, gitops.ErrMoved) {
		if now, ok, refErr := r.cfg.Repo.Ref(ctx, ref); refErr == nil && ok && now == commit {
			err = nil
		}
	}
	if err != nil {
		return explainMoved(err, r.refs.improve())
	}
	return r.cfg.Repo.Sync()
}

func (r *round) mergeMessage(e entrant, before, after float64) string {
	return fmt.Sprintf("Iteration %d: %s (score: %.6g → %.6g)", r.n, subject(e.plan.Hypothesis), before, after)
}

// settled reports whether a decision about the candidate is on record.
func (r *round) settled(e entrant) bool {
	if slices.ContainsFunc(r.st.Value.SI.Merges, func(m track.Merged) bool { return m.Executor == e.executor }) {
		return true
	}
	return slices.ContainsFunc(r.st.Value.SI.Refused, func(s track.Skip) bool { return s.ID == e.executor })
}

func (r *round) settledReason(e entrant) string {
	for _, s := range r.st.Value.SI.Refused {
		if s.ID == e.executor && s.Role == endsRound {
			return leaderRefused
		}
	}
	return ""
}
