package doctor

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"si/internal/durable"
	"si/learn/evidence"
	"si/learn/mistakes"
	"si/learn/place"
	"si/learn/policy"
	"si/track"
)

var noon = time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC)

type world struct {
	t     *testing.T
	place place.Place
	log   strings.Builder
}

func newWorld(t *testing.T, files map[string]string) *world {
	t.Helper()
	top := t.TempDir()
	for name, text := range files {
		put(t, filepath.Join(top, name), text)
	}
	p, err := place.Open(&durable.Store{}, top)
	if err != nil {
		t.Fatal(err)
	}
	return &world{t: t, place: p}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func (w *world) event(kind track.Kind, data any) {
	w.t.Helper()
	raw, err := json.Marshal(data)
	if err != nil {
		w.t.Fatal(err)
	}
	line, err := json.Marshal(track.Event{TS: noon, Ev: kind, Run: "r1", Round: 1, Actor: "si", Data: raw})
	if err != nil {
		w.t.Fatal(err)
	}
	w.log.Write(append(line, '\n'))
}

func (w *world) examine() []Finding {
	w.t.Helper()
	journal := filepath.Join(w.t.TempDir(), "journal.jsonl")
	put(w.t, journal, w.log.String())
	return Examine(Input{Place: w.place, Policy: policy.Load(w.place, policy.Ground{}), Journal: journal})
}

// entry is a valid one with further keys.
func entry(id, text string, more ...string) string {
	return fmt.Sprintf("  - {id: %s, kind: fact, text: %q, confidence: 1, provenance: [{source: a, reference: b}]%s}\n", id, text, strings.Join(append([]string{""}, more...), ", "))
}

func stored(entries ...string) map[string]string {
	return map[string]string{".si/knowledge/a.yaml": "entries:\n" + strings.Join(entries, ""), ".si/policies/autonomy.yaml": policy.Text(".si")}
}

// broke records the mistake a-b in runs.
func (w *world) broke(runs ...int) {
	w.t.Helper()
	for _, n := range runs {
		e := mistakes.Entry{Title: "t", What: "w", Cause: "c", Consequence: "c", Prevention: "p", Signature: "a-b", Initiative: "default", Actor: "executor", Proof: fmt.Sprintf("F-%d", n)}
		if _, err := mistakes.Add(w.t.Context(), w.place, mistakes.New{Entry: e, Run: fmt.Sprint("r", n), At: noon.AddDate(0, 0, n), Create: true}); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *world) record(lines ...evidence.Line) {
	w.t.Helper()
	if err := evidence.Append(w.place, lines...); err != nil {
		w.t.Fatal(err)
	}
}

func delivery(n int, id string, v track.KnowledgeVerdict) evidence.Line {
	return evidence.Line{Delivery: &evidence.Delivery{Run: fmt.Sprint("r", n), Round: n, Agent: "planner_a", ID: id, Verdict: v, At: noon.AddDate(0, 0, n)}}
}

func TestAHealthyRepositoryHasNoFinding(t *testing.T) {
	for name, w := range map[string]*world{
		"nothing learned yet": newWorld(t, nil),
		"a repository that learns": func() *world {
			w := newWorld(t, stored(entry("K-1", "a", "used: 4", "helpful: 2"), entry("K-2", "b")))
			w.broke(1, 2)
			w.record(delivery(1, "K-1", track.VerdictHelped))
			w.event(track.EvRunStarted, track.RunStarted{})
			w.event(track.EvBriefDelivered, track.BriefDelivered{})
			w.event(track.EvRoundEnded, track.RoundEnded{})
			w.event(track.EvRetro, track.RetroEvent{Of: "r1", Trigger: "end", Outcome: track.RetroUnchanged})
			return w
		}(),
		"entries of a person, never delivered": newWorld(t, stored(entry("K-1", "a"))),
	} {
		t.Run(name, func(t *testing.T) {
			if found := w.examine(); len(found) > 0 {
				t.Errorf("%+v", found)
			}
		})
	}
}

// TestEachCode makes every kind of finding happen.
func TestEachCode(t *testing.T) {
	seen := map[Code]bool{}
	for name, c := range map[string]struct {
		files map[string]string
		make  func(*world)
		want  Code
		what  string
	}{
		"a misspelt key":   {map[string]string{".si/knowledge/a.yaml": "entires: []\n", ".si/policies/autonomy.yaml": policy.Text(".si")}, nil, KnowledgeInvalid, "a.yaml:1"},
		"an id twice":      {stored(entry("K-1", "a"), entry("K-1", "b")), nil, KnowledgeDuplicateID, "a.yaml:3"},
		"too much to read": {stored(entry("K-1", strings.Repeat("a ", 1000)), entry("K-2", strings.Repeat("b ", 1500))), nil, KnowledgeUnreachable, "1 of 2"},
		"a dangling id":    {stored(entry("K-1", "a", "supersedes: K-9")), nil, KnowledgeDangling, "K-9"},
		"no fold": {stored(entry("K-1", "a")), func(w *world) {
			w.event(track.EvBriefDelivered, track.BriefDelivered{})
		}, KnowledgeNoEvidence, "not happening"},
		"a useless entry": {stored(entry("K-1", "a", "used: 3")), nil, RetirementCandidates, "never-helpful"},
		"three runs":      {stored(), func(w *world) { w.broke(1, 2, 3) }, RepeatUnpromoted, "3 runs"},
		"five runs, after the delivery": {stored(entry("K-1", "a")), func(w *world) {
			w.broke(1, 2, 3)
			w.promote("knowledge:K-1")
			w.record(delivery(3, "K-1", track.VerdictHelped))
			w.broke(4, 5)
		}, LawReady, "5 runs"},
		"an entry that cannot be counted": {map[string]string{"MISTAKES.md": "## 2026-13-40 — x\n\n- **Signature:** `a-b` · initiative `x` · actor `y` · proof `z` · status `open`\n"}, nil, MistakesUnreadable, "MISTAKES.md:1"},
		"a block of code without end":     {map[string]string{"MISTAKES.md": "# x\n```\n"}, nil, MistakesOpenFence, "MISTAKES.md:2"},
		"law without a fence":             {map[string]string{"MISTAKES.md": "## 2026-11-03 — x\n\n- **Signature:** `a-b` · initiative `x` · actor `y` · proof `z` · status `law`\n"}, nil, FenceMissing, "a-b"},
		"two fences":                      {map[string]string{"CLAUDE.md": strings.Repeat("<!-- tyran:rules start -->\n<!-- tyran:rules end -->\n", 2)}, nil, FenceMalformed, "CLAUDE.md:3"},
		"a rule that does not work": {map[string]string{
			"MISTAKES.md": "## 2026-11-04 — x\n\n- **Signature:** `a-b` · initiative `x` · actor `y` · proof `w` · status `open`\n\n## 2026-11-03 — x\n\n- **Signature:** `a-b` · initiative `x` · actor `y` · proof `z` · status `law`\n",
			"CLAUDE.md":   "<!-- tyran:rules start -->\n- x (`a-b`, 5 occurrences — MISTAKES.md entries 2026-11-03)\n<!-- tyran:rules end -->\n",
		}, nil, RuleNotWorking, "a-b happened 1 times"},
		"agents that report nothing": {stored(entry("K-1", "a", "used: 6", "helpful: 1")), func(w *world) {
			for n := range 6 {
				w.record(delivery(n, "K-1", track.VerdictMissing))
			}
		}, VerdictsMissing, "6 of 6"},
		"no policy":             {map[string]string{".si/config.yaml": "x: y\n"}, nil, PolicyMissing, "autonomy.yaml"},
		"a broken policy":       {map[string]string{".si/policies/autonomy.yaml": "default: MAYBE\n"}, nil, PolicyInvalid, "MAYBE"},
		"a rule nobody reaches": {map[string]string{".si/policies/autonomy.yaml": "default: GATED\nrules:\n  - {path: a, class: AUTO}\n  - {path: a, class: KERNEL}\n"}, nil, PolicyRuleDead, ":3"},
		"a torn journal": {nil, func(w *world) {
			w.event(track.EvRunStarted, track.RunStarted{})
			w.log.WriteString(`{"ts":"2026`)
		}, JournalTorn, "has no end"},
		"a damaged journal": {nil, func(w *world) {
			w.log.WriteString("x\n")
			w.event(track.EvRunStarted, track.RunStarted{})
		}, JournalDamaged, "journal.jsonl:1"},
		"a run that nobody looked back on": {nil, func(w *world) { w.event(track.EvRoundEnded, track.RoundEnded{}) }, RetroOwed, "r1"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, c.files)
			if c.make != nil {
				c.make(w)
			}
			found := w.examine()
			if len(found) != 1 || found[0].Code != c.want || !strings.Contains(found[0].What, c.what) || found[0].Do == "" || found[0].Severity != c.want.Severity() {
				t.Errorf("%+v", found)
			}
			seen[c.want] = true
		})
	}
	w := newWorld(t, nil)
	found := Examine(Input{
		Place: w.place, Policy: policy.Load(w.place, policy.Ground{}),
		Skills:  func() ([]string, error) { return []string{"x/SKILL.md: no front matter"}, nil },
		Curator: func() (string, error) { return "2026-11-01", nil }, Reviewer: "no model is configured",
	})
	if len(found) != 3 || found[0].Code != SkillsInvalid || found[1].Code != CuratorOverdue || found[2].Code != ReviewerNoModel || !Fails(found[:1]) || Fails(found[1:2]) || !Fails(found[2:]) {
		t.Errorf("%+v", found)
	}
	seen[SkillsInvalid], seen[CuratorOverdue], seen[ReviewerNoModel] = true, true, true
	for _, code := range Codes() {
		if !seen[code] {
			t.Errorf("nothing makes %s happen", code)
		}
	}
}

func (w *world) promote(status string) {
	w.t.Helper()
	if _, err := mistakes.SetStatus(w.t.Context(), w.place, "a-b", mistakes.Status(status)); err != nil {
		w.t.Fatal(err)
	}
}

// TestNothingSuggestedDestroys anything: no advice names a command that deletes.
func TestNothingSuggestedDestroys(t *testing.T) {
	src, err := os.ReadFile("examine.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"rm ", "git reset", "git checkout", "git clean", "delete the file"} {
		if strings.Contains(string(src), bad) {
			t.Errorf("it suggests %q", bad)
		}
	}
	if slices.Contains(Codes(), "") {
		t.Error("a code without a name")
	}
}
