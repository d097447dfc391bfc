package scene_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"si/track"
	"si/tui/scene"
	"si/tui/staged"
)

func TestAnEvening(t *testing.T) {
	for name, tc := range map[string]struct {
		play    *staged.Play
		doing   string
		working int
		phases  []scene.Phase
	}{
		"nothing yet":   {staged.New(), "waiting for the loop", 0, nil},
		"at work":       {staged.AtWork(), "3 executors at work", 3, []scene.Phase{scene.Changing, scene.Changing, scene.Changing}},
		"in a duel":     {staged.InDuel(), "executor_a duels the champion, 8 runs so far", 0, []scene.Phase{scene.Duelling, scene.Refused, scene.Checked}},
		"ended":         {staged.Ended(), "stopped by the user at iteration 3, step research", 0, []scene.Phase{scene.Refused, scene.Refused, scene.Refused}},
		"between steps": {staged.AtWork().Commits(366, 374, 369), "between two steps", 0, []scene.Phase{scene.Checked, scene.Checked, scene.Checked}},
	} {
		t.Run(name, func(t *testing.T) {
			s := tc.play.Scene()
			if s.Doing() != tc.doing || s.Working() != tc.working || len(s.Entries) != len(tc.phases) {
				t.Fatalf("%q, %d at work, %d entries", s.Doing(), s.Working(), len(s.Entries))
			}
			for i, e := range s.Entries {
				if e.Phase != tc.phases[i] {
					t.Errorf("%s is in phase %d, want %d", e.Executor, e.Phase, tc.phases[i])
				}
			}
		})
	}
}

func TestWhatADuelShowsSoFar(t *testing.T) {
	e := staged.InDuel().Scene().Entry("executor_a")
	got, ok := e.SoFar(track.LowerIsBetter)
	if want := 1 - 366.0/371; !ok || got < want-1e-9 || got > want+1e-9 {
		t.Errorf("%v %v, want %v", got, ok, want)
	}
	if got, _ := e.SoFar(track.HigherIsBetter); got >= 0 {
		t.Errorf("higher is better, and it is %v", got)
	}
	e.Runs = append(e.Runs, scene.Sample{Score: -1}, scene.Sample{Score: -2}, scene.Sample{Score: -3}, scene.Sample{Score: -4}, scene.Sample{Score: -5})
	if _, ok := e.SoFar(track.LowerIsBetter); ok {
		t.Error("a fraction of scores that are below zero")
	}
}

// TestTheSameTwice: events that a resumed round tells again change nothing.
func TestTheSameTwice(t *testing.T) {
	p := staged.Won()
	s := p.Scene()
	for _, e := range p.Events {
		if e.Ev == track.EvVerdict || e.Ev == track.EvMerged {
			s.Apply(e)
		}
	}
	data, _ := s.Chart()
	if len(s.Kept) != 1 || len(data.Points) != 2 {
		t.Errorf("%d kept, %d points", len(s.Kept), len(data.Points))
	}
}

// TestGone: a loop that wrote no end is taken for gone when its process is, and a
// new run is alive again.
func TestGone(t *testing.T) {
	s := staged.AtWork().Scene()
	s.Gone(s.Run.Last)
	if s.Live() || s.Working() != 0 || !s.Agents[0].Cut {
		t.Errorf("live %v, %d at work", s.Live(), s.Working())
	}
	s.Apply(staged.New().Start().Events[0])
	if !s.Live() {
		t.Error("the next run is not seen")
	}
}

func TestLines(t *testing.T) {
	s := staged.AtWork().Scene()
	a := s.Agents[0]
	s.Act(a, []track.Activity{
		{Kind: "text", Text: "one "},
		{Kind: "text", Text: "line\nand "},
		{Kind: "text", Text: "another"},
		{Kind: "thought", Text: "hm"},
		{Kind: "text", Text: "\n"},
		{Kind: "tool_start", Tool: "shell", Text: "rm -rf \x1b[31m/\nx"},
		{Kind: "tool_output", Text: "a\nb\n"},
		{Kind: "tool_output", Text: "c"},
		{Kind: "tool_end", Tool: "shell", Failed: true},
		{Kind: "permission", Tool: "net", Text: "example.org", Failed: true},
		{Kind: "of next year", Text: "?"},
	})
	var got []string
	for _, l := range a.Lines.Tail(99) {
		got = append(got, l.Text)
	}
	want := "one line|and another|hm||shell rm -rf / x|a|b|c|shell failed|not allowed: net example.org"
	if strings.Join(got, "|") != want {
		t.Errorf("%q, want %q", strings.Join(got, "|"), want)
	}
	if a.Tools != 1 || a.Doing != "" {
		t.Errorf("%d tools, doing %q", a.Tools, a.Doing)
	}
	s.Act(a, []track.Activity{{Kind: "text", Text: strings.Repeat("x", 1<<20)}})
	if n := len(a.Lines.Tail(1)[0].Text); n > 1000 {
		t.Errorf("a line of %d bytes is kept", n)
	}
}

// TestHostileEvents: texts of agents reach the scene without a control character,
// and damage in an event stops nothing.
func TestHostileEvents(t *testing.T) {
	evil := "\x1b[2J\x1b]0;x\x07\r\nnext\u202e"
	p := staged.New().Start().Open(1, 5)
	p.Tell(0, track.EvPlanReady, "x", track.PlanEvent{Planner: evil, PlanID: evil, Hypothesis: evil, Family: evil})
	p.Tell(0, track.EvAgentStarted, "x", track.AgentEvent{ID: evil, Role: evil, Backend: evil})
	p.Tell(0, track.EvCandidate, "x", track.CandidateEvent{Executor: evil, Files: []string{evil}, Reason: evil})
	p.Tell(0, track.EvWarning, "x", track.Note{Text: evil})
	s := p.Scene()
	for _, kind := range track.Kinds() {
		s.Apply(track.Event{TS: time.Now(), Ev: kind, Data: json.RawMessage(`{"score": "no number", "step`)})
		s.Apply(track.Event{TS: time.Now(), Ev: kind, Data: json.RawMessage(`null`)})
	}
	var all []string
	for _, e := range s.Entries {
		all = append(all, e.Executor, e.PlanID, e.Family, e.Hypothesis, e.Reason, strings.Join(e.Files, " "))
	}
	for _, a := range s.Agents {
		all = append(all, a.ID, a.Role, a.Backend)
	}
	for _, l := range s.Log.Tail(99) {
		all = append(all, l.Text)
	}
	for _, text := range all {
		if strings.ContainsAny(text, "\x1b\x07\r\n\u202e") {
			t.Errorf("%q", text)
		}
	}
}

func TestRing(t *testing.T) {
	r := scene.NewRing[int](3)
	for i := range 5 {
		r.Put(i)
	}
	if got := r.Tail(9); len(got) != 3 || got[0] != 2 || got[2] != 4 || r.Lost() != 2 || r.At(1) != 3 || len(r.Tail(-1)) != 0 {
		t.Errorf("%v, %d lost", got, r.Lost())
	}
}
