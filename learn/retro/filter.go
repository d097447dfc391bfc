package retro

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"si/internal/secret"
	"si/learn/knowledge"
	"si/learn/likeness"
	"si/learn/skills"
)

// Bounds of the filter.
const (
	alike       = 0.6 // share of words from which a text counts as covered
	same        = 0.8 // from which it is what was rejected before
	maxPhrase   = 300 // code points that a one-sentence edit may add
	maxLines    = 3   // lines that it may touch
	maxChanges  = 3   // of prompts and skills, in one retrospective
	taskInWords = 0.2 // share of a task's words that a skill's description has, at least
)

// against says why a wish does not pass, "" when it does. text is what would be
// written, replaces the ids that it takes the place of. What a program can tell it
// tells; where it cannot, the judge must have answered.
func (m *Material) against(f Filter, text string, replaces []string) string {
	if len(f.Proofs) == 0 {
		return "no proof shows that its cost was real: it names no finding"
	}
	for _, proof := range f.Proofs {
		if _, ok := m.Proofs[proof]; !ok {
			return fmt.Sprintf("its proof %.20q is no finding of the journal", proof)
		}
	}
	switch {
	case strings.TrimSpace(f.Recurs) == "":
		return "it is not said where it would happen again"
	case strings.TrimSpace(f.Specific) == "":
		return "it is not said what about it is special to this repository and no common knowledge"
	case strings.TrimSpace(f.Covered) != "":
		return "it is covered by " + told(f.Covered) + ": what is missing is enforcement, a mechanism or nothing"
	}
	return m.covered(text, replaces)
}

// covered looks for what says the same already, and for what was rejected before.
func (m *Material) covered(text string, replaces []string) string {
	words := likeness.Words(text)
	for _, e := range m.Store.Live() {
		if !slices.Contains(replaces, e.ID) && likeness.Of(words, likeness.Words(e.Text)) >= alike {
			return e.ID + " says it already: what is missing is enforcement, a mechanism or nothing"
		}
	}
	for _, r := range m.Rules {
		if likeness.Of(words, likeness.Words(r.Text)) >= alike {
			return fmt.Sprintf("the rule in line %d of the rules says it already: what is missing is enforcement, a mechanism or nothing", r.Line)
		}
	}
	for _, r := range m.Rejected {
		if r.By != byFilter && likeness.Of(words, likeness.Words(r.What)) >= same {
			return "it was rejected before: " + r.Why
		}
	}
	return ""
}

// againstChange says why a change of files does not pass.
func (w *work) againstChange(g group) string {
	if !slices.Contains(kinds(), g.Kind) {
		return fmt.Sprintf("its kind %.20q is none of %s", g.Kind, oneLine(kinds()))
	}
	if g.What == "" {
		return "it does not say what it does"
	}
	for _, f := range g.files {
		if why := w.againstFile(g, f); why != "" {
			return f.Path + ": " + why
		}
	}
	if g.Kind == KindDelete || g.Kind == KindMerge {
		return "" // less is what is wanted; its proof is what it does
	}
	if why := w.m.against(g.Filter, g.What, nil); why != "" {
		return why
	}
	if touchesAgents(g, w.in.Place.Dir()) && strings.TrimSpace(g.Mode) == "" {
		return "a new agent needs another mode of work (other tools, another model, another life), not another topic"
	}
	return ""
}

func touchesAgents(g group, dir string) bool {
	return g.touches(dir+"/agents") || g.touches(".claude/agents")
}

// againstFile holds a file to the kind of its change.
func (w *work) againstFile(g group, f classed) string {
	before, err := w.place.Read(f.Path)
	if err != nil {
		return err.Error()
	}
	added, removed := lineDiff(string(before), string(f.Content))
	if kind := secret.Looks(strings.Join(added, "\n")); kind != "" {
		return "it seems to hold " + kind
	}
	switch {
	case g.Kind == KindDelete && len(added) > 0:
		return "a deletion adds lines"
	case g.Kind == KindMerge && len(f.Content) > len(before) && before != nil && len(removed) == 0:
		return "a merge takes nothing away"
	case f.Path == w.place.Rules() && len(added) > 0:
		return "a rule is written by the program alone, from its counts; a line can be deleted"
	case g.Kind == KindFix && before == nil:
		return "there is nothing to fix: the file is new"
	case g.Kind == KindFix && (points(strings.Join(added, "")) > maxPhrase || len(added) > maxLines):
		return fmt.Sprintf("a fix is one sentence: it adds %d lines of %d code points, the most are %d and %d", len(added), points(strings.Join(added, "")), maxLines, maxPhrase)
	case g.Kind == KindAdd && before != nil && strings.TrimSpace(g.Sentence) == "":
		return "it adds to what exists without saying why no one-sentence edit does it"
	}
	if below(f.Path, w.place.Skills()) && !f.Deleted {
		return skillFaults(f)
	}
	return ""
}

// skillFaults checks the front matter of a skill.
func skillFaults(f classed) string {
	if path.Base(f.Path) != "SKILL.md" {
		return ""
	}
	d, err := skills.Parse(f.Content)
	if err != nil {
		return err.Error()
	}
	if faults := d.Check(path.Base(path.Dir(f.Path))); len(faults) > 0 {
		return faults[0].String()
	}
	return ""
}

// lineDiff is the lines that one text has more than the other, as multisets: enough
// to tell how large an edit is.
func lineDiff(before, after string) (added, removed []string) {
	count := map[string]int{}
	for _, l := range strings.Split(before, "\n") {
		count[l]++
	}
	for _, l := range strings.Split(after, "\n") {
		if count[l] > 0 {
			count[l]--
		} else if strings.TrimSpace(l) != "" {
			added = append(added, l)
		}
	}
	for l, n := range count {
		for range n {
			if strings.TrimSpace(l) != "" {
				removed = append(removed, l)
			}
		}
	}
	return added, removed
}

// counters reports whether an agent set counters, which only the fold may.
func counters(before, after *knowledge.Store) string {
	for _, e := range after.Entries {
		old, _ := before.Entry(e.ID)
		if e.Counters != old.Counters {
			return e.ID + ": its counters are written by the program alone"
		}
	}
	return ""
}
