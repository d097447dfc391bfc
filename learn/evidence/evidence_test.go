package evidence

import (
	"encoding/json"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"si/internal/durable"
	"si/learn/knowledge"
	"si/learn/place"
	"si/track"
)

var noon = time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC)

const stored = `entries:
  - id: K-1
    kind: fact
    text: x
    confidence: 1
    provenance: [{source: human, reference: me}]
    used: 5
    helpful: 2
  - id: K-2
    kind: fact
    text: y
    confidence: 1
    provenance: [{source: human, reference: me}]
`

func repository(t *testing.T, hooks durable.Hooks) place.Place {
	t.Helper()
	top := t.TempDir()
	write(t, filepath.Join(top, ".si/knowledge/a.yaml"), stored)
	p, err := place.Open(&durable.Store{Hooks: hooks}, top)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func event(t *testing.T, round int, kind track.Kind, data any) track.Event {
	t.Helper()
	raw, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	return track.Event{TS: noon, Ev: kind, Run: "r1", Round: round, Actor: "si", Data: raw}
}

func sequence(events ...track.Event) iter.Seq2[track.Event, error] {
	return func(yield func(track.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func counters(t *testing.T, p place.Place) map[string]knowledge.Counters {
	t.Helper()
	s, err := knowledge.Load(p)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]knowledge.Counters{}
	for _, e := range s.Entries {
		out[e.ID] = e.Counters
	}
	return out
}

func story(t *testing.T) []track.Event {
	t.Helper()
	given := track.BriefDelivered{Role: "planner", Agent: "planner_a", IDs: []string{"K-1", "K-2"}}
	return []track.Event{
		event(t, 0, track.EvRunStarted, track.RunStarted{}),
		event(t, 1, track.EvBriefDelivered, given),
		event(t, 1, track.EvBriefDelivered, given), // the second attempt
		event(t, 1, track.EvBriefVerdict, track.BriefVerdict{Agent: "planner_a", Verdicts: map[string]track.KnowledgeVerdict{
			"K-1": track.VerdictHelped, "K-2": track.VerdictWrong, "K-9": track.VerdictHelped,
		}}),
		event(t, 1, track.EvBriefDelivered, track.BriefDelivered{Agent: "executor_a", IDs: []string{"K-2"}}),
		event(t, 2, track.EvBriefVerdict, track.BriefVerdict{Agent: "executor_a", Verdicts: map[string]track.KnowledgeVerdict{"K-2": track.VerdictHelped}}),
	}
}

func fold(t *testing.T, p place.Place, events ...track.Event) Folded {
	t.Helper()
	f, err := Fold(t.Context(), p, "default", sequence(events...))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestFold: counters that were there count on; verdicts on what was not delivered,
// or in another round, count for nothing; a missing one is recorded as missing.
func TestFold(t *testing.T) {
	p := repository(t, durable.Hooks{})
	f := fold(t, p, story(t)...)
	got := counters(t, p)
	if got["K-1"] != (knowledge.Counters{Used: 6, Helpful: 3}) || got["K-2"] != (knowledge.Counters{Used: 2, OutdatedReports: 1}) {
		t.Errorf("%+v", got)
	}
	if f.Facts != 5 || len(f.Files) != 1 {
		t.Errorf("%+v", f)
	}
	l, err := Load(p)
	if err != nil {
		t.Fatal(err)
	}
	if missing, delivered := l.Missing(); missing != 1 || delivered != 3 {
		t.Errorf("%d missing of %d", missing, delivered)
	}
	if runs := l.Runs(); len(runs) != 1 || runs[0].ID != "r1" || runs[0].Track != "default" {
		t.Errorf("%+v", runs)
	}
}

func TestFoldTwiceChangesNothing(t *testing.T) {
	p := repository(t, durable.Hooks{})
	fold(t, p, story(t)[:3]...)
	fold(t, p, story(t)...) // the verdicts came later
	before, err := p.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if f := fold(t, p, story(t)...); f.Facts != 0 || len(f.Files) != 0 {
		t.Errorf("%+v", f)
	}
	after, err := p.Snapshot()
	if err != nil || len(place.Changes(before, after)) != 0 {
		t.Errorf("%v, %v", place.Changes(before, after), err)
	}
	if got := counters(t, p)["K-1"]; got != (knowledge.Counters{Used: 6, Helpful: 3}) {
		t.Errorf("%+v", got)
	}
}

// TestFoldKilledAtEachWrite: after every write at which the process can end, the
// next fold reaches the same end.
func TestFoldKilledAtEachWrite(t *testing.T) {
	want := repository(t, durable.Hooks{})
	fold(t, want, story(t)...)
	for at := range 4 {
		n := 0
		stop := func(durable.Op, string) {
			if n++; n == at+1 {
				panic("killed")
			}
		}
		p := repository(t, durable.Hooks{Before: stop, After: stop})
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("there is no write %d", at)
				}
			}()
			fold(t, p, story(t)...)
		}()
		q, err := place.Open(&durable.Store{}, p.Top())
		if err != nil {
			t.Fatal(err)
		}
		fold(t, q, story(t)...)
		a, _ := want.Snapshot()
		b, _ := q.Snapshot()
		if c := place.Changes(a, b); len(c) != 0 {
			t.Errorf("killed at %d: %q", at, c)
		}
	}
}

func TestFoldKeepsWhatAPersonWrote(t *testing.T) {
	p := repository(t, durable.Hooks{})
	fold(t, p, story(t)[:3]...)
	path := filepath.Join(p.Top(), ".si/knowledge/a.yaml")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, strings.Replace(string(data), "text: y", "text: mine # said better", 1))
	fold(t, p, story(t)...)
	data, _ = os.ReadFile(path)
	if !strings.Contains(string(data), "text: mine # said better") || !strings.Contains(string(data), "outdated_reports: 1") {
		t.Errorf("%s", data)
	}
}

func TestLoadOfATornOrDamagedFile(t *testing.T) {
	p := repository(t, durable.Hooks{})
	path := filepath.Join(p.Top(), ".si/evidence.jsonl")
	write(t, path, `{"law":{"signature":"a","at":"2026-11-03T12:00:00Z"}}`+"\n"+`{"law":{"sign`)
	l, err := Load(p)
	if err != nil || !l.Torn || len(l.Lines) != 1 {
		t.Errorf("%+v, %v", l, err)
	}
	if err := Append(p, Line{Rejected: &Rejected{Signature: "a", At: noon}}); err != nil {
		t.Fatal(err)
	}
	if l, err = Load(p); err != nil || l.Torn || !l.Rejected("a") || l.Rejected("b") {
		t.Errorf("%+v, %v", l, err)
	}
	write(t, path, "nonsense\n{}\n")
	if _, err := Load(p); err == nil || !strings.Contains(err.Error(), ".si/evidence.jsonl:1") {
		t.Errorf("error %v", err)
	}
}

func TestCoreIsTheLastVersionCompared(t *testing.T) {
	p := repository(t, durable.Hooks{})
	for _, v := range []string{"0.1.0", "0.2.0"} {
		if err := Append(p, Line{Core: &Core{Version: v, At: noon}}); err != nil {
			t.Fatal(err)
		}
	}
	if l, err := Load(p); err != nil || l.Core() != "0.2.0" {
		t.Errorf("%v %v", l.Core(), err)
	}
}

// BenchmarkFold folds a journal of 100,000 events.
func BenchmarkFold(b *testing.B) {
	path := filepath.Join(b.TempDir(), "journal.jsonl")
	var text strings.Builder
	for i := range 100_000 {
		text.WriteString(`{"ts":"2026-11-03T12:00:00Z","ev":"measured","run":"r","round":` + string(rune('1'+i%9)) + `,"actor":"si","data":{"key":"k","purpose":"duel","subject":"champion","commit":"c","tree":"t","score":1.5}}` + "\n")
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := collect("default", track.ReadJournal(path)); err != nil {
			b.Fatal(err)
		}
	}
}
