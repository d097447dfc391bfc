package retro

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"si/learn/efficacy"
	"si/learn/knowledge"
	"si/learn/mistakes"
	"si/learn/place"
	"si/track"
)

// deliver puts an entry into a prompt of the run, with what the agent reports.
func (w *world) deliver(run, id string, v track.KnowledgeVerdict) {
	w.event(run, track.EvBriefDelivered, track.BriefDelivered{Role: "planner", Agent: "planner_a", IDs: []string{id}})
	w.event(run, track.EvBriefVerdict, track.BriefVerdict{Role: "planner", Agent: "planner_a", Verdicts: map[string]track.KnowledgeVerdict{id: v}})
}

// run plays one run that had the failure or not, and looks back on it by counting.
func (w *world) run(n int, broke bool, deliver string, v track.KnowledgeVerdict) Outcome {
	w.t.Helper()
	run := fmt.Sprintf("r%d", n)
	w.begin(run)
	if deliver != "" {
		w.deliver(run, deliver, v)
	}
	if broke {
		w.find(run, "timeout-src", "executor_a: the benchmark gave no score: it ran for 10 s")
	}
	w.end(run)
	return w.count(run)
}

// TestFromABreakageToALaw is the pipeline over runs, with the built-in judge: three
// distinct runs make knowledge, it is delivered and reported on, two more make a
// rule. Nothing but the journal's events says so.
func TestFromABreakageToALaw(t *testing.T) {
	w := newWorld(t, nil)
	for n := 1; n <= 3; n++ {
		out := w.run(n, true, "", "")
		if store := w.store(); (len(store.Entries) == 1) != (n == 3) {
			t.Fatalf("after %d runs there are %d entries: %+v", n, len(store.Entries), out.Record)
		}
	}
	e := w.store().Entries[0]
	if !strings.Contains(e.Text, "3 runs") || !slices.Equal(e.AppliesTo, []string{"src/**"}) || len(e.Provenance) != 4 {
		t.Errorf("%+v", e)
	}
	w.run(4, true, "K-1", track.VerdictWrong)
	if w.text("CLAUDE.md") != "" {
		t.Fatal("law after four")
	}
	out := w.run(5, true, "K-1", track.VerdictHelped)
	if e := w.store().Entries[0]; e.Used != 2 || e.Helpful != 1 || e.OutdatedReports != 1 {
		t.Errorf("the counters are %+v", e.Counters)
	}
	fence := w.text("CLAUDE.md")
	if !strings.Contains(fence, "(`timeout-src`, 5 occurrences") || strings.Count(fence, "`timeout-src`") != 1 {
		t.Errorf("%q, %+v", fence, out.Record)
	}
	l, err := mistakes.Load(w.place)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range l.Entries {
		if m.Status != mistakes.Law {
			t.Errorf("%+v", m)
		}
	}
	// It happens again: the rule does not work, and its line is written no second time.
	out = w.run(6, true, "K-1", track.VerdictUnused)
	if !has(out.Record.Notes, "a mechanism is needed") || w.text("CLAUDE.md") != fence {
		t.Errorf("%+v", out.Record.Notes)
	}
	// And five runs more, in each of which it happens: nothing was changed by either.
	for n := 7; n <= 11; n++ {
		out = w.run(n, true, "K-1", track.VerdictUnused)
	}
	if !has(out.Record.Candidates, efficacy.Retire+": timeout-src since K-1: in 3 of 3 runs before, in 8 of 8 after") ||
		!has(out.Record.Candidates, efficacy.Mechanism+": timeout-src since law") {
		t.Errorf("%q", out.Record.Candidates)
	}
}

func (w *world) store() *knowledge.Store {
	w.t.Helper()
	s, err := knowledge.Load(w.place)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// TestARemedyThatHelps is one after which it happened no more.
func TestARemedyThatHelps(t *testing.T) {
	w := newWorld(t, nil)
	for n := 1; n <= 3; n++ {
		w.run(n, true, "", "")
	}
	var out Outcome
	for n := 4; n <= 8; n++ {
		out = w.run(n, false, "K-1", track.VerdictHelped)
	}
	if len(out.Record.Efficacy) != 1 || out.Record.Efficacy[0].Outcome != efficacy.Helps || out.Record.Efficacy[0].P > 0.02 || len(out.Record.Candidates) > 0 {
		t.Errorf("%+v", out.Record)
	}
}

// TestAUselessEntry comes onto the list of those to retire.
func TestAUselessEntry(t *testing.T) {
	w := newWorld(t, map[string]string{".si/knowledge/a.yaml": "entries:\n  - {id: K-1, kind: fact, text: Tea is warm., confidence: 1, provenance: [{source: human, reference: me}]}\n"})
	for n := 1; n <= 3; n++ {
		out := w.run(n, false, "K-1", track.VerdictUnused)
		if found := has(out.Record.Candidates, "retire K-1: never-helpful (used 3"); found != (n == 3) {
			t.Errorf("after %d deliveries: %q", n, out.Record.Candidates)
		}
	}
}

// TestFiveOfOneDayInOneRun make no law, and no knowledge.
func TestFiveOfOneDayInOneRun(t *testing.T) {
	w := newWorld(t, nil)
	w.begin("r1")
	for range 5 {
		w.find("r1", "timeout-src", "it ran for 10 s")
	}
	w.end("r1")
	w.count("r1")
	if len(w.store().Entries) != 0 || w.text("CLAUDE.md") != "" {
		t.Error("rows were counted for runs")
	}
}

// TestAJudgeGivesTheWords: the count is the program's, the text the judge's.
func TestAJudgeGivesTheWords(t *testing.T) {
	w := newWorld(t, nil)
	var out Outcome
	for n := 1; n <= 3; n++ {
		run := fmt.Sprintf("r%d", n)
		w.begin(run)
		proof := w.find(run, "timeout-src", "it ran for 10 s")
		w.end(run)
		m := MistakeWish{proof, "cache-not-cold", "The cache was cold", "it ran for 10 s", "no cache", "one cycle", "warm it"}
		k := KnowledgeWish{Signature: "cache-not-cold", Kind: knowledge.Gotcha, Text: "Warm the cache with make warm first.", Confidence: 0.9}
		out = w.look(run, Judgement{Mistakes: []MistakeWish{m}, Knowledge: []KnowledgeWish{k}})
		if n < 3 && !has(out.Record.Candidates, "an entry for cache-not-cold") {
			t.Errorf("its text does not wait: %q", out.Record.Candidates)
		}
	}
	s := w.store()
	if len(s.Entries) != 1 || s.Entries[0].Text != "Warm the cache with make warm first." {
		t.Errorf("%+v", s.Entries)
	}
	if got := w.commits[len(w.commits)-2]; got.Event.What != "promotion" || len(got.Files) < 2 || !strings.Contains(got.Message, "Follows from: cache-not-cold") {
		t.Errorf("%+v", got)
	}
}

// TestASettingThatBreaks is written so that the built-in tuner reads it.
func TestASettingThatBreaks(t *testing.T) {
	w := newWorld(t, nil)
	for n := 1; n <= 3; n++ {
		run := fmt.Sprintf("r%d", n)
		w.begin(run)
		w.find(run, "timeout-config-json-batch", "Setting batch in config.json from 8 to 64: the benchmark gave no score: it ran for 10 s")
		w.end(run)
		w.count(run)
	}
	if s := w.store(); len(s.Entries) != 1 || !strings.Contains(s.Entries[0].Text, "Setting batch in config.json from 8 to 64 does not work") {
		t.Errorf("%+v", s.Entries)
	}
}

// learned is every learned file; a record tells how often it was tried, so only that
// there is one.
func (w *world) learned() string {
	w.t.Helper()
	files, err := w.place.Snapshot()
	if err != nil {
		w.t.Fatal(err)
	}
	var b strings.Builder
	for _, name := range sorted(files) {
		text := string(files[name])
		if strings.HasPrefix(name, w.place.Records()) {
			text = "a record"
		}
		fmt.Fprintf(&b, "%s: %s\n", name, text)
	}
	return b.String()
}

// TestAPersonsEditIsKept: MISTAKES.md and the store are edited between two looks.
func TestAPersonsEditIsKept(t *testing.T) {
	w := newWorld(t, nil)
	w.run(1, true, "", "")
	text := strings.Replace(w.text(place.Mistakes), "**Root cause:** the change makes", "**Root cause:** (a person:) the change makes", 1)
	w.put(w.place.Top(), place.Mistakes, text)
	w.put(w.place.Top(), ".si/knowledge/mine.yaml", "# mine\nentries: []\n")
	w.run(2, true, "", "")
	if !strings.Contains(w.text(place.Mistakes), "(a person:)") || w.text(".si/knowledge/mine.yaml") != "# mine\nentries: []\n" {
		t.Error("a person's edit is gone")
	}
}

func TestOwedRuns(t *testing.T) {
	type step struct {
		run, what string
	}
	for name, c := range map[string]struct {
		steps []step
		want  string
	}{
		"a run that ended":                         {[]step{{"a", "round"}}, "a"},
		"one that was looked back on":              {[]step{{"a", "round"}, {"a", track.RetroUnchanged}}, ""},
		"one whose look was begun":                 {[]step{{"a", "round"}, {"a", track.RetroStarted}}, "a"},
		"begun, and a run since":                   {[]step{{"a", "round"}, {"a", track.RetroStarted}, {"b", "round"}, {"b", track.RetroChanged}}, "a"},
		"older ones that never had any":            {[]step{{"a", "round"}, {"b", "round"}}, "b"},
		"no round was played":                      {[]step{{"a", "start"}}, ""},
		"the last run played no round":             {[]step{{"a", "round"}, {"b", "start"}}, "a"},
		"it failed once":                           {[]step{{"a", "round"}, {"a", track.RetroStarted}, {"a", track.RetroFailed}}, "a"},
		"it failed twice":                          {[]step{{"a", "round"}, {"a", track.RetroFailed}, {"a", track.RetroFailed}}, ""},
		"one in the middle is not that of its end": {[]step{{"a", "round"}, {"a", "every"}}, "a"},
		"the run that asks":                        {[]step{{"now", "round"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			for _, s := range c.steps {
				switch s.what {
				case "start":
					w.event(s.run, track.EvRunStarted, track.RunStarted{})
				case "round":
					w.event(s.run, track.EvRunStarted, track.RunStarted{})
					w.event(s.run, track.EvRoundEnded, track.RoundEnded{})
				case "every":
					w.event(s.run, track.EvRetro, track.RetroEvent{Of: s.run, Trigger: ByEvery, Outcome: track.RetroChanged})
				default:
					w.event("later", track.EvRetro, track.RetroEvent{Of: s.run, Trigger: ByEnd, Outcome: s.what})
				}
			}
			owed, err := OwedRuns(w.journal(), "now")
			var got []string
			for _, o := range owed {
				got = append(got, o.Run)
			}
			if err != nil || strings.Join(got, " ") != c.want {
				t.Errorf("%q, %v, want %q", got, err, c.want)
			}
		})
	}
}

// TestWhoStraysWorksElsewhere: an entry about sealed paths is for those who work on
// others.
func TestWhoStraysWorksElsewhere(t *testing.T) {
	w := newWorld(t, nil)
	for n := 1; n <= 3; n++ {
		run := fmt.Sprintf("r%d", n)
		w.begin(run)
		w.find(run, "sealed-file-violation-bench-sh", "executor_a: sealed paths were changed")
		w.end(run)
		w.count(run)
	}
	if s := w.store(); len(s.Entries) != 1 || !s.Entries[0].Global() {
		t.Errorf("%+v", s.Entries)
	}
}

// TestATrackMadeAnew numbers its findings from one again: they are others.
func TestATrackMadeAnew(t *testing.T) {
	w := played(t, nil)
	w.count("r1")
	w.count("r1") // once more by hand
	w.events, w.proofs, w.round = nil, 0, 0
	w.begin("r2")
	w.find("r2", "timeout-src", "executor_a: the benchmark gave no score")
	w.end("r2")
	w.count("r2")
	if n := strings.Count(w.text(place.Mistakes), "`timeout-src` · initiative `default` · actor `executor` · proof `F-1`"); n != 2 {
		t.Errorf("%d mistakes of two findings:\n%s", n, w.text(place.Mistakes))
	}
}
