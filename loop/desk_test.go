package loop

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"si/agents"
	"si/internal/durable"
	"si/track"
)

// besides is a loop that has what work beside it needs, and no repository.
func besides(t *testing.T) *Loop {
	t.Helper()
	dir := t.TempDir()
	now := func() time.Time { return time.Unix(1e9, 0) }
	cfg := Config{Now: now, WorkDir: dir, Store: &durable.Store{}, Primary: "a model", Lookup: func(string) (string, bool) { return "", false }}
	cfg.Paths.Root = dir
	path := filepath.Join(dir, "journal.jsonl")
	j, _, err := track.OpenJournal(cfg.Store, path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	l := &Loop{cfg: cfg, started: now(), events: &emitter{journal: j, path: path, run: "r1", now: now}}
	l.helm = newHelm(l.events, func(error) {})
	return l
}

// TestAReviewBesideTheLoopSeesNoEdit: the race detector watches a review that begins
// while the loop reads its documents anew.
func TestAReviewBesideTheLoopSeesNoEdit(t *testing.T) {
	l := besides(t)
	l.settings.Value.BenchmarkCommand = "before"
	var saw string
	l.cfg.Solo = func(_ context.Context, _ string, t agents.Task) (agents.Answer, error) {
		saw = t.Facts.Command
		return agents.Answer{Text: "{}"}, nil
	}
	model := l.auxModel()
	var beside sync.WaitGroup
	beside.Go(func() {
		if _, err := model(context.Background(), "review", "what was learned?"); err != nil {
			t.Error(err)
		}
	})
	l.settings.Value = track.Settings{BenchmarkCommand: "after"}
	l.progress.Value.Iterations++
	l.helm.enter(2, nil, nil)
	beside.Wait()
	if saw != "before" {
		t.Errorf("it saw %q", saw)
	}
}

// TestNotesFromAgentsSideBySide: what is wrong with the aids of several agents is
// noted from each one's goroutine.
func TestNotesFromAgentsSideBySide(t *testing.T) {
	l := besides(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := l.note("the skills are not in the prompt"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if len(l.notes) != 8 {
		t.Errorf("%d notes", len(l.notes))
	}
}
