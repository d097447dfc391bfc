package loop

import (
	"context"
	"fmt"
	"slices"

	"si/gitops"
	"si/track"
)

// summarize reads the track and says what came of it.
func (l *Loop) summarize(ctx context.Context) (track.Summary, error) {
	s, err := Survey(l.cfg.Paths)
	if err != nil {
		return s, err
	}
	s.Notes = tally(l.notes)
	s.Seconds = l.cfg.Now().Sub(l.started).Seconds()
	if tip, err := l.tip(ctx); err == nil {
		s.Champion = tip
	}
	s.Next = nextCommand(s)
	if len(s.Kept) > 0 && !l.settings.Value.AutoPush {
		s.Notes = append(s.Notes, "not pushed (auto_push: false); to push: "+gitops.PushCommand(remote, s.Branch))
	}
	return s, nil
}

// Survey is the summary of a track as its documents tell it.
func Survey(paths track.Paths) (track.Summary, error) {
	settings, err := track.LoadSettings(paths)
	if err != nil {
		return track.Summary{}, err
	}
	progress, err := track.LoadProgress(paths)
	if err != nil {
		return track.Summary{}, err
	}
	baseline, err := track.LoadBaseline(paths)
	if err != nil {
		return track.Summary{}, err
	}
	p, v := progress.Value, settings.Value
	s := track.Summary{
		Status: p.Status, Reason: p.SI.Reason, Iterations: p.Iterations, Metric: v.PrimaryMetric, Direction: v.BenchmarkDirection,
		Best: p.BestScore, Target: v.TargetValue, Start: p.SI.StartCommit, Chart: paths.ProgressPath,
		Kept: []track.Kept{}, Refused: []track.Kept{}, Rate: errorRate(v, p),
	}
	if baseline.Exists {
		s.Baseline = &baseline.Value.Score
	}
	if w := p.SI.Whole; w != nil && w.Iterations == p.Iterations {
		s.Improvement, s.Baseline, s.Best = &w.Effect, &w.Before, &w.After
	}
	if p.GoalSlug != nil {
		s.Branch = refNames{prefix: p.SI.RefPrefix, goal: *p.GoalSlug}.improve()
	}
	if err := surveyRounds(paths, p.Iterations, &s); err != nil {
		return s, err
	}
	s.Next = nextCommand(s)
	return s, surveyJournal(paths, &s)
}

func surveyRounds(paths track.Paths, n int, s *track.Summary) error {
	histories, err := track.LoadHistory(paths, n)
	if err != nil {
		return err
	}
	for _, h := range histories {
		s.Rejected += len(h.SI.RejectedPlans)
		s.Skipped += len(h.SI.Skipped)
		s.Idle += len(h.SI.Idle)
		kept := h.SI.Winners
		if len(kept) == 0 && h.Winner != nil { // written by the seed's tool
			k := track.Kept{Round: h.Iteration, PlanID: h.Winner.PlanID, Hypothesis: h.Winner.Hypothesis}
			if h.Winner.Score != nil {
				k.After = *h.Winner.Score
			}
			if h.BaselineScore != nil {
				k.Before = *h.BaselineScore
			}
			s.Kept = append(s.Kept, k)
		}
		for _, w := range kept {
			k := track.Kept{Round: h.Iteration, PlanID: w.PlanID, Commit: w.Merge, Before: w.Before, After: w.After, Effect: &w.Effect, Reason: w.Doubt}
			k.Hypothesis = hypothesisOf(h, w.PlanID)
			s.Kept = append(s.Kept, k)
		}
		for _, item := range h.Losers {
			s.Refused = append(s.Refused, refusedItem(h, item))
		}
	}
	return nil
}

func hypothesisOf(h track.History, plan string) string {
	for _, item := range h.Items() {
		if item.PlanID == plan {
			return item.Hypothesis
		}
	}
	return ""
}

func refusedItem(h track.History, item track.HistoryItem) track.Kept {
	k := track.Kept{Round: h.Iteration, PlanID: item.PlanID, Hypothesis: item.Hypothesis}
	if h.BaselineScore != nil {
		k.Before = *h.BaselineScore
	}
	if item.Score != nil {
		k.After = *item.Score
	}
	if item.SI != nil {
		k.Effect, k.Reason, k.Commit = item.SI.Effect, item.SI.Verdict, item.SI.Commit
	}
	if item.FailureAnalysis != nil && k.Reason == "" {
		k.Reason = item.FailureAnalysis.What
	}
	return k
}

// surveyJournal counts what the journal tells of cost.
func surveyJournal(paths track.Paths, s *track.Summary) error {
	for ev, err := range track.ReadJournal(paths.JournalPath()) {
		if err != nil {
			return err
		}
		switch ev.Ev { //nolint:exhaustive // the kinds that tell of cost
		case track.EvMeasured:
			s.Runs++
		case track.EvRunStarted:
			var r track.RunStarted
			if err := ev.Decode(&r); err != nil {
				return err
			}
			for _, b := range r.Broken {
				bookRole(s, b.AgentEvent, false)
			}
		case track.EvAgentStarted:
			s.AgentTasks++
		case track.EvAgentEnded, track.EvAgentFailed:
			var a track.AgentEvent
			if err := ev.Decode(&a); err != nil {
				return err
			}
			bookRole(s, a, ev.Ev == track.EvAgentFailed)
		default:
		}
	}
	return nil
}

// bookRole adds one ended task to what its role cost.
func bookRole(s *track.Summary, a track.AgentEvent, failed bool) {
	i := slices.IndexFunc(s.Roles, func(c track.RoleCost) bool { return c.Role == a.Role })
	if i < 0 {
		i = len(s.Roles)
		s.Roles = append(s.Roles, track.RoleCost{Role: a.Role})
	}
	c := &s.Roles[i]
	c.Tasks++
	c.Seconds += a.Seconds
	if failed {
		c.Failed++
	}
	if a.Backend != "" && !slices.Contains(c.Agents, a.Backend) {
		c.Agents = append(c.Agents, a.Backend)
	}
	if a.Spent != nil {
		c.Spent = c.Spent.Add(*a.Spent)
	}
	if a.Spent == nil || a.Spent.CostUSD == nil {
		c.Unknown++
	}
}

// nextCommand is what a person would do next.
func nextCommand(s track.Summary) string {
	switch s.Status {
	case track.StatusUserStopped:
		return "si run --resume"
	case track.StatusFailed:
		return "si run   (after mending the reason above)"
	case track.StatusRunning, track.StatusIdle:
		return "si run"
	case track.StatusTargetReached, track.StatusPlateau, track.StatusMaxIterations, track.StatusCircuitBreaker, track.StatusBudget:
	}
	if len(s.Kept) == 0 {
		return "si history   (nothing was kept: see what was tried)"
	}
	return fmt.Sprintf("git diff %s %s", short(s.Start), s.Branch)
}
