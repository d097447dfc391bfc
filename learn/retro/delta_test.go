package retro

import (
	"strings"
	"testing"

	"si/learn/proposals"
)

// TestDelta: what the core says now is proposed for deletion, once a version, and
// nothing is deleted.
func TestDelta(t *testing.T) {
	const executor = "You carry out one plan.\n2. Leave the sealed paths\n   alone.\n3. Do not commit, and touch no branches: si commits.\n"
	files := map[string]string{
		".si/knowledge/a.yaml": "entries:\n  - {id: K-1, kind: convention, text: Executors must leave the sealed paths alone., confidence: 1, provenance: [{source: x, reference: y}]}\n" +
			"  - {id: K-2, kind: fact, text: The lexer is generated from grammar.y by make gen., confidence: 1, provenance: [{source: x, reference: y}]}\n" +
			"  - {id: K-3, kind: fact, text: sealed paths, confidence: 1, provenance: [{source: x, reference: y}]}\n",
		"CLAUDE.md":                 "<!-- tyran:rules start -->\n- Commit nothing and touch no branches. (`a-b`, 5 occurrences — MISTAKES.md entries 2026-01-01)\n- Run make gen after each edit of the grammar.\n<!-- tyran:rules end -->\n",
		".si/prompts/executor.tmpl": executor,
		".si/prompts/critic.tmpl":   "Be strict.\n",
	}
	core := Core{Version: "0.2.0", Texts: map[string]string{
		"executor.tmpl": executor, "critic.tmpl": "Two checks are yours.\n", "common.tmpl": "Executors leave the sealed paths alone, always.",
	}}
	w := newWorld(t, files)
	before := w.text(".si/knowledge/a.yaml") + w.text("CLAUDE.md")
	out, err := Delta(t.Context(), w.input("r1"), core)
	if err != nil {
		t.Fatal(err)
	}
	all, _, err := proposals.List(w.place)
	if err != nil || len(all) != 3 || len(out.Proposals) != 3 {
		t.Fatalf("%+v, %v", all, err)
	}
	if !strings.Contains(all[0].Title, "K-1") || strings.Contains(*all[0].Files[0].Content, "K-1") || !strings.Contains(*all[0].Files[0].Content, "K-2") {
		t.Errorf("%+v", all[0])
	}
	if strings.Contains(*all[1].Files[0].Content, "a-b") || !strings.Contains(*all[1].Files[0].Content, "Run make gen") {
		t.Errorf("%+v", all[1])
	}
	if all[2].Files[0].Path != ".si/prompts/executor.tmpl" || all[2].Files[0].Content != nil {
		t.Errorf("%+v", all[2])
	}
	if w.text(".si/knowledge/a.yaml")+w.text("CLAUDE.md") != before {
		t.Error("it did more than propose")
	}
	if out, err := Delta(t.Context(), w.input("r1"), core); err != nil || len(out.Proposals) > 0 || len(out.Record.Done) > 0 {
		t.Errorf("twice for one version: %+v, %v", out, err)
	}
	if _, err := proposals.Approve(t.Context(), w.place, "P-1", noon, func(string) error { return nil }); err != nil || strings.Contains(w.text(".si/knowledge/a.yaml"), "K-1") {
		t.Errorf("%v", err)
	}
	core.Version = "0.3.0"
	if out, err := Delta(t.Context(), w.input("r1"), core); err != nil || len(out.Proposals) != 0 {
		t.Errorf("what waits is proposed again: %+v, %v", out.Proposals, err)
	}
}

// TestDeltaOfKnowledgeAlone: entries are compared where there is neither a fence nor a
// prompt; where there is nothing at all, nothing is written.
func TestDeltaOfKnowledgeAlone(t *testing.T) {
	core := Core{Version: "0.2.0", Texts: map[string]string{"common.tmpl": "Executors leave the sealed paths alone, always."}}
	for name, c := range map[string]struct {
		files map[string]string
		want  int // proposals
		done  int // changes
	}{
		"an entry that the core says": {map[string]string{".si/knowledge/a.yaml": "entries:\n  - {id: K-1, kind: convention, text: Executors must leave the sealed paths alone., confidence: 1, provenance: [{source: x, reference: y}]}\n"}, 1, 2},
		"nothing of its own":          {map[string]string{"CLAUDE.md": "Commit nothing and touch no branches.\n"}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, c.files)
			out, err := Delta(t.Context(), w.input("r1"), core)
			if err != nil || len(out.Proposals) != c.want || len(out.Record.Done) != c.done {
				t.Errorf("%+v, %v", out, err)
			}
		})
	}
}
