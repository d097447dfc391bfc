package retro

import (
	"fmt"
	"slices"
	"strings"

	"si/learn/knowledge"
	"si/learn/mistakes"
)

// lesson is what the built-in judge says of a kind of failure. It is what the
// program knows of its own rules, and nothing about the repository.
type lesson struct{ cause, prevention string }

func lessonOf(signature string) (lesson, bool) {
	for _, l := range []struct {
		prefix string
		lesson lesson
	}{
		{"sealed-file-violation", lesson{"the change touched what the benchmark is made of", "leave sealed paths alone"}},
		{"scope-error", lesson{"the change left the scope of goal.md", "change only files that goal.md lists as in scope"}},
		{"timeout", lesson{"the change makes the benchmark run longer than its time limit, or hang", "estimate the cost on the benchmark's input before making such a change"}},
		{"oom", lesson{"the change needs more memory than the machine gives", "bound what such a change allocates"}},
		{"logic-error", lesson{"the change breaks the program that the benchmark runs", "build and run the changed code before finishing"}},
		{"benchmark-parse-error", lesson{"the change altered what the benchmark prints", "leave the benchmark's output as it is"}},
		{"merge-conflict", lesson{"two changes of one round touched the same lines", "plan only one change of this place in a round"}},
		{"guard-", lesson{"the change broke what the guard checks", "run the guard's command before finishing"}},
	} {
		if strings.HasPrefix(signature, l.prefix) {
			return l.lesson, true
		}
	}
	return lesson{}, false
}

// counted is the judgement of the built-in judge: failures that cost a candidate are
// mistakes under the signature that the program gave them. Which of them become
// knowledge or law is counted elsewhere. It changes no prompt and writes no skill.
func (m *Material) counted() Judgement {
	var j Judgement
	for _, f := range m.Findings {
		l, ok := lessonOf(f.Signature)
		if !ok {
			continue
		}
		j.Mistakes = append(j.Mistakes, MistakeWish{
			Proof: f.Proof, Signature: f.Signature, Title: cut(f.Claim, 100), What: cut(f.Claim, 1000), Cause: l.cause,
			Consequence: fmt.Sprintf("the work of %s was lost in round %d", f.Subject, f.Round), Prevention: l.prevention + " (" + f.Area + ")",
		})
		j.Failed = append(j.Failed, Failure{f.Claim, fmt.Sprintf("the work of %s", f.Subject), []string{f.Proof}})
	}
	j.tidy()
	return j
}

func cut(s string, most int) string {
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	return string(r[:most-1]) + "…"
}

// doesNotWork is how the text of an entry says that a value breaks the program. The
// built-in tuner reads it.
const doesNotWork = " does not work"

// composed is the entry that a signature earns when the judge gave no text for it:
// what happened, and the prevention of its mistakes.
func (m *Material) composed(r mistakes.Repeat) KnowledgeWish {
	w := KnowledgeWish{Kind: knowledge.Gotcha, Confidence: 0.8, Signature: r.Signature}
	var settings, what []string
	prevention := ""
	for _, e := range m.Ledger.Entries {
		if e.Signature != r.Signature {
			continue
		}
		w.Proofs = append(w.Proofs, e.Proof)
		if f, ok := m.Proofs[e.Proof]; ok && f.Signature == r.Signature && !strayed(r.Signature) {
			w.AppliesTo = add(w.AppliesTo, scope(f.Area))
		}
		if setting, ok := settingOf(e.What); ok {
			settings = add(settings, setting+doesNotWork)
		} else {
			what = add(what, strings.TrimRight(e.What, ". "))
		}
		if prevention == "" {
			prevention = strings.TrimRight(e.Prevention, ". ")
		}
	}
	if slices.Contains(w.AppliesTo, "") { // the whole repository
		w.AppliesTo = nil
	}
	parts := append(settings, what[:min(len(what), 1)]...) // the newest stands for the others
	w.Text = cut(fmt.Sprintf("%s. It happened in %d runs or commits: %s.", sentence(prevention), r.Occurrences, strings.Join(parts, "; ")), knowledge.MaxText)
	return w
}

// strayed reports failures of those who worked elsewhere: they must know it wherever
// they work, since who works on the path itself is right there.
func strayed(signature string) bool {
	return strings.HasPrefix(signature, "sealed-file-violation") || strings.HasPrefix(signature, "scope-error")
}

// settingOf is the beginning of a finding about one value.
func settingOf(text string) (string, bool) {
	head, _, ok := strings.Cut(text, ": ")
	return head, ok && strings.HasPrefix(head, "Setting ") && strings.Contains(head, " to ")
}

// scope is the glob of what a finding is about, "" for the whole repository.
func scope(area string) string {
	switch {
	case area == "repository" || strings.ContainsAny(area, "*?[{\\ "):
		return ""
	case strings.Contains(lastPart(area), "."):
		return area
	}
	return area + "/**"
}

func lastPart(s string) string { return s[strings.LastIndexByte(s, '/')+1:] }

func add(list []string, item string) []string {
	if slices.Contains(list, item) {
		return list
	}
	return append(list, item)
}

func sentence(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
