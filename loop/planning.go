package loop

import (
	"context"
	"fmt"
	"strings"

	"si/agents"
	"si/track"
)

// planning asks every planner for one plan, side by side. A planner whose plan
// is on disk is not asked again.
func (r *round) planning(ctx context.Context) error {
	n := r.settings.Value.NumberOfAgents
	ids := make([]string, n)
	for i := range ids {
		ids[i] = r.planner(i)
	}
	r.plans = make([]*track.File[track.Plan], n)
	group := newGroup(ctx)
	for i, id := range ids {
		doc, err := track.LoadPlan(r.cfg.Paths, r.n, id)
		if err == nil && doc.Exists {
			r.plans[i] = &doc
			continue
		}
		if r.st.Value.Planning.Plans[id].Status == track.MarkFailed {
			continue
		}
		if err := r.openReaders(ctx); err != nil {
			return group.abandon(err)
		}
		group.run(id, func(ctx context.Context) error {
			plan, err := r.plan(ctx, id, ids)
			r.plans[i] = plan
			return err
		})
	}
	err := group.wait()
	if err == nil {
		if err := r.noPlanner(ids); err != nil {
			return err
		}
	}
	if saveErr := r.planned(ids, err == nil); err == nil {
		err = saveErr
	}
	if err != nil {
		return err
	}
	r.tellPlans()
	return r.consumeIdeas(ids)
}

// plan is one planner's task; nil when the planner failed.
func (r *round) plan(ctx context.Context, id string, all []string) (*track.File[track.Plan], error) {
	t := r.task(agents.Planner, id, r.readers)
	t.Facts.Planners = all
	switch user, second := r.st.Value.SI.Ideas, r.runnersUp(); {
	case id == all[0] && (user != "" || len(all) > 1):
		t.Facts.UserIdeas = user
	case id == all[0], id == all[1] && second != "":
		t.Facts.UserIdeas = second
	}
	doc := &track.File[track.Plan]{Path: r.cfg.Paths.PlanPath(r.n, id)}
	skipped, err := r.attempt(ctx, t, func(ctx context.Context, t agents.Task) error {
		p, err := r.cfg.Agents.Plan(ctx, t)
		if err != nil {
			return err
		}
		p.Round, p.PlannerID, p.PlanID = r.n, id, planID(r.n, id)
		doc.Value = p
		if err := r.emit(track.EvPlanReady, id, planEvent(p)); err != nil {
			return notTheAgents(err)
		}
		return notTheAgents(doc.Save(r.cfg.Store))
	})
	if err != nil || skipped {
		return nil, err
	}
	return doc, nil
}

func planEvent(p track.Plan) track.PlanEvent {
	return track.PlanEvent{PlanID: p.PlanID, Planner: p.PlannerID, Hypothesis: p.Hypothesis, Family: p.ApproachFamily}
}

func (r *round) planned(ids []string, done bool) error {
	st := &r.st.Value.Planning
	before := st.Plans
	st.Plans = make(map[string]track.PlanState, len(ids))
	for i, id := range ids {
		switch {
		case r.plans[i] != nil:
			st.Plans[id] = track.PlanState{Status: track.MarkCompleted, OutputPath: r.cfg.Paths.Relative(r.plans[i].Path), CriticApproved: before[id].CriticApproved}
		case done:
			st.Plans[id] = track.PlanState{Status: track.MarkFailed}
		default:
			st.Plans[id] = track.PlanState{Status: track.MarkPending}
		}
	}
	st.Status = track.MarkInProgress
	if done {
		st.Status, st.CompletedAt = track.MarkCompleted, r.now()
	}
	return r.save()
}

// runnersUp offers the candidates of the last round that were refused for a
// conflict: nothing is known against them, but they must be made anew on the
// champion of now.
func (r *round) runnersUp() string {
	if len(r.history) == 0 {
		return ""
	}
	var ideas []string
	for _, item := range r.history[len(r.history)-1].Losers {
		if item.SI == nil {
			continue
		}
		if item.SI.AgainAhead {
			ideas = append(ideas, fmt.Sprintf("%s (refused in the last round, kept as %s; measured once more it was ahead of what it started from, so it may be worth a better try)", subject(item.Hypothesis), item.SI.Ref))
		} else if strings.HasPrefix(item.SI.Verdict, "refused: "+conflicts) {
			ideas = append(ideas, fmt.Sprintf("%s (a runner-up of the last round, kept as %s; it conflicted with the winner, so it must be made anew)", subject(item.Hypothesis), item.SI.Ref))
		}
	}
	return strings.Join(ideas, "\n")
}

// consumeIdeas takes the snapshot of the user's ideas out of idea.md, once the
// planner that was given them has a plan. What was written there since stays.
func (r *round) consumeIdeas(ids []string) error {
	ideas := r.st.Value.SI.Ideas
	if ideas == "" || r.plans[0] == nil || len(ids) == 0 {
		return nil
	}
	if len(r.st.Value.UserIdeasConsumed) == 0 {
		r.st.Value.UserIdeasConsumed = []string{ideas}
		if err := r.save(); err != nil {
			return err
		}
	}
	return track.ConsumeIdeas(r.cfg.Store, r.cfg.Paths, ideas)
}
