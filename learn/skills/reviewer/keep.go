package reviewer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"si/internal/clean"
	"si/learn/memory"
	"si/learn/skills"
	"si/learn/skills/answer"
)

// What one review can add; the rest of a flood is left out.
const (
	maxMemories = 8
	maxSkills   = 3
	maxNotes    = 10
)

// findings is what the model answers. Each item is looked at by itself: one that is
// wrong spoils no other.
type findings struct {
	Memories []json.RawMessage `json:"memories"`
	Skills   []json.RawMessage `json:"skills"`
}

type newMemory struct {
	Content string   `json:"content"`
	Type    string   `json:"type"`
	Tags    []string `json:"tags"`
}

type newSkill struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Category    string `json:"category"`
	Body        string `json:"body"`
}

// keep writes down what the answer holds.
func (r *Reviewer) keep(ctx context.Context, t Task, text string, o *Outcome) error {
	object := answer.Find(text, "memories", "skills")
	if object == nil {
		return fmt.Errorf("the answer has no JSON object with memories or skills (%d bytes): %s", len(text), clean.Line(text, 80))
	}
	var f findings
	if err := json.Unmarshal(object, &f); err != nil {
		return fmt.Errorf("the answer: %w", err)
	}
	if n := max(0, len(f.Memories)-maxMemories) + max(0, len(f.Skills)-maxSkills); n > 0 {
		o.note("%d items are left out, as there are too many", n)
	}
	for _, item := range f.Memories[:min(len(f.Memories), maxMemories)] {
		if err := r.remember(ctx, t, item, o); err != nil {
			o.note("a memory was not kept: %v", err)
		}
	}
	for _, item := range f.Skills[:min(len(f.Skills), maxSkills)] {
		if err := r.learn(ctx, t, item, o); err != nil {
			o.note("a skill was not kept: %v", err)
		}
	}
	return ctx.Err()
}

func (r *Reviewer) remember(ctx context.Context, t Task, item json.RawMessage, o *Outcome) error {
	var m newMemory
	if err := json.Unmarshal(item, &m); err != nil {
		return err
	}
	from := memory.Provenance{Run: t.Run, Round: t.Round, Role: t.Role, Evidence: []string{t.ID}}
	if t.Log != "" {
		from.Evidence = append(from.Evidence, t.Log)
	}
	id, known, err := r.o.Memories.Add(ctx, memory.Record{Content: r.redact(m.Content), Type: m.Type, Tags: r.redactAll(m.Tags), From: from})
	if err != nil {
		return err
	}
	if !known {
		o.Memories = append(o.Memories, id)
	}
	return nil
}

// learn creates a skill. One whose name is taken becomes a proposal to change that
// one, if it is ours to change.
func (r *Reviewer) learn(ctx context.Context, t Task, item json.RawMessage, o *Outcome) error {
	var s newSkill
	if err := json.Unmarshal(item, &s); err != nil {
		return err
	}
	description, body := r.redact(s.Description), r.redact(s.Body)
	f := skills.Fields{Description: &description, Body: &body}
	if s.Category != "" {
		f.Category = &s.Category
	}
	err := r.o.Library.Create(ctx, s.Name, skills.ByAgent, f)
	if err == nil {
		o.Skills = append(o.Skills, s.Name)
		return nil
	}
	if !errors.Is(err, skills.ErrExists) {
		return err
	}
	return r.propose(ctx, t, s.Name, f, o, err)
}

func (r *Reviewer) propose(ctx context.Context, t Task, name string, f skills.Fields, o *Outcome, taken error) error {
	info, err := r.o.Library.Find(name)
	if err != nil || info.Origin != skills.Managed {
		return taken
	}
	id, err := r.o.Library.Propose(ctx, skills.Proposal{
		Kind: skills.KindPatch, Name: name, Fields: f, From: t.ID, Reason: "a review found more to say under a name that is taken",
	})
	if errors.Is(err, skills.ErrKnown) {
		return nil
	}
	if err == nil {
		o.Proposals = append(o.Proposals, id)
	}
	return err
}

func (o *Outcome) note(format string, args ...any) {
	if len(o.Notes) < maxNotes {
		o.Notes = append(o.Notes, clean.Line(fmt.Sprintf(format, args...), 300))
	}
}
