package loop

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"si/track"
)

// takeHelm begins the round for those who steer. What they asked of it before a
// crash is in the journal, and still holds.
func (r *round) takeHelm() error {
	var vetoes, again []string
	if r.resumed {
		for ev, err := range track.ReadJournal(r.cfg.Paths.JournalPath()) {
			if err != nil {
				return err
			}
			if ev.Ev != track.EvControl || ev.Round != r.n {
				continue
			}
			var c track.Control
			if err := ev.Decode(&c); err != nil {
				return err
			}
			switch c.Act {
			case track.ActVeto:
				vetoes = append(vetoes, planOf(c.Target, r.n))
			case track.ActMeasure:
				again = append(again, c.Target)
			}
		}
	}
	r.helm.enter(r.n, vetoes, again)
	return nil
}

// planOf is the planner whose plan a request names: a plan is called by its round and
// its planner.
func planOf(target string, round int) string {
	return strings.TrimPrefix(target, fmt.Sprintf("round_%d_", round))
}

func (r *round) tellPlans() {
	var ids []string
	for _, p := range r.planValues() {
		ids = append(ids, p.PlannerID)
	}
	r.helm.planned(ids)
}

// measureAgain takes the measurements that the user asked for. They decide nothing:
// to measure until something wins is how lucky noise is kept. What they find goes
// into the journal and the history; a gain that they show is offered to the planners
// of the next round, where it must win a duel like any other.
func (r *round) measureAgain(ctx context.Context) error {
	for i, target := range r.helm.remeasure() {
		c, err := r.remembered(target)
		if err != nil {
			return err
		}
		said := track.Steered{Act: track.ActMeasure, Target: target}
		if c == nil {
			said.Text = fmt.Sprintf("no candidate is called %q: name one of this round, such as executor_a, or 3/executor_a for one of round 3", target)
		} else if err := r.compareAgain(ctx, *c, i, &said); err != nil {
			return err
		}
		if err := r.emit(track.EvSteered, "si", said); err != nil {
			return err
		}
	}
	return nil
}

// again is a candidate that is to be measured once more.
type again struct {
	base, commit string
	executor     string
	result       *track.File[track.Result] // of this round; nil for one of an earlier round
}

// remembered finds the candidate that a request names; nil when there is none.
func (r *round) remembered(target string) (*again, error) {
	if doc := r.results[target]; doc != nil && doc.Value.SI != nil && doc.Value.SI.Commit != "" {
		return &again{base: r.st.Value.SI.Base, commit: doc.Value.SI.Commit, executor: target, result: doc}, nil
	}
	number, executor, ok := strings.Cut(target, "/")
	n, err := strconv.Atoi(number)
	if !ok || err != nil || n < 1 || n >= r.n {
		return nil, nil
	}
	h, err := track.LoadRound(r.cfg.Paths, n)
	if err != nil || !h.Exists {
		return nil, err
	}
	for _, item := range h.Value.Items() {
		if item.SI != nil && item.SI.Executor == executor && item.SI.Commit != "" {
			return &again{base: h.Value.SI.Base, commit: item.SI.Commit, executor: executor}, nil
		}
	}
	return nil, nil
}

func (r *round) compareAgain(ctx context.Context, c again, i int, said *track.Steered) error {
	if !r.cfg.Repo.HasCommit(ctx, c.base) || !r.cfg.Repo.HasCommit(ctx, c.commit) {
		said.Text = "its commits are gone from the repository"
		return nil
	}
	out, err := r.compare(ctx, comparison{
		round: r.n, key: fmt.Sprintf("again/%d/%s", i, c.executor), purpose: "again", before: c.base, after: c.commit,
		beforeName: "champion", afterName: c.executor, seed: hash(fmt.Sprintf("again/%d/%d/%s", r.n, i, c.executor)),
	})
	if err != nil && !errors.Is(err, errSwitched) {
		return err
	}
	said.Effect = out.effect
	switch {
	case err != nil:
		said.Text = "the benchmark turned out to be noisy on the way; ask again"
	case out.accepted:
		said.Text = "measured again, it is ahead of what it started from: " + out.reason + "; the next round's planners hear of it"
	default:
		said.Text = "measured again: " + out.reason
	}
	if c.result == nil || out.effect == nil {
		return nil
	}
	c.result.Value.SI.Again, c.result.Value.SI.AgainAhead = out.effect, out.accepted
	return c.result.Save(r.cfg.Store)
}
