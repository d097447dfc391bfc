package loop

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"si/agents"
	"si/learn/findings"
	"si/learn/knowledge"
	"si/learn/policy"
	"si/learn/skills/reviewer"
	"si/track"
)

// lessons is what was learned, as it goes into the prompts of one round.
type lessons struct {
	store  *knowledge.Store // nil when there is none that can be used
	config string
	texts  map[agents.Role]string // the repository's own prompts
	policy *policy.Policy         // who decides about which path; nil when it is not known
}

// study reads what was learned at the round's base. A store that cannot be read costs
// its briefs, and is said.
func (r *round) study(ctx context.Context) error {
	r.lessons = lessons{}
	if err := r.learner.lay(ctx, r.st.Value.SI.Base); err != nil {
		return r.unlearned(ctx, err)
	}
	r.lessons.policy = r.learner.policy()
	if r.settings.Value.SI.Learn.Off {
		return nil
	}
	p := r.learner.place
	store, err := knowledge.Load(p)
	if err != nil {
		if err := r.unlearned(ctx, err); err != nil {
			return err
		}
	} else {
		r.lessons.store = store
	}
	config, err := p.Read(p.Config())
	if err == nil && config == nil && !r.progress.Value.SI.Seeded {
		config, err = r.firstFacts(ctx)
	}
	if err != nil {
		return r.unlearned(ctx, err)
	}
	r.lessons.config, r.lessons.texts = string(config), map[agents.Role]string{}
	for _, role := range agents.Roles() {
		text, err := p.Read(path.Join(p.Prompts(), string(role)+".tmpl"))
		if err != nil {
			return r.unlearned(ctx, err)
		}
		r.lessons.texts[role] = string(text)
	}
	return nil
}

// firstFacts is what the file of established facts will say: the first run has none, as
// it is written when that run has ended.
func (r *round) firstFacts(ctx context.Context) ([]byte, error) {
	facts, err := r.established(ctx)
	if err != nil {
		return nil, err
	}
	return facts.Text()
}

// unlearned says that something that was learned cannot be used. It stops no round.
func (r *round) unlearned(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return r.note("what was learned is not in the prompts: %v", err)
}

// teach puts what was learned into a task: knowledge about the files of its plan, or
// about the whole scope. The hearing takes what the agent says of it.
// Reviewers get none: they judge a plan, not the repository.
func (r *round) teach(t *agents.Task) (*hearing, error) {
	rep := &hearing{}
	if t.Role == agents.Architect || t.Role == agents.Critic {
		return rep, nil
	}
	paths := r.goal.InScope
	if t.Facts.Plan != nil {
		paths = t.Facts.Plan.TargetFiles
	}
	l := &t.Facts.Learned
	l.Config, l.Template, l.Refuted = r.lessons.config, r.lessons.texts[t.Role], r.refuted()
	if r.lessons.store != nil {
		brief, err := r.lessons.store.Brief(knowledge.Request{Paths: paths, Budget: r.settings.Value.SI.Learn.Budget})
		if err != nil {
			return rep, err
		}
		if rep.ids = brief.IDs(); len(rep.ids) > 0 {
			l.Brief, l.Report = brief.Text(), findings.Ask(rep.ids)
			ev := track.BriefDelivered{Role: string(t.Role), Agent: t.ID, IDs: rep.ids}
			if err := r.emit(track.EvBriefDelivered, t.ID, ev); err != nil {
				return rep, err
			}
		}
	}
	t.Said = rep.hear
	t.Watch = func(e agents.Event) { heard(&rep.transcript, e) }
	return rep, r.aid(t)
}

// hearing is what an agent says beside its work.
type hearing struct {
	ids []string

	transcript reviewer.Transcript

	mu   sync.Mutex
	text string
}

func (p *hearing) hear(a agents.Answer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text = a.Text
}

func (p *hearing) said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text
}

// debrief journals the verdicts that an agent owes, those that it did not give too.
func (r *round) debrief(t agents.Task, p *hearing) error {
	said := findings.Read(p.said(), p.ids)
	if len(p.ids) > 0 {
		if err := r.emit(track.EvBriefVerdict, t.ID, track.BriefVerdict{Role: string(t.Role), Agent: t.ID, Verdicts: said.Verdicts}); err != nil {
			return err
		}
	}
	r.claimMu.Lock()
	defer r.claimMu.Unlock()
	for _, c := range said.Claims {
		// An agent that only reads has no way to run a command; where nothing holds one
		// back, its word is no way either.
		r.claims = append(r.claims, claim{c, t.Role.Edits() || r.holds()})
	}
	return nil
}

// discover journals what the round's failures prove, and what agents claim, once.
func (r *round) discover(ctx context.Context) error {
	if r.settings.Value.SI.Learn.Off {
		return nil
	}
	in := findings.Round{N: r.n, Paths: r.cfg.Paths, Plans: r.planValues(), Benchmark: r.settings.Value.BenchmarkCommand, Guards: map[string]string{}}
	for _, g := range r.settings.Value.SI.Guards {
		if g.Command != "" {
			name := g.Name
			if name == "" {
				name = g.Command
			}
			in.Guards[name] = g.Command
		}
	}
	found, err := findings.OfRound(in, r.allEvents())
	if err != nil {
		return err
	}
	for _, f := range found {
		if err := r.emit(track.EvFinding, "si", f); err != nil {
			return err
		}
	}
	return r.journalClaims(ctx)
}

// journalClaims records what agents say they discovered, with the proof that the
// program gets when it runs their commands. An agent's word for a number is not taken.
func (r *round) journalClaims(ctx context.Context) error {
	r.claimMu.Lock()
	defer r.claimMu.Unlock()
	if len(r.claims) == 0 {
		return nil
	}
	next, err := findings.Next(r.allEvents())
	if err != nil {
		return err
	}
	for i, c := range r.claims[:min(len(r.claims), mostClaims)] {
		proof, err := r.prove(ctx, next+i, c)
		if err != nil {
			return err
		}
		if err := r.emit(track.EvFinding, "agent", c.Prove(next+i, r.st.Value.SI.Base, proof)); err != nil {
			return err
		}
	}
	r.claims = nil
	return nil
}

// Bounds of what agents claim in one round.
const (
	mostClaims = 10
	claimWall  = time.Minute
)

// claim is what an agent says that it discovered, and whether its command may be run.
type claim struct {
	findings.Claim
	run bool
}

// prove runs a claim's command on the round's base.
func (r *round) prove(ctx context.Context, number int, c claim) (*findings.Proof, error) {
	if c.Command == "" || !c.run {
		return nil, nil
	}
	log := filepath.Join(r.cfg.Paths.LogDir(r.n), fmt.Sprintf("proof_F-%d.log", number))
	result, err := r.scratch(ctx, scratchRun{name: "proof", commit: r.st.Value.SI.Base, command: c.Command, log: log, wall: claimWall})
	if err != nil {
		return nil, fmt.Errorf("run the command of a claim: %w", err)
	}
	return &findings.Proof{ExitCode: result.code, Output: r.cfg.Paths.Relative(log)}, nil
}

// refuted are the entries that name a change which was seen not to work: the built-in
// tuner reads them, whatever the budget of a brief.
func (r *round) refuted() []string {
	if r.lessons.store == nil {
		return nil
	}
	var out []string
	for _, e := range r.lessons.store.Live() {
		if strings.Contains(e.Text, "Setting ") {
			out = append(out, e.Text)
		}
	}
	return out
}
