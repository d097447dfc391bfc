package loop

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"si/agents"
	"si/track"
)

// mostIdle is how many rounds in a row may come to nothing because every agent of a
// role could not be started, before the run ends.
const mostIdle = 2

// errNoAgents says that agents cannot be started, so that going on is of no use.
var errNoAgents = errors.New("agents cannot be started")

// fitness tells for each role whether one of its agents has begun to work. Agents
// report side by side.
type fitness struct {
	mu   sync.Mutex
	able map[agents.Role]bool
	why  map[agents.Role]string // the last one's reason
}

// note takes how a task ended.
func (f *fitness) note(role agents.Role, failure error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.able == nil {
		f.able, f.why = map[agents.Role]bool{}, map[agents.Role]string{}
	}
	if kind := agents.KindOf(failure); failure != nil && (kind == agents.FailStart || kind == agents.FailAuth) {
		f.why[role] = failure.Error()
		return
	}
	f.able[role] = true
}

// stuck returns why every agent of a role failed to start, "" when one did not or none
// was asked.
func (f *fitness) stuck(role agents.Role) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.able[role] {
		return ""
	}
	return f.why[role]
}

// noPlanner is an error when no planner could be started, at the second try either:
// the round would be lost. Its planners are asked again by the next start.
func (r *round) noPlanner(ids []string) error {
	why := r.fit.stuck(agents.Planner)
	if why == "" || slices.ContainsFunc(r.plans, func(p *track.File[track.Plan]) bool { return p != nil }) {
		return nil
	}
	r.skipMu.Lock()
	r.st.Value.SI.Skipped = slices.DeleteFunc(r.st.Value.SI.Skipped, func(s track.Skip) bool { return slices.Contains(ids, s.ID) })
	r.skipMu.Unlock()
	return errors.Join(cannotStart(agents.Planner, why), r.planned(ids, false))
}

func cannotStart(role agents.Role, why string) error {
	return fmt.Errorf("%w: no %s could be: %s; correct its command or its login (si.agents in settings.json; 'si doctor' shows what a sandbox hides), then start again",
		errNoAgents, role, why)
}

// worthwhile is an error when rounds come to nothing for want of agents: the last ones
// in a row, or all that this run has played when it is at its end.
func (l *Loop) worthwhile(r *round, last bool) error {
	l.played++
	role, why := agents.Role(""), ""
	for _, role = range []agents.Role{agents.Planner, agents.Critic, agents.Executor} {
		if why = r.fit.stuck(role); why != "" {
			break
		}
	}
	if why == "" {
		l.idle = 0
		return nil
	}
	if l.idle++; l.idle >= mostIdle || last && l.idle == l.played {
		return cannotStart(role, why)
	}
	return nil
}
