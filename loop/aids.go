package loop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"si/agents"
	"si/internal/clean"
	"si/learn/memory"
	"si/learn/skills"
	"si/learn/skills/mcpserver"
	"si/learn/skills/reviewer"
	"si/track"
)

// reviewGrace is how long the end of a run waits for reviews that are under way.
const reviewGrace = time.Minute

// aids are what agents are offered beside their task: skills, memories, and a door
// through which they ask for them. What is wrong with them costs no agent its task.
type aids struct {
	library  *skills.Library // nil when there is none that can be used
	memories *memory.Store
	review   *reviewer.Reviewer
	model    skills.Model
	asked    atomic.Int64 // questions of auxiliary work
}

// openAids opens the library and the memories, and starts the reviewer where it is on.
func (l *Loop) openAids(ctx context.Context) error {
	o := l.settings.Value.SI.Skills
	if o.Off {
		return nil
	}
	if tip, err := l.tip(ctx); err == nil { // without it the user's checkout has to do
		_ = l.learner.lay(ctx, tip)
	}
	home, _ := l.cfg.Lookup("HOME")
	where := skills.Where{Base: l.cfg.Paths.StateBase(), Top: l.cfg.Repo.Toplevel(), Learned: filepath.Join(l.learner.place.Dir(), "skills"), Home: home, Store: l.cfg.Store, Now: l.cfg.Now}
	if l.learner.laid != "" {
		where.Top, where.Learned = l.learner.place.Top(), l.learner.place.Skills()
	}
	library, err := skills.Open(skills.Standard(where))
	if err == nil {
		l.aids.library = library
		err = skills.NewCurator(library, agingOf(o)).NoteActivity(ctx)
	}
	if err != nil {
		return l.note("the skills cannot be used: %v", err)
	}
	if l.aids.memories, err = memory.Open(memory.Options{Base: l.cfg.Paths.StateBase(), Store: l.cfg.Store, Now: l.cfg.Now}); err != nil {
		return l.note("the memories cannot be used: %v", err)
	}
	return l.startReviewer() //nolint:contextcheck // it works beside the loop; closeAids ends it
}

func agingOf(o track.SkillOptions) skills.Aging {
	return skills.Aging{StaleDays: o.StaleDays, ArchiveDays: o.ArchiveDays, IntervalHours: o.IntervalHours, IdleHours: o.IdleHours}
}

// auxModel answers questions of auxiliary work; nil when no model is configured.
func (l *Loop) auxModel() skills.Model {
	m := modelsOf(l.settings.Value.SI.Skills, l.cfg.Primary)
	if l.cfg.Solo == nil || len(m.Chain(skills.SlotReview)) == 0 {
		return nil
	}
	d := l.desk()
	return m.Serve(func(model string) bool { return model != "" }, func(ctx context.Context, model, prompt string) (string, error) {
		return l.askAux(ctx, d, model, prompt)
	})
}

// askAux puts one question to one model, held as an agent that reads is, in an empty
// folder. It is paid for out of the run's budget. It is called beside the loop: of
// what the loop goes on changing it reads the desk.
func (l *Loop) askAux(ctx context.Context, d *Loop, model, prompt string) (string, error) {
	bill, refused := l.purse.start(agents.Reviewer, d.settings.Value.SI.Budget)
	if refused != "" {
		return "", &overBudget{"not started: " + refused}
	}
	defer bill.close()
	r := &round{Loop: d, n: l.helm.at()}
	id := fmt.Sprintf("aux_%d", l.aids.asked.Add(1))
	dir := r.workspace(id)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make a folder for %s: %w", id, err)
	}
	defer removeAll(dir) //nolint:errcheck // the next start removes what is left
	t := r.task(agents.Reviewer, id, dir)
	t.Prompt, t.Paid = prompt, bill.pay
	if err := l.cfg.Store.Folder(filepath.Dir(t.Log)); err != nil {
		return "", err
	}
	if err := r.containAgent(&t); err != nil {
		return "", err
	}
	began := l.cfg.Now()
	answer, err := l.cfg.Solo(ctx, model, t)
	ev := track.AgentEvent{Role: string(t.Role), ID: id, Backend: model, Log: t.Log, Spent: &answer.Spent, Seconds: l.cfg.Now().Sub(began).Seconds()}
	kind := track.EvAgentEnded
	if err != nil {
		kind, ev.Reason = track.EvAgentFailed, err.Error()
	}
	if len(answer.JSON) > 0 {
		answer.Text = string(answer.JSON)
	}
	return answer.Text, errors.Join(err, l.events.emit(kind, r.n, id, ev))
}

// modelsOf are the auxiliary models of a track. The chain ends at primary.
func modelsOf(o track.SkillOptions, primary string) skills.Models {
	m := skills.Models{Primary: primary, DefaultAux: skills.SlotModel{Model: o.Aux.Model, Fallbacks: o.Aux.Fallbacks}, Slots: map[string]skills.SlotModel{}}
	for slot, s := range o.Slots {
		m.Slots[slot] = skills.SlotModel{Model: s.Model, Fallbacks: s.Fallbacks}
	}
	return m
}

// ReviewModels are the agents that may serve the reviewer, best first; primary plays
// the role reviewer, "" for nobody who can. Without any it does nothing.
func ReviewModels(o track.SkillOptions, primary string) []string {
	return modelsOf(o, primary).Chain(skills.SlotReview)
}

func (l *Loop) startReviewer() error {
	o := l.settings.Value.SI.Skills
	if !o.Review.On {
		return nil
	}
	if l.aids.model = l.auxModel(); l.aids.model == nil {
		return l.note("si.skills.review is on, and no model is configured that can review: name one in si.skills.default_aux or for the role reviewer")
	}
	l.aids.review = reviewer.New(reviewer.Options{
		Settings: reviewer.Settings{On: true, MinToolCalls: o.Review.MinToolCalls, WallSeconds: o.Review.WallSeconds},
		Library:  l.aids.library, Memories: l.aids.memories, Model: l.aids.model, Redact: l.desk().redact,
		Done: func(out reviewer.Outcome) { // beside the loop: a full disk here is found by the next event
			_ = l.events.emit(track.EvReviewed, 0, "reviewer", track.Note{Text: out.Line()})
		},
	})
	return nil
}

// closeAids gives reviews a bounded time to end.
func (l *Loop) closeAids(ctx context.Context) error {
	if l.aids.review == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, reviewGrace)
	defer cancel()
	left := l.aids.review.Close(ctx)
	l.aids.review = nil
	if left > 0 {
		return l.note("%d tasks were left without a review when the run ended", left)
	}
	return nil
}

// curate runs the curator's pass when one is due, at the end of a run.
func (l *Loop) curate(ctx context.Context) error {
	if l.aids.library == nil {
		return nil
	}
	o := l.settings.Value.SI.Skills
	curator := skills.NewCurator(l.aids.library, agingOf(o))
	result, ran, err := curator.RunIfDue(ctx)
	if err != nil {
		return l.note("the curator made no pass: %v", err)
	}
	if ran && len(result.Moves) > 0 {
		if err := l.note("the curator moved %d skills; 'si curator rollback' undoes it", len(result.Moves)); err != nil {
			return err
		}
	}
	if !ran || !o.Consolidate || l.auxModel() == nil {
		return nil
	}
	made, err := curator.Consolidate(ctx, skills.Consolidation{On: true}, l.auxModel())
	if err != nil {
		return l.note("near-duplicates of skills were not merged: %v", err)
	}
	if len(made) > 0 {
		return l.note("%d merges of skills are proposed; see 'si skills proposals'", len(made))
	}
	return nil
}

// taskName names a task in all of the run.
func (r *round) taskName(t agents.Task) string {
	return fmt.Sprintf("%s/%d/%s", r.cfg.RunID, r.n, t.ID)
}

// aid offers a task the skills and what is remembered.
func (r *round) aid(t *agents.Task) error {
	about := r.goal.Objective
	if t.Facts.Plan != nil {
		about = t.Facts.Plan.Hypothesis
	}
	if r.aids.memories != nil && (t.Role == agents.Researcher || t.Role == agents.Planner) {
		found, err := r.aids.memories.Recall(memory.Query{About: about, Tags: []string{string(t.Role)}})
		if err != nil {
			return r.note("what is remembered is not in the prompt of %s: %v", t.ID, err)
		}
		t.Facts.Learned.Memories = found.Text()
	}
	if r.aids.library == nil || r.settings.Value.SI.Learn.Off {
		return nil
	}
	index, err := r.aids.library.Index(skills.IndexRequest{About: about, Paths: !r.cfg.TakesMCP[t.Role]})
	if err != nil {
		return r.note("the skills are not in the prompt of %s: %v", t.ID, err)
	}
	t.Facts.Learned.Skills = index.Text()
	return nil
}

// openDoor gives the agent its own server of skills, knowledge and the track's state,
// behind a socket in its own folder. close ends it.
func (r *round) openDoor(ctx context.Context, t *agents.Task) (closeDoor func(), err error) {
	none := func() {}
	if r.aids.library == nil || !r.cfg.TakesMCP[t.Role] || r.cfg.Self == "" {
		return none, nil
	}
	dir := r.tmpOf(t.ID)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return none, err
	}
	source := mcpserver.Source{Library: r.aids.library, Track: &r.cfg.Paths, Version: r.cfg.Version, Caller: skills.Caller{Task: r.taskName(*t)}}
	if r.learner.laid != "" {
		source.Place = &r.learner.place
	}
	door, err := mcpserver.Open(ctx, dir, source)
	if err != nil {
		return none, r.note("%s gets no server of skills: %v", t.ID, err)
	}
	program, args := door.Command(r.cfg.Self)
	t.MCP = append(t.MCP, agents.MCPServer{Name: mcpserver.Name, Command: program, Args: args})
	return func() { _ = door.Close() }, nil // what its agent did is over
}

// skillFolders are what an agent may read to follow a skill by itself.
func (l *Loop) skillFolders() []string {
	if l.aids.library == nil {
		return nil
	}
	var out []string
	for _, root := range l.aids.library.Roots() {
		if info, err := os.Stat(root.Dir); err == nil && info.IsDir() {
			out = append(out, root.Dir)
		}
	}
	return out
}

// heard tells the reviewer what an agent does.
func heard(transcript *reviewer.Transcript, e agents.Event) {
	switch e.Kind { //nolint:exhaustive // what a transcript is made of
	case agents.EventText:
		transcript.Say(e.Text)
	case agents.EventToolStart:
		transcript.Call(e.Tool, e.Text)
	case agents.EventToolEnd:
		transcript.Result(e.Text, e.Failed)
	}
}

// afterTask counts the skills that the agent has read by itself, and hands its task to the
// reviewer.
func (r *round) afterTask(ctx context.Context, t agents.Task, said string, transcript *reviewer.Transcript) error {
	if r.aids.library == nil {
		return nil
	}
	caller := skills.Caller{Task: r.taskName(t)}
	if used := r.aids.library.Mentioned(said + "\n" + transcript.String()); len(used) > 0 && !r.cfg.TakesMCP[t.Role] {
		if err := r.aids.library.NoteUses(ctx, used, caller); err != nil && !errors.Is(err, context.Canceled) {
			if err := r.note("the uses of skills by %s were not counted: %v", t.ID, err); err != nil {
				return err
			}
		}
	}
	if r.aids.review != nil {
		about := r.goal.Objective
		if t.Facts.Plan != nil {
			about = t.Facts.Plan.Hypothesis
		}
		r.aids.review.After(reviewer.Task{
			ID: caller.Task, Run: r.cfg.RunID, Round: r.n, Role: string(t.Role), Succeeded: true,
			About: clean.Line(about, 500), Log: strings.TrimPrefix(r.cfg.Paths.Relative(t.Log), "/"), Transcript: transcript,
		})
	}
	return nil
}
