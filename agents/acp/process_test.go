package acp

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"si/agents"
	"si/internal/secret"
)

func TestAProgramThatDies(t *testing.T) {
	for _, tc := range []struct {
		mode string
		kind agents.FailureKind
		code int
		want string
	}{
		{"dies", agents.FailExit, 3, "exit code 3"},
		{"killed", agents.FailExit, 137, "SIGKILL"},
		{"leaves", agents.FailTruncated, 0, "before it had answered"},
	} {
		t.Run(tc.mode, func(t *testing.T) {
			s := newStage(t)
			_, err := s.run(t.Context(), t, tc.mode)
			f := wantFailure(t, err, tc.kind, tc.want)
			if f.Code != tc.code {
				t.Errorf("code %d", f.Code)
			}
			if tc.mode == "dies" && f.Said != "panic: out of memory "+secret.Hidden {
				t.Errorf("it said %q", f.Said)
			}
			if log := s.logged(t); strings.Contains(log, key) || !strings.Contains(log, "half of an an") {
				t.Errorf("log %s", log)
			}
		})
	}
}

func TestAProgramThatCannotBeStarted(t *testing.T) {
	s := newStage(t)
	s.o.Program = "no-such-agent-program"
	_, err := s.run(t.Context(), t, "works")
	wantFailure(t, err, agents.FailStart, "cannot be run", "no-such-agent-program", "install it")
	s = newStage(t)
	s.o.Program = " "
	_, err = s.run(t.Context(), t, "works")
	wantFailure(t, err, agents.FailStart, "no agent program is named")
}

func TestMemoryIsBoundedWhateverAProgramSends(t *testing.T) {
	for _, tc := range []struct{ mode, want string }{{"flood", "the end"}, {"huge line", "after it"}} {
		t.Run(tc.mode, func(t *testing.T) {
			s := newStage(t)
			s.task.Watch = nil
			var peak uint64
			n := 0
			s.task.Watch = func(e agents.Event) {
				if n++; n%256 == 0 {
					var m runtime.MemStats
					runtime.ReadMemStats(&m)
					peak = max(peak, m.HeapAlloc)
				}
			}
			began := time.Now()
			answer, err := s.run(t.Context(), t, tc.mode)
			if err != nil || !strings.HasSuffix(answer.Text, tc.want) || len(answer.Text) > maxAnswer {
				t.Errorf("answer of %d bytes, %v", len(answer.Text), err)
			}
			if peak > 60<<20 {
				t.Errorf("peak %d MB", peak>>20)
			}
			if info, err := os.Stat(s.task.Log); err != nil || info.Size() > maxTranscript+1000 {
				t.Errorf("log %v, %v", info, err)
			}
			t.Logf("%d events, peak %d MB, %.1f s", n, peak>>20, time.Since(began).Seconds())
		})
	}
}

func TestAProgramThatDoesNotEndAfterItsTurnIsEnded(t *testing.T) {
	s := newStage(t)
	s.clock.quick[closeGrace] = true
	answer, err := s.run(t.Context(), t, "no end")
	if err != nil || answer.Text != "done, and still here" {
		t.Errorf("answer %q, %v", answer.Text, err)
	}
}

func TestAChildInASessionOfItsOwnIsEnded(t *testing.T) {
	s := newStage(t)
	answer, err := s.run(t.Context(), t, "child")
	if err != nil || answer.Text != "I left something running." {
		t.Errorf("answer %q, %v", answer.Text, err)
	}
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if text, err := os.ReadFile(f); err == nil && strings.Contains(string(text), sleeps) {
			t.Errorf("left behind: %s %q", f, text)
		}
	}
}

func TestLimitsOfTimeEndAProgramThatIgnoresCancel(t *testing.T) {
	for _, tc := range []struct {
		name string
		pass time.Duration
		kind agents.FailureKind
		want string
	}{
		{"wall", time.Hour, agents.FailTimeout, "limit of 1h0m0s"},
		{"idle", 15 * time.Minute, agents.FailIdle, "15m0s without output"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newStage(t)
			if tc.name == "wall" {
				s.task.Idle = 0
			}
			s.clock.quick[cancelGrace], s.clock.quick[closeGrace] = true, true
			s.on = func(e agents.Event) {
				if e.Kind == agents.EventText {
					s.clock.pass(tc.pass)
				}
			}
			_, err := s.run(t.Context(), t, "ignores cancel")
			wantFailure(t, err, tc.kind, tc.want)
		})
	}
}

func TestACancelledTaskIsNoFailure(t *testing.T) {
	s := newStage(t)
	s.clock.quick[cancelGrace], s.clock.quick[closeGrace] = true, true
	ctx, cancel := context.WithCancel(t.Context())
	s.on = func(e agents.Event) {
		if e.Kind == agents.EventText {
			cancel()
		}
	}
	_, err := s.run(ctx, t, "ignores cancel")
	if !errors.Is(err, context.Canceled) || agents.KindOf(err) != "" {
		t.Errorf("error %v", err)
	}
}
