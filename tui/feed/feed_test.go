package feed

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"si/internal/durable"
	"si/track"
	"si/tui/scene"
	"si/tui/staged"
)

// trackOf writes the journal of a play into a track.
func trackOf(t *testing.T, p *staged.Play) track.Paths {
	t.Helper()
	paths, err := track.Resolve(track.ResolveInput{WorkDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if err := paths.EnsureLayout(&durable.Store{}); err != nil {
		t.Fatal(err)
	}
	write(t, paths, p.Events)
	return paths
}

// write appends events to a journal; it syncs nothing, which is most of the time
// of the real one.
func write(t *testing.T, paths track.Paths, events []track.Event) {
	t.Helper()
	var b strings.Builder
	for _, e := range events {
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	appendTo(t, paths.JournalPath(), b.String())
}

func activityLine(t *testing.T, a track.Activity) string {
	t.Helper()
	line, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	return string(line) + "\n"
}

// readAll applies everything that a feed has now.
func readAll(t *testing.T, f Feed, s *scene.Scene) Batch {
	t.Helper()
	for {
		b := f.Read()
		if b.Err != nil {
			t.Fatal(b.Err)
		}
		b.Apply(s)
		if !b.More {
			return b
		}
	}
}

// TestFollow: what a loop writes is seen, also what its agents do, and whether it
// lives.
func TestFollow(t *testing.T) {
	paths := trackOf(t, staged.AtWork())
	f := NewFollow(paths, time.Now)
	defer f.Close()
	s := scene.New(scene.Facts{})
	if b := readAll(t, f, s); b.Alive || b.Facts == nil {
		t.Errorf("nobody holds the track, and its documents are news: %v, %v", b.Alive, b.Facts)
	}
	if s.Round.N != 2 || s.Working() != 3 || len(s.Kept) != 1 {
		t.Fatalf("round %d, %d at work, %d kept", s.Round.N, s.Working(), len(s.Kept))
	}
	lock, err := track.AcquireLock(paths.LockPath(), track.Holder{Command: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	if err := os.MkdirAll(paths.LogDir(2), 0o755); err != nil {
		t.Fatal(err)
	}
	appendTo(t, paths.ActivityPath(2, "executor_a", 1), activityLine(t, track.Activity{Kind: "tool_start", Tool: "shell", Text: "ls"})+"not JSON\n")
	appendTo(t, paths.LogPath(2, "executor_b"), "printed\x1b[2J by a program\nof no kind")
	if b := readAll(t, f, s); !b.Alive || b.Facts != nil {
		t.Errorf("alive %v, facts %v", b.Alive, b.Facts)
	}
	a, b := s.Agent("executor_a"), s.Agent("executor_b")
	if a.Tools != 1 || a.Lines.Len() != 1 || b.Lines.Len() != 1 || b.Lines.At(0).Text != "printed by a program" {
		t.Errorf("%+v, %+v", a.Lines.Tail(9), b.Lines.Tail(9))
	}
	rest := staged.Ended().Events[len(staged.AtWork().Events):]
	write(t, paths, rest)
	readAll(t, f, s)
	if s.Live() || s.Run.Summary == nil || len(f.agents.open) != 0 {
		t.Errorf("live %v, %d files still followed", s.Live(), len(f.agents.open))
	}
}

// TestFollowPassesDamage: a line that is no event costs that line.
func TestFollowPassesDamage(t *testing.T) {
	paths := trackOf(t, staged.Won())
	appendTo(t, paths.JournalPath(), "{\"ev\": nonsense}\n")
	write(t, paths, staged.New().Start().Events)
	f := NewFollow(paths, time.Now)
	defer f.Close()
	s := scene.New(scene.Facts{})
	readAll(t, f, s)
	if !s.Live() || len(s.Kept) != 1 {
		t.Errorf("live %v, %d kept", s.Live(), len(s.Kept))
	}
}

// TestFollowALongJournal: its reading is cut into pieces, so that a screen draws
// in between, and the files of agents that left long ago are let go.
func TestFollowALongJournal(t *testing.T) {
	p := staged.New().Start()
	for i := range 400 {
		p.Open(i+1, 400).Plans().Work().Commits(401, 371, 415)
	}
	paths := trackOf(t, p)
	f := NewFollow(paths, time.Now)
	defer f.Close()
	s := scene.New(scene.Facts{})
	reads := 0
	for b := (Batch{More: true}); b.More; reads++ {
		b = f.Read()
		b.Apply(s)
		if len(b.Events) > mostEvents {
			t.Fatalf("%d events at once", len(b.Events))
		}
	}
	if reads < 2 || s.Round.N != 400 || len(f.agents.open) > mostTails {
		t.Errorf("%d reads, round %d, %d files", reads, s.Round.N, len(f.agents.open))
	}
}

// clock is a wall clock that a test moves.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func TestReplay(t *testing.T) {
	paths := trackOf(t, staged.Ended())
	if err := os.MkdirAll(paths.LogDir(2), 0o755); err != nil {
		t.Fatal(err)
	}
	var started time.Time
	for _, e := range staged.Ended().Events {
		if e.Ev == track.EvAgentStarted && e.Actor == "executor_b" && e.Round == 2 {
			started = e.TS
		}
	}
	early := activityLine(t, track.Activity{At: started.Add(time.Millisecond), Kind: "text", Text: "early\n"})
	late := activityLine(t, track.Activity{At: started.Add(30 * time.Second), Kind: "text", Text: "late\n"})
	appendTo(t, filepath.Join(paths.LogDir(2), "executor_b.activity.jsonl"), early+late)

	c := &clock{time.Unix(1e9, 0)}
	r, err := NewReplay(paths, c.now, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s := scene.New(scene.Facts{})
	readAll(t, r, s)
	if s.Round.N != 2 || len(s.Kept) != 1 || !s.Live() {
		t.Fatalf("it begins in round %d, %d kept", s.Round.N, len(s.Kept))
	}
	steps := 0
	for s.Agent("executor_b") == nil || s.Agent("executor_b").Lines.Len() == 0 {
		c.at = c.at.Add(100 * time.Millisecond)
		readAll(t, r, s)
		if steps++; steps > 1000 {
			t.Fatal("the executor never speaks")
		}
	}
	if got := s.Agent("executor_b").Lines.Tail(9); len(got) != 1 || got[0].Text != "early" {
		t.Errorf("it says %v at once", got)
	}
	r.Toggle()
	c.at = c.at.Add(time.Hour)
	before := r.Now()
	if b := r.Read(); len(b.Events) > 0 || !r.Now().Equal(before) {
		t.Errorf("%d events while it stands still", len(b.Events))
	}
	r.Toggle()
	r.Turn(3)
	if speed, paused := r.Pace(); speed != 8 || paused {
		t.Errorf("speed %g, paused %v", speed, paused)
	}
	r.Jump(3)
	readAll(t, r, s)
	if s.Live() || !r.Over() || len(s.Log.Tail(3)) != 3 {
		t.Errorf("a jump beyond the last round plays to the end: live %v, over %v", s.Live(), r.Over())
	}
}

// TestReplayShortensWaits: an hour of a benchmark is not waited for.
func TestReplayShortensWaits(t *testing.T) {
	p := staged.New().Start().Open(1, 412)
	p.Tell(time.Hour, track.EvWarning, "si", track.Note{Text: "after an hour"})
	paths := trackOf(t, p)
	c := &clock{time.Unix(1e9, 0)}
	r, err := NewReplay(paths, c.now, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s := scene.New(scene.Facts{})
	passed := time.Duration(0)
	for readAll(t, r, s); !r.Over(); readAll(t, r, s) {
		c.at = c.at.Add(100 * time.Millisecond)
		if passed += 100 * time.Millisecond; passed > 10*time.Second {
			t.Fatalf("it still waits at %v", r.Now())
		}
	}
	if passed < longestGap {
		t.Errorf("it waited %v only", passed)
	}
}
