package retro

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"si/learn/evidence"
	"si/learn/knowledge"
	"si/learn/likeness"
	"si/learn/mistakes"
	"si/learn/place"
	"si/learn/proposals"
)

// Bounds of what counts as said by the core.
const (
	coreSays  = 0.75 // share of a local text's words that one passage of the core has
	fewestOwn = 4    // words: shorter texts are in everything
	unchanged = 0.97 // likeness from which an override is the built-in text
)

// Core are the built-in texts of a version of the program, by name.
type Core struct {
	Version string
	Texts   map[string]string
}

// Delta compares what the repository learned with what a new version of the program
// says by itself, and proposes to delete the local copy where the core now says it.
// It proposes and does nothing else, once a version; in is as for Look, its run is
// the one that found the new version. A repository that has nothing of its own is not
// compared, and nothing is written there.
func Delta(ctx context.Context, in Input, core Core) (Outcome, error) {
	log, err := evidence.Load(in.Place)
	if err != nil {
		return Outcome{}, err
	}
	if log.Core() == core.Version {
		return Outcome{}, nil
	}
	if own, err := hasOwn(in.Place); err != nil || !own {
		return Outcome{}, err
	}
	m, err := gather(in)
	if err != nil {
		return Outcome{}, err
	}
	w := newWork(in, m, Judgement{}, true)
	for _, find := range []func(Core) ([]proposals.Proposal, error){w.knownByCore, w.ruledByCore, w.sameAsCore} {
		found, err := find(core)
		if err != nil {
			return w.out, fmt.Errorf("compare with si %s: %w", core.Version, err)
		}
		for _, p := range found {
			p.Run, p.At = in.Run, w.at
			if err := w.proposeOne(ctx, p); err != nil {
				return w.out, err
			}
		}
	}
	err = w.step(ctx, Done{What: "record", Text: "what was learned is compared with si " + core.Version}, func() error {
		release, err := w.place.Lock(ctx)
		if err != nil {
			return err
		}
		defer release()
		return evidence.Append(w.place, evidence.Line{Core: &evidence.Core{Version: core.Version, At: w.at}})
	})
	w.out.Record = w.record
	return w.out, err
}

// hasOwn reports whether the repository says anything by itself: entries, rules or
// prompts.
func hasOwn(p place.Place) (bool, error) {
	store, err := knowledge.Load(p)
	if err != nil || len(store.Live()) > 0 {
		return err == nil, err
	}
	rules, err := mistakes.HasFence(p)
	if err != nil || rules {
		return rules, err
	}
	prompts, err := p.Files(p.Prompts(), ".tmpl")
	return len(prompts) > 0, err
}

// says returns where the core says a text, "" for nowhere.
func (c Core) says(text string) string {
	words := likeness.Words(text)
	if len(words) < fewestOwn {
		return ""
	}
	for _, name := range sorted(c.Texts) {
		for _, passage := range passages(c.Texts[name]) {
			if likeness.Within(words, likeness.Words(passage)) >= coreSays {
				return fmt.Sprintf("%s: %q", name, told(cut(passage, 200)))
			}
		}
	}
	return ""
}

var passageEnd = regexp.MustCompile(`\n[ \t]*\n|\n[ \t]*(?:[-*#]|\d+\.)[ \t]|[.!?]\s`)

// passages are the sentences and items of a text.
func passages(text string) []string {
	var out []string
	for _, p := range passageEnd.Split(text, -1) {
		if p = strings.Join(strings.Fields(p), " "); p != "" {
			out = append(out, p)
		}
	}
	return out
}

func (w *work) knownByCore(core Core) ([]proposals.Proposal, error) {
	var out []proposals.Proposal
	for _, e := range w.m.Store.Live() {
		where := core.says(e.Text)
		if where == "" {
			continue
		}
		p, err := w.removal(e.File, func(data []byte) ([]byte, error) { return knowledge.Without(e.File, data, e.ID) })
		if err != nil {
			return nil, err
		}
		p.Title, p.Reason, p.From = fmt.Sprintf("delete %s: the core now says it", e.ID), "si "+core.Version+" says in "+where, []string{e.ID}
		out = append(out, p)
	}
	return out, nil
}

func (w *work) ruledByCore(core Core) ([]proposals.Proposal, error) {
	var out []proposals.Proposal
	for _, r := range w.m.Rules {
		where := core.says(r.Text)
		if where == "" {
			continue
		}
		name := w.place.Rules()
		p, err := w.removal(name, func(data []byte) ([]byte, error) { return mistakes.WithoutRule(name, data, r.Line) })
		if err != nil {
			return nil, err
		}
		p.Title, p.Reason = fmt.Sprintf("delete the rule %q of %s: the core now says it", cut(r.Text, 100), name), "si "+core.Version+" says in "+where
		if r.Signature != "" {
			p.From = []string{r.Signature}
		}
		out = append(out, p)
	}
	return out, nil
}

// sameAsCore finds overrides of prompts that do not differ any more.
func (w *work) sameAsCore(core Core) ([]proposals.Proposal, error) {
	names, err := w.place.Files(w.place.Prompts(), ".tmpl")
	if err != nil {
		return nil, err
	}
	var out []proposals.Proposal
	for _, name := range names {
		built, ok := core.Texts[lastPart(name)]
		data, err := w.place.Read(name)
		if err != nil {
			return nil, err
		}
		if !ok || likeness.Of(likeness.Words(string(data)), likeness.Words(built)) < unchanged {
			continue
		}
		p, err := w.removal(name, func([]byte) ([]byte, error) { return nil, nil })
		if err != nil {
			return nil, err
		}
		p.Title, p.Reason = fmt.Sprintf("delete %s: the core's is the same", name), "the built-in prompt of si "+core.Version+" says the same"
		out = append(out, p)
	}
	return out, nil
}

// removal is a proposal that replaces a file by what change leaves of it.
func (w *work) removal(name string, change func([]byte) ([]byte, error)) (proposals.Proposal, error) {
	data, err := w.place.Read(name)
	if err != nil {
		return proposals.Proposal{}, err
	}
	left, err := change(data)
	if err != nil {
		return proposals.Proposal{}, err
	}
	f := proposals.File{Path: name, Before: proposals.Hash(data)}
	if left != nil {
		text := string(left)
		f.Content = &text
	}
	return proposals.Proposal{Files: []proposals.File{f}}, nil
}
