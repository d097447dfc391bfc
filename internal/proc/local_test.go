package proc

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestExitCodesAndSignals(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, b *bench, supervised bool) {
		t.Helper()
		for _, tc := range []struct {
			mode, arg string
			outcome   Outcome
			code      int
			signal    string
		}{
			{"exit", "0", Exited, 0, ""},
			{"exit", "3", Exited, 3, ""},
			{"exit", "255", Exited, 255, ""},
			{"die", "9", Signaled, 137, "SIGKILL"},
			{"die", "15", Signaled, 143, "SIGTERM"},
		} {
			c := b.child(tc.mode, tc.arg)
			c.Supervised = supervised
			res := b.run(t, c)
			if res.Outcome != tc.outcome || res.Code != tc.code || res.Signal != tc.signal {
				t.Errorf("%s %s: got %s %d %q, want %s %d %q", tc.mode, tc.arg, res.Outcome, res.Code, res.Signal, tc.outcome, tc.code, tc.signal)
			}
			if len(res.Warnings) > 0 || res.Swept != 0 {
				t.Errorf("%s %s: warnings %q, %d swept", tc.mode, tc.arg, res.Warnings, res.Swept)
			}
		}
		if left, _ := os.ReadDir(b.registry); len(left) > 0 {
			t.Errorf("the registry still names %v", left)
		}
	})
}

func TestEnvironmentIsExact(t *testing.T) {
	t.Setenv("PROC_TEST_SECRET", "must not be seen")
	for _, supervised := range []bool{true, false} {
		b := newBench(t)
		c := b.child("env")
		c.Supervised = supervised
		c.Env = []string{"A=1", "B=x y\nz", "A=2", "SI_RUN=forged", "EMPTY="}
		got := strings.Split(strings.TrimSpace(string(b.run(t, c).Stdout.Head)), "\n")
		want := []string{"B=x y", "z", "A=2", "EMPTY=", atOnce, "SI_RUN=" + b.token}
		if !slices.Equal(got, want) {
			t.Errorf("supervised %v: got %q, want %q", supervised, got, want)
		}
	}
}

func TestFolder(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, b *bench, supervised bool) {
		t.Helper()
		c := b.child("dir")
		c.Supervised, c.Dir = supervised, t.TempDir()
		want, err := filepath.EvalSymlinks(c.Dir)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(string(b.run(t, c).Stdout.Head)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

func TestUsage(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, b *bench, supervised bool) {
		t.Helper()
		c := b.child("burn")
		c.Supervised = supervised
		res := b.run(t, c)
		if res.CPU < 150*time.Millisecond || res.CPU > 5*time.Second {
			t.Errorf("CPU %v for 150 ms of work", res.CPU)
		}
		if res.MaxRSS < 1<<20 || res.MaxRSS > 1<<30 {
			t.Errorf("MaxRSS %d", res.MaxRSS)
		}
		if res.Wall < 50*time.Millisecond {
			t.Errorf("wall %v", res.Wall)
		}
	})
}

func TestCannotStart(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	dir := t.TempDir()
	script := filepath.Join(dir, "script")
	if err := os.WriteFile(script, []byte("#!/no/such/interpreter\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "tool"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	rel := relative(t, dir)
	for name, tc := range map[string]struct {
		c    Command
		want string
		is   error
	}{
		"not in PATH":            {Command{Path: "no-such-tool", Env: []string{"PATH=/bin:/usr/bin"}}, "/bin:/usr/bin", fs.ErrNotExist},
		"relative PATH":          {Command{Path: "tool", Dir: dir, Env: []string{"PATH=.::" + rel}}, "none of the folders", fs.ErrNotExist},
		"no such file":           {Command{Path: "/no/such/tool"}, "/no/such/tool", fs.ErrNotExist},
		"not executable":         {Command{Path: plain}, "cannot be executed", fs.ErrPermission},
		"no folder":              {Command{Path: b.self, Dir: dir + "/none"}, "enter its folder", fs.ErrNotExist},
		"folder is a file":       {Command{Path: b.self, Dir: plain}, "is not a folder", nil},
		"nothing":                {Command{}, "no program", nil},
		"interpreter":            {Command{Path: script}, script, fs.ErrNotExist},
		"interpreter supervised": {Command{Path: script, Supervised: true}, script, fs.ErrNotExist},
		"NUL in an argument":     {Command{Path: b.self, Args: []string{"a\x00b"}}, "invalid argument", syscall.EINVAL},
		"output is a folder":     {Command{Path: b.self, Stdout: Output{File: dir}}, "no regular file", nil},
		"one file, two streams":  {Command{Path: b.self, Stdout: Output{File: plain}, Stderr: Output{File: plain}}, "set Merge", nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := b.Run(context.Background(), tc.c)
			if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.HasPrefix(err.Error(), "start ") {
				t.Fatalf("got %v, want an error about %q", err, tc.want)
			}
			if tc.is != nil && !errors.Is(err, tc.is) {
				t.Errorf("%v is not %v", err, tc.is)
			}
		})
	}
	b.noneLeft(t)
}

// relative is dir as seen from the folder that the test runs in.
func relative(t *testing.T, dir string) string {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	rel, err := filepath.Rel(here, dir)
	if err != nil {
		t.Fatal(err)
	}
	return rel
}

func TestSupervisedNeedsASupervisor(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.child("exit", "0")
	c.Supervised = true
	if _, err := New(Options{}).Run(context.Background(), c); err == nil || !strings.Contains(err.Error(), "no supervisor") {
		t.Errorf("without Self: %v", err)
	}
	if _, err := New(Options{Self: "/bin/true"}).Run(context.Background(), c); err == nil || !strings.Contains(err.Error(), "no answer") {
		t.Errorf("with another program as Self: %v", err)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, b *bench, supervised bool) {
		t.Helper()
		wait, linger, tick := b.child("wait"), b.child("linger"), b.child("tick")
		wait.Wall, linger.Idle, tick.Wall = 400*time.Millisecond, 400*time.Millisecond, 800*time.Millisecond
		tick.Idle = 600 * time.Millisecond // longer than a tick, shorter than the run
		for name, tc := range map[string]struct {
			c       Command
			outcome Outcome
			signal  string
		}{
			"wall, ends on TERM":  {wait, TimedOut, "SIGTERM"},
			"idle, ignores TERM":  {linger, IdledOut, "SIGKILL"},
			"output is no idling": {tick, TimedOut, "SIGTERM"},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				tc.c.Supervised, tc.c.Grace = supervised, 500*time.Millisecond
				took(t, 20*time.Second, func() {
					res := b.run(t, tc.c)
					if res.Outcome != tc.outcome || res.Signal != tc.signal {
						t.Errorf("got %s by %s, want %s by %s", res.Outcome, res.Signal, tc.outcome, tc.signal)
					}
				})
			})
		}
	})
}

func TestCancel(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, b *bench, supervised bool) {
		t.Helper()
		ctx, cancel := context.WithCancel(context.Background())
		c := b.child("wait")
		c.Supervised = supervised
		c.Stdout.Line = func([]byte) { cancel() }
		res, err := b.Run(ctx, c)
		if err != nil || res.Outcome != Cancelled || res.Code != 143 {
			t.Errorf("got %s %d, %v", res.Outcome, res.Code, err)
		}
		b.noneLeft(t)
		if res, err := b.Run(ctx, c); err != nil || res.Outcome != Cancelled || res.Code != -1 {
			t.Errorf("cancelled before the start: got %s %d, %v", res.Outcome, res.Code, err)
		}
	})
}
