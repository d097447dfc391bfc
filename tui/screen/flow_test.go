package screen

import (
	"context"
	"errors"
	"os"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"si/tui"
	"si/tui/feed"
	"si/tui/staged"
)

// TestWatchAndSteer goes through an evening: the loop works, is steered, and ends.
func TestWatchAndSteer(t *testing.T) {
	s := newStage(t, 160, 48, nil, nil)
	s.sees("waiting for the loop")
	s.feed.tell(staged.AtWork(), staged.Facts())
	s.sees("3 executors at work")
	s.sees("executor_b")

	s.types("\t\tx") // the second agent
	s.sees("Veto executor_b?")
	s.types("y")
	s.sees("asked: it takes effect")
	s.types("s")
	s.sees("End executor_b")
	s.types("n")
	s.misses("End executor_b")
	s.types("p")
	s.wishes(2)
	s.types("i")
	s.sees("An idea for the planners")
	s.types("Try SIMD\r\nin two places\x04")
	got := s.wishes(3)
	want := []tui.Wish{
		{Act: tui.ActVeto, Target: "executor_b"}, {Act: tui.ActPause}, {Act: tui.ActIdea, Text: "Try SIMD\n\nin two places"},
	}
	got[2].Text = strings.ReplaceAll(got[2].Text, "\r", "")
	if want[2].Text = got[2].Text; !strings.HasPrefix(got[2].Text, "Try SIMD\n") || !reflect.DeepEqual(got, want) {
		t.Errorf("asked for %+v, want %+v", got, want)
	}

	rest := &staged.Play{Events: staged.Ended().Events[len(staged.AtWork().Events):], At: staged.Ended().At}
	s.feed.tell(rest, staged.Facts())
	s.sees("stopped by the user")
	s.sees("measured afresh")
	s.types("q") // there is nothing to ask
	if left := s.leaves(); left != AtEnd {
		t.Errorf("left as %d", left)
	}
}

func TestWaysToQuit(t *testing.T) {
	for name, tc := range map[string]struct {
		keys string
		want []tui.Wish
		ends bool
	}{
		"leave it running":         {"ql", nil, true},
		"the first is leaving":     {"q\r", nil, true},
		"stop after the step":      {"qs", []tui.Wish{{Act: tui.ActStop, When: "step"}}, false},
		"stop now":                 {"qn", []tui.Wish{{Act: tui.ActStop, When: "now"}}, false},
		"chosen with the arrows":   {"qjj\r", []tui.Wish{{Act: tui.ActStop, When: "now"}}, false},
		"interrupted twice":        {"\x03\x03", []tui.Wish{{Act: tui.ActStop, When: "step"}}, false},
		"thought better of it":     {"qqp", []tui.Wish{{Act: tui.ActPause}}, false},
		"a key of another meaning": {"qxqp", []tui.Wish{{Act: tui.ActPause}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, 100, 30, staged.AtWork(), nil)
			s.sees("3 executors at work")
			for _, k := range tc.keys {
				s.types(string(k))
			}
			if tc.ends {
				if left := s.leaves(); left != Running || len(s.asked.all()) > 0 {
					t.Errorf("left as %d, asked for %v", left, s.asked.all())
				}
				return
			}
			if got := s.wishes(len(tc.want)); !reflect.DeepEqual(got, tc.want) {
				t.Errorf("asked for %v, want %v", got, tc.want)
			}
		})
	}
}

// TestSignals: a terminal that closes leaves the loop running; the others stop it
// when it is this terminal's own, and end the watching when it is not.
func TestSignals(t *testing.T) {
	loop := make(chan struct{})
	for name, tc := range map[string]struct {
		signal os.Signal
		loop   chan struct{}
		want   []tui.Wish
	}{
		"hangup of its own loop":  {syscall.SIGHUP, loop, nil},
		"term of its own loop":    {syscall.SIGTERM, loop, []tui.Wish{{Act: tui.ActStop, When: "step"}}},
		"term of another's loop":  {syscall.SIGTERM, nil, nil},
		"interrupt of another's":  {os.Interrupt, nil, nil},
		"interrupt of its own":    {os.Interrupt, loop, []tui.Wish{{Act: tui.ActStop, When: "step"}}},
		"hangup of another's one": {syscall.SIGHUP, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, 80, 24, staged.AtWork(), func(o *Options) {
				if tc.loop != nil {
					o.Loop = tc.loop
				}
			})
			s.sees("3 executors at work")
			s.p.Send(signalMsg{tc.signal})
			if tc.want == nil {
				if s.leaves() != Running {
					t.Errorf("left as %d", s.m.Left())
				}
				return
			}
			if got := s.wishes(1); !reflect.DeepEqual(got, tc.want) {
				t.Errorf("asked for %v, want %v", got, tc.want)
			}
		})
	}
}

// TestTheLoopIsGone: a loop that was killed writes nothing; the screen says so, and
// not of one that is only about to begin.
func TestTheLoopIsGone(t *testing.T) {
	s := newStage(t, 100, 30, staged.AtWork(), nil)
	s.sees("3 executors at work")
	s.feed.die()
	s.sees("killed, or crashed")
	s.types("q")
	if s.leaves() != AtEnd {
		t.Errorf("left as %d", s.m.Left())
	}
}

// TestQuitBeforeTheProcessHasEnded: behind the last event of a run there is nothing
// to ask, though its process still puts things away; of a loop that has not begun
// there is, though the run of yesterday has ended.
func TestQuitBeforeTheProcessHasEnded(t *testing.T) {
	s := newStage(t, 100, 30, staged.Ended(), func(o *Options) { o.Loop, o.Since = make(chan struct{}), staged.Begin() })
	s.sees("summary")
	s.types("q")
	if s.leaves() != AtEnd {
		t.Errorf("left as %d", s.m.Left())
	}
	s = newStage(t, 100, 30, staged.Ended(), func(o *Options) { o.Loop, o.Since = make(chan struct{}), staged.Begin().Add(time.Hour) })
	s.sees("stopped by the user")
	s.types("q")
	s.sees("leave it running")
}

// TestALoopThatNeverBegan: one that refuses to run ends the screen, which would
// otherwise show the run of yesterday.
func TestALoopThatNeverBegan(t *testing.T) {
	loop := make(chan struct{})
	close(loop)
	s := newStage(t, 100, 30, staged.Ended(), func(o *Options) { o.Loop, o.Since = loop, staged.Begin().Add(time.Hour) })
	s.feed.die()
	if s.leaves() != AtEnd {
		t.Errorf("left as %d", s.m.Left())
	}
}

func TestZoomAndSearch(t *testing.T) {
	s := newStage(t, 80, 24, staged.InDuel(), func(o *Options) {
		o.Diff = func(_ context.Context, from, to string) ([]byte, error) {
			if from != strings.Repeat("0", 39)+"2" {
				return nil, errors.New("the wrong base")
			}
			return []byte("diff --git a/x b/x\n@@ -1 +1 @@\n-old of " + to[:8] + "\n+new\n"), nil
		}
	})
	s.sees("duels the champion")
	s.types("\t\r")
	s.sees("-old of 00000001")
	s.types("/new\r")
	s.misses("/new")
	s.types("/nothing\r")
	s.sees("nowhere in it")
	s.types("\x1b")
	s.sees("candidates of round 2")
	s.types("l")
	s.sees("following the end")
	s.types("g")
	s.sees("si 0.1.0 improves")
	s.types("q") // back, and not out
	s.sees("candidates of round 2")
}

func TestAWishThatFails(t *testing.T) {
	s := newStage(t, 100, 30, staged.AtWork(), nil)
	s.asked.fail = true
	s.sees("3 executors at work")
	s.types("p")
	s.sees("the disk is full")
}

// TestResizeStorm: sizes that change quicker than frames are drawn, and a terminal
// that is too small in between.
func TestResizeStorm(t *testing.T) {
	s := newStage(t, 80, 24, staged.InDuel(), nil)
	s.sees("duels the champion")
	for i := range 50 {
		s.p.Send(tea.WindowSizeMsg{Width: 1 + i*37%200, Height: 1 + i*13%60})
	}
	s.p.Send(tea.WindowSizeMsg{Width: 20, Height: 5})
	s.emu.Resize(20, 5)
	s.sees("si needs")
	s.types("x") // asks nothing of anybody
	s.p.Send(tea.WindowSizeMsg{Width: 80, Height: 24})
	s.emu.Resize(80, 24)
	s.sees("duels the champion")
	if got := s.asked.all(); len(got) > 0 {
		t.Errorf("asked for %v", got)
	}
	s.p.Send(tea.WindowSizeMsg{Width: 20, Height: 5})
	s.types("q")
	if s.leaves() != Running {
		t.Errorf("left as %d", s.m.Left())
	}
}

// TestAPanicEndsTheScreen: one in a command of ours must not leave the program
// without a terminal.
func TestAPanicEndsTheScreen(t *testing.T) {
	s := newStage(t, 80, 24, staged.InDuel(), func(o *Options) {
		o.Diff = func(context.Context, string, string) ([]byte, error) { panic("a bug") }
	})
	select {
	case err := <-s.done:
		s.done <- err
		if err != nil || s.m.err == nil || !strings.Contains(s.m.err.Error(), "a bug") {
			t.Errorf("it ended with %v, %v", err, s.m.err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the screen goes on")
	}
	if s.emu.IsAltScreen() {
		t.Error("the alternate screen is still there")
	}
}

var _ feed.Feed = (*script)(nil)
