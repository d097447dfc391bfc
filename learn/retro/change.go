package retro

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"si/learn/knowledge"
	"si/learn/likeness"
	"si/learn/policy"
	"si/learn/proposals"
	"si/learn/skills"
	"si/track"
)

// changes applies what the judge changed in its worktree, as far as the filter, the
// limits and the policy let it: what takes away first.
func (w *work) changes(ctx context.Context, changed map[string]classed) error {
	groups, refused := explained(w.j.Changes, changed)
	w.record.Refused = append(w.record.Refused, refused...)
	slices.SortStableFunc(groups, func(a, b group) int {
		return cmp.Compare(slices.Index(kinds(), a.Kind), slices.Index(kinds(), b.Kind))
	})
	made := 0
	for _, g := range groups {
		why := w.againstChange(g)
		if why != "" {
			w.reject(title(g), byFilter, why)
			continue
		}
		if w.limited(g) && made >= maxChanges {
			w.record.Candidates = append(w.record.Candidates, fmt.Sprintf("%s (%d changes of prompts and skills are the most for one retrospective)", title(g), maxChanges))
			continue
		}
		done, err := w.change(ctx, g)
		if err != nil {
			return err
		}
		if done && w.limited(g) {
			made++
		}
	}
	return nil
}

func title(g group) string { return cmp.Or(g.What, "change "+oneLine(g.Paths)) }

// limited reports the changes of which only so many are made at once. Knowledge has
// a filter of its own: its counters.
func (w *work) limited(g group) bool {
	return g.touches(w.place.Prompts()) || g.touches(w.place.Skills()) || g.touches(".claude")
}

// change makes one change, or proposes it.
func (w *work) change(ctx context.Context, g group) (done bool, err error) {
	d := Done{What: w.whatOf(g), Kind: g.Kind, Text: title(g), From: g.Proofs}
	if g.touches(w.place.Skills()) && g.Kind != KindDelete {
		why, err := w.activate(ctx, g, &d)
		if err != nil {
			return false, err
		}
		if why != "" {
			w.reject(title(g), byFilter, why)
			return false, nil
		}
	}
	if g.class() != policy.Auto || !g.below(w.place.Dir()) {
		return true, w.propose(ctx, g)
	}
	before := len(w.record.Done)
	why := ""
	err = w.step(ctx, d, func() (err error) {
		why, err = w.lay(ctx, g)
		return err
	})
	if err == nil && why != "" {
		w.reject(title(g), byFilter, why)
	}
	return len(w.record.Done) > before, err
}

// below reports whether every file lies below a folder.
func (g group) below(folder string) bool {
	return !slices.ContainsFunc(g.files, func(f classed) bool { return !below(f.Path, folder) })
}

func (w *work) whatOf(g group) string {
	switch {
	case g.touches(w.place.Skills()):
		return "skill"
	case g.touches(w.place.Prompts()):
		return "prompt"
	case g.touches(w.place.Knowledge()):
		return "knowledge"
	}
	return "config"
}

// lay writes the files. Where the knowledge store is not valid with them, or an agent
// set counters, what was there is put back.
func (w *work) lay(ctx context.Context, g group) (why string, err error) {
	release, err := w.place.Lock(ctx)
	if err != nil {
		return "", err
	}
	defer release()
	old, err := knowledge.Load(w.place)
	if err != nil {
		return "", err
	}
	kept := map[string][]byte{}
	for _, f := range g.files {
		if kept[f.Path], err = w.place.Read(f.Path); err != nil {
			return "", err
		}
		if err := w.put(f.Path, f.Content, f.Deleted); err != nil {
			return "", err
		}
	}
	now, err := knowledge.Load(w.place)
	if err == nil {
		why = counters(old, now)
	} else {
		why = err.Error()
	}
	if why == "" {
		return "", nil
	}
	for _, name := range sorted(kept) {
		if err := w.put(name, kept[name], kept[name] == nil); err != nil {
			return "", err
		}
	}
	return why, nil
}

func (w *work) put(name string, data []byte, gone bool) error {
	if gone {
		return w.place.Remove(name)
	}
	if data == nil {
		data = []byte{}
	}
	return w.place.Write(name, data)
}

// activate tries a skill: its description must be found by the words of the task, and
// its procedure must run here. What it showed is recorded.
func (w *work) activate(ctx context.Context, g group, d *Done) (why string, err error) {
	a := g.Activation
	switch {
	case a == nil || strings.TrimSpace(a.Task) == "" || strings.TrimSpace(a.Command) == "":
		return "a skill needs an activation test: a task that takes it up, and a command that carries it out", nil
	case w.in.Try == nil:
		return "its activation test cannot be run here", nil
	}
	files := map[string][]byte{}
	for _, f := range g.files {
		files[f.Path] = f.Content
		if path.Base(f.Path) != "SKILL.md" || f.Deleted {
			continue
		}
		doc, err := skills.Parse(f.Content)
		if err != nil {
			return err.Error(), nil
		}
		found := likeness.Words(doc.Get("name") + " " + doc.Get("description"))
		if likeness.Within(likeness.Words(a.Task), found) < taskInWords {
			return "its description shares no words with the task that is to take it up: nobody would find it", nil
		}
	}
	tried, err := w.in.Try(ctx, a.Command, files)
	if err != nil {
		return "", fmt.Errorf("try a skill: %w", err)
	}
	tried.Output = cut(told(tried.Output), 500)
	d.Activation, d.Task = &tried, told(a.Task)
	if tried.ExitCode != 0 {
		return fmt.Sprintf("its activation test ended with %d: %s", tried.ExitCode, tried.Output), nil
	}
	return "", nil
}

// propose writes down what a person has to decide about.
func (w *work) propose(ctx context.Context, g group) error {
	p := proposals.Proposal{Title: cut(title(g), 200), Reason: cut(cmp.Or(told(g.Recurs), title(g)), 900), From: g.Proofs, Run: w.in.Run, At: w.at}
	for _, f := range g.files {
		before, err := w.place.Read(f.Path)
		if err != nil {
			return err
		}
		file := proposals.File{Path: f.Path, Before: proposals.Hash(before)}
		if !f.Deleted {
			text := string(f.Content)
			file.Content = &text
		}
		p.Files = append(p.Files, file)
	}
	return w.proposeOne(ctx, p)
}

func (w *work) proposeOne(ctx context.Context, p proposals.Proposal) error {
	var made proposals.Proposal
	var known error
	err := w.step(ctx, Done{What: "proposal", Text: "propose: " + p.Title, From: p.From}, func() (err error) {
		made, err = proposals.Make(ctx, w.place, p)
		if errors.Is(err, proposals.ErrKnown) {
			known, err = err, nil
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case known != nil && made.State == proposals.Rejected:
		w.reject(p.Title, "a person", made.Said)
	case known != nil:
		w.note("%s waits already as %s", p.Title, made.ID)
	default:
		w.record.Proposed = append(w.record.Proposed, made.ID)
		w.out.Proposals = append(w.out.Proposals, track.ProposalEvent{ID: made.ID, Action: "made", Title: made.Title, Paths: made.Paths(), Reason: made.Reason})
	}
	return nil
}

// finish writes the record. A retrospective that changed nothing is recorded as the
// success that it is, with what spoke against each wish.
func (w *work) finish(ctx context.Context) (Outcome, error) {
	ev := &w.out.Event
	*ev = track.RetroEvent{Of: w.in.Run, Trigger: w.in.Trigger, Outcome: track.RetroUnchanged, At: w.at, Proposed: w.record.Proposed}
	for _, d := range w.record.Done {
		if d.What != "fold" {
			ev.Outcome = track.RetroChanged
			ev.Applied = append(ev.Applied, d.Text)
		}
	}
	for _, r := range w.record.Rejected {
		if r.By != byJudge {
			ev.Refused = append(ev.Refused, r.What+": "+r.Why)
		}
	}
	for _, r := range w.record.Refused {
		ev.Refused = append(ev.Refused, r.Path+": "+r.Why)
	}
	if ev.Outcome == track.RetroUnchanged {
		ev.Reason = fmt.Sprintf("nothing passed the filter: %d wishes were rejected, %d paths refused", len(w.record.Rejected), len(w.record.Refused))
		if len(w.record.Rejected)+len(w.record.Refused) == 0 {
			ev.Reason = "there was nothing that the repository should learn"
		}
	}
	if soft := softness(w.m.Records, w.record); soft != "" {
		w.note("%s", soft)
	}
	w.record.Outcome = ev.Outcome
	w.out.Record = w.record
	if w.in.DryRun {
		return w.out, nil
	}
	ev.Record = w.record.name(w.in.Place)
	return w.out, w.keepRecord(ctx)
}

func (w *work) keepRecord(ctx context.Context) error {
	data, err := w.record.encode()
	if err != nil {
		return err
	}
	done := len(w.record.Done)
	err = w.step(ctx, Done{What: "record", Text: "record the retrospective of run " + w.in.Run}, func() error {
		release, err := w.place.Lock(ctx)
		if err != nil {
			return err
		}
		defer release()
		return w.place.Write(w.out.Event.Record, data)
	})
	w.record.Done = w.record.Done[:done] // the record does not tell of itself
	return err
}
