package retro

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"si/internal/durable"
	"si/learn/mistakes"
	"si/learn/place"
	"si/learn/policy"
	"si/track"
)

var noon = time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC)

// world is a repository with a journal, and a clock that each event moves.
type world struct {
	t       *testing.T
	place   place.Place
	events  []track.Event
	now     time.Time
	proofs  int
	round   int
	commits []Commit
}

func newWorld(t *testing.T, files map[string]string) *world {
	t.Helper()
	top, w := t.TempDir(), &world{t: t, now: noon}
	for name, text := range files {
		w.put(top, name, text)
	}
	var err error
	if w.place, err = place.Open(&durable.Store{}, top); err != nil {
		t.Fatal(err)
	}
	if _, err := policy.Seed(t.Context(), w.place); err != nil {
		t.Fatal(err)
	}
	if _, err := mistakes.Seed(t.Context(), w.place); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) put(top, name, text string) {
	w.t.Helper()
	full := filepath.Join(top, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// text is a learned file, "" for one that is not there or lies outside.
func (w *world) text(name string) string {
	w.t.Helper()
	if !filepath.IsLocal(name) {
		return ""
	}
	data, err := w.place.Read(name)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}

func (w *world) event(run string, kind track.Kind, data any) {
	w.t.Helper()
	raw, err := json.Marshal(data)
	if err != nil {
		w.t.Fatal(err)
	}
	w.now = w.now.Add(time.Minute)
	w.events = append(w.events, track.Event{TS: w.now, Ev: kind, Run: run, Round: w.round, Actor: "si", Data: raw})
}

// begin starts a run on the next day.
func (w *world) begin(run string) {
	w.now = w.now.Add(24 * time.Hour)
	w.round++
	w.event(run, track.EvRunStarted, track.RunStarted{})
}

// find records a failure of the run, and returns its proof.
func (w *world) find(run, signature, claim string) string {
	w.proofs++
	proof := fmt.Sprintf("F-%d", w.proofs)
	w.event(run, track.EvFinding, track.Finding{Proof: proof, Area: "src", Claim: claim, Signature: signature, Subject: "round_1_planner_a", Commit: "c" + proof})
	return proof
}

func (w *world) end(run string) {
	w.event(run, track.EvRoundEnded, track.RoundEnded{Status: track.MergeNoWinner})
	w.event(run, track.EvRunEnded, track.Summary{})
}

func (w *world) journal() iter.Seq2[track.Event, error] {
	return func(yield func(track.Event, error) bool) {
		for _, e := range w.events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (w *world) input(run string) Input {
	return Input{
		Place: w.place, Policy: policy.Load(w.place, policy.Ground{Sealed: []string{"bench.sh"}}), Track: "default", Run: run, Trigger: ByEnd,
		Events: w.journal, Now: func() time.Time { return w.now },
		Commit: func(_ context.Context, c Commit) (string, error) {
			w.commits = append(w.commits, c)
			return fmt.Sprintf("commit%d", len(w.commits)), nil
		},
	}
}

// look looks back with a judge that answers that, and changed those files.
func (w *world) look(run string, j Judgement, changes ...Change) Outcome {
	w.t.Helper()
	return w.lookWith(w.input(run), j, changes...)
}

func (w *world) lookWith(in Input, j Judgement, changes ...Change) Outcome {
	w.t.Helper()
	out, err := Look(w.t.Context(), in, says(w.t, j, changes...))
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

func says(t *testing.T, j Judgement, changes ...Change) Judge {
	t.Helper()
	j.Worked = list(j.Worked)
	data, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	return func(context.Context, Order) (Answer, error) {
		return Answer{Text: "I thought about it.\n```json\n" + string(data) + "\n```", Changes: changes}, nil
	}
}

// count looks back with the built-in judge.
func (w *world) count(run string) Outcome {
	w.t.Helper()
	out, err := Look(w.t.Context(), w.input(run), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// played is a world in which one run had one failure.
func played(t *testing.T, files map[string]string) *world {
	t.Helper()
	w := newWorld(t, files)
	w.begin("r1")
	w.find("r1", "timeout-src", "executor_a: the benchmark gave no score")
	w.end("r1")
	return w
}

func proven() Filter {
	return Filter{Proofs: []string{"F-1"}, Recurs: "in every change of src", Specific: "src is generated here"}
}

func file(path, text string) Change { return Change{Path: path, Content: []byte(text)} }

func wish(kind, path string) ChangeWish {
	return ChangeWish{Filter: proven(), Paths: []string{path}, Kind: kind, What: kind + " what stands in " + path}
}

func has(list []string, part string) bool {
	return strings.Contains(strings.Join(list, "\n"), part)
}

func whys(rejected []Rejection) []string {
	var out []string
	for _, r := range rejected {
		out = append(out, r.By+": "+r.Why)
	}
	return out
}

func paths(refused []Refusal) []string {
	var out []string
	for _, r := range refused {
		out = append(out, r.Path+": "+r.Why)
	}
	return out
}
