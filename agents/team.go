package agents

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"si/track"
)

// Team plays the roles of a round with one backend each. It is safe for
// concurrent use. Every method blocks until nothing of the agent is left, and
// its error is a *Failure, an *AnswerError, or that of a cancelled context. A
// failure is not tried again here: that is the loop's to decide.
type Team struct {
	bench   *bench
	prompts *Prompts
}

// NewTeam needs a backend for every role.
func NewTeam(backends map[Role]Backend) (*Team, error) {
	players := make(map[Role][]Player, len(backends))
	for role, b := range backends {
		if b != nil {
			players[role] = []Player{{Backend: b}}
		}
	}
	return NewTeamOf(players, time.Now)
}

// NewTeamOf needs at least one player for every role of a round. The second and
// later ones stand in where those before them cannot play.
func NewTeamOf(players map[Role][]Player, now func() time.Time) (*Team, error) {
	for _, role := range Roles() {
		if len(players[role]) == 0 {
			return nil, fmt.Errorf("set up the agents: the role %s has no backend: name one in si.agents of settings.json", role)
		}
	}
	prompts, err := NewPrompts()
	if err != nil {
		return nil, err
	}
	return &Team{newBench(players, now), prompts}, nil
}

// Research returns the brief of a round, valid, its identity set.
func (t *Team) Research(ctx context.Context, task Task) (track.Brief, error) {
	task.Role = Researcher
	return ask(ctx, t, task, briefContract(task))
}

// Plan returns the plan of the planner task.ID, valid, its identity set and
// without reviews. Whether its family, its files and its idea may be used now
// is for RuleFaults to say.
func (t *Team) Plan(ctx context.Context, task Task) (track.Plan, error) {
	task.Role = Planner
	return ask(ctx, t, task, planContract(task))
}

// Architect returns the architect's advice on task.Facts.Plan.
func (t *Team) Architect(ctx context.Context, task Task) (track.ArchitectReview, error) {
	task.Role = Architect
	return ask(ctx, t, task, architectContract())
}

// Critic returns the critic's review of task.Facts.Plan. Only H001, history
// awareness and the verdict are sure to be filled in: RuleVerdict.Review joins
// it with the rules.
func (t *Team) Critic(ctx context.Context, task Task) (track.CriticReview, error) {
	task.Role = Critic
	return ask(ctx, t, task, criticContract())
}

// Execute lets an executor carry out task.Facts.Plan in task.Dir. What it says
// of its work is in its log; what counts is what it left in the workspace.
func (t *Team) Execute(ctx context.Context, task Task) error {
	task.Role = Executor
	if err := t.fill(&task); err != nil {
		return err
	}
	_, err := t.run(ctx, task)
	return err
}

// ask runs the backend, and once more with every fault of its answer.
func ask[T any](ctx context.Context, t *Team, task Task, c contract[T]) (T, error) {
	var none T
	if err := t.fill(&task); err != nil {
		return none, err
	}
	form, err := c.form()
	if err != nil {
		return none, t.unstarted(task, err)
	}
	if task.Schema == nil {
		task.Schema = form.wanted
	}
	answer, err := t.run(ctx, task)
	if err != nil {
		return none, err
	}
	doc, f := c.read(answer)
	if len(f.faults) == 0 {
		return doc, nil
	}
	if task.Prompt, err = t.prompts.repair(task, f); err != nil {
		return none, t.unstarted(task, err)
	}
	task.Log = repairLog(task.Log)
	if answer, err = t.run(ctx, task); err != nil {
		return none, err
	}
	if doc, f = c.read(answer); len(f.faults) == 0 {
		return doc, nil
	}
	return none, &AnswerError{Role: task.Role, ID: task.ID, Faults: lines(f.faults), Answer: f.near, Log: task.Log}
}

// fill renders the prompt of a task that has none.
func (t *Team) fill(task *Task) error {
	if task.ID == "" {
		task.ID = string(task.Role)
	}
	if task.Prompt != "" {
		return nil
	}
	prompt, why, err := t.prompts.render(*task)
	if err != nil {
		return t.unstarted(*task, err)
	}
	if why != nil && task.Watch != nil {
		task.Watch(Event{Kind: EventNotice, Text: why.Error() + "; the built-in one is used", Failed: true})
	}
	task.Prompt = prompt
	return nil
}

// run makes sure that a cancelled context is told from an agent's failure, and
// that every failure is typed.
func (t *Team) run(ctx context.Context, task Task) (Answer, error) {
	if err := ctx.Err(); err != nil {
		return Answer{}, err
	}
	answer, err := t.bench.play(ctx, task)
	switch {
	case err == nil:
		return answer, nil
	case ctx.Err() != nil:
		return Answer{}, ctx.Err()
	case KindOf(err) == "":
		return Answer{}, &Failure{Kind: FailAnswer, Role: task.Role, ID: task.ID, What: "the backend gave up", Log: task.Log, Err: err}
	}
	return Answer{}, err
}

func (t *Team) unstarted(task Task, err error) error {
	return &Failure{Kind: FailStart, Role: task.Role, ID: task.ID, What: "its prompt cannot be made", Err: err}
}

// repairLog names the log of the second run, since a run replaces its log.
func repairLog(log string) string {
	if log == "" {
		return ""
	}
	ext := filepath.Ext(log)
	return strings.TrimSuffix(log, ext) + ".repair" + ext
}
