package loop

import (
	"context"
	"fmt"

	"si/agents"
	"si/benchmark"
	"si/track"
)

// review asks an architect and a critic about every plan and then applies the
// rules that need no model. The rules come last because one of them (a second
// plan of the same family loses) depends on what happened to the earlier plans.
func (r *round) review(ctx context.Context) error {
	if err := r.askReviewers(ctx); err != nil {
		return err
	}
	if err := r.decide(ctx); err != nil {
		return err
	}
	approved := 0
	for _, p := range r.plans {
		if p == nil {
			continue
		}
		ok := p.Value.CriticApproved
		st := r.st.Value.Planning.Plans[p.Value.PlannerID]
		st.Status, st.OutputPath, st.CriticApproved = track.MarkCompleted, r.cfg.Paths.Relative(p.Path), &ok
		r.st.Value.Planning.Plans[p.Value.PlannerID] = st
		if ok {
			approved++
		}
	}
	r.st.Value.Planning.ApprovedCount = approved
	return r.save()
}

// askReviewers runs the reviewers of plans that have no review yet. At most
// number_of_max_critics critics work at once.
func (r *round) askReviewers(ctx context.Context) error {
	group := newGroup(ctx)
	before := r.planValues()
	places := make(chan struct{}, max(1, r.settings.Value.NumberOfMaxCritics))
	for _, p := range r.plans {
		if p == nil || p.Value.CriticReview != nil || p.Value.SI != nil && p.Value.SI.Decided {
			continue
		}
		if err := r.openReaders(ctx); err != nil {
			return group.abandon(err)
		}
		// A copy: the reviewers of the other plans write to those meanwhile.
		earlier := earlierPlans(before, p.Value.PlannerID)
		group.run("review of "+p.Value.PlanID, func(ctx context.Context) error {
			select {
			case places <- struct{}{}:
				defer func() { <-places }()
			case <-ctx.Done():
				return ctx.Err()
			}
			return r.reviewPlan(ctx, p, earlier)
		})
	}
	return group.wait()
}

// reviewPlan adds both reviews to a plan and saves it. A reviewer that fails
// twice gives no review: the rules still judge the plan.
func (r *round) reviewPlan(ctx context.Context, p *track.File[track.Plan], earlier []track.Plan) error {
	plan := p.Value
	letter := plan.PlannerID[len("planner_"):]
	if p.Value.ArchitectReview == nil {
		if err := r.askArchitect(ctx, p, "architect_"+letter); err != nil {
			return err
		}
	}
	t := r.task(agents.Critic, "critic_"+letter, r.readers)
	t.Facts.Plan, t.Facts.OtherPlans = &plan, earlier
	_, err := r.attempt(ctx, t, func(ctx context.Context, t agents.Task) error {
		review, err := r.cfg.Agents.Critic(ctx, t)
		if err == nil {
			p.Value.CriticReview = &review
		}
		return err
	})
	if err != nil {
		return err
	}
	return p.Save(r.cfg.Store)
}

// askArchitect adds the architect's advice to a plan and saves it.
func (r *round) askArchitect(ctx context.Context, p *track.File[track.Plan], id string) error {
	plan := p.Value
	t := r.task(agents.Architect, id, r.readers)
	t.Facts.Plan = &plan
	_, err := r.attempt(ctx, t, func(ctx context.Context, t agents.Task) error {
		review, err := r.cfg.Agents.Architect(ctx, t)
		if err != nil {
			return err
		}
		p.Value.ArchitectReview = &review
		return notTheAgents(p.Save(r.cfg.Store))
	})
	return err
}

func (r *round) planValues() []track.Plan {
	var out []track.Plan
	for _, p := range r.plans {
		if p != nil {
			out = append(out, p.Value)
		}
	}
	return out
}

// earlierPlans returns the plans of the planners before this one.
func earlierPlans(all []track.Plan, planner string) []track.Plan {
	for i, p := range all {
		if p.PlannerID == planner {
			return all[:i]
		}
	}
	return all
}

// decide applies the rules to each plan in planner order and says why a plan is
// rejected.
func (r *round) decide(ctx context.Context) error {
	in, err := r.ruleInput(ctx)
	if err != nil {
		return err
	}
	for _, p := range r.plans {
		if p == nil {
			continue
		}
		if err := r.applyRules(p, in); err != nil {
			return err
		}
		if p.Value.CriticApproved {
			in.Earlier = append(in.Earlier, p.Value)
		}
	}
	return nil
}

// applyRules completes a plan's review, once.
func (r *round) applyRules(p *track.File[track.Plan], in agents.RuleInput) error {
	v := &p.Value
	if v.SI != nil && v.SI.Decided || r.st.Value.Planning.Plans[v.PlannerID].CriticApproved != nil && v.CriticReview != nil {
		return nil // decided before a crash, or by the tool that began the round
	}
	review := agents.RuleFaults(*v, in).Review(v.CriticReview)
	v.CriticReview, v.CriticApproved = &review, review.Verdict == "approved"
	if v.SI == nil {
		v.SI = &track.PlanMore{}
	}
	v.SI.Decided = true
	ev := planEvent(*v)
	ev.Approved = &v.CriticApproved
	if review.RejectionReason != nil {
		ev.Reason = *review.RejectionReason
	}
	if err := r.emit(track.EvPlanReviewed, "critic", ev); err != nil {
		return err
	}
	return p.Save(r.cfg.Store)
}

func (r *round) ruleInput(ctx context.Context) (agents.RuleInput, error) {
	seals, err := benchmark.NewSeals(r.settings.Value.SealedFiles)
	if err != nil {
		return agents.RuleInput{}, fmt.Errorf("%s: sealed_files: %w", r.settings.Path, err)
	}
	tried, err := r.triedPlans()
	if err != nil {
		return agents.RuleInput{}, err
	}
	entries, err := r.cfg.Repo.ListTree(ctx, r.st.Value.SI.Base)
	if err != nil {
		return agents.RuleInput{}, err
	}
	exists := make(map[string]bool, len(entries))
	for _, e := range entries {
		exists[e.Path] = true
	}
	return agents.RuleInput{
		Families: r.harness.AllFamilies(), History: r.history, Tried: tried, Sealed: seals.Match,
		InScope: func(path string) bool { return inScope(r.goal, path) }, Exists: func(path string) bool { return exists[path] },
	}, nil
}

// triedPlans are the archived plans of earlier rounds.
func (r *round) triedPlans() ([]track.Plan, error) {
	var out []track.Plan
	for _, h := range r.history {
		for _, item := range h.Items() {
			doc, err := track.LoadArchivedPlan(r.cfg.Paths, h.Iteration, item.PlanID)
			if err != nil {
				return nil, err
			}
			if doc.Exists {
				out = append(out, doc.Value)
			}
		}
	}
	return out, nil
}
