package skills

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"si/internal/durable"
)

// TestMain makes the test binary a process to kill, when it is asked to be one.
func TestMain(m *testing.M) {
	if base := os.Getenv("SKILLS_DOOMED"); base != "" {
		syscall.Exit(doomed(base))
	}
	os.Exit(m.Run())
}

func crashTime() time.Time { return time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC) }

// doomed does one thing and kills itself at the n-th write: DOOM_AT is "before 3".
func doomed(base string) int {
	n, number := 0, map[string]int{} // a write can hold others
	reach := func(when string) func(durable.Op, string) {
		return func(op durable.Op, path string) {
			key := string(op) + path
			if when == "before" {
				n++
				number[key] = n
				fmt.Println(op, strings.TrimPrefix(path, base))
			}
			if os.Getenv("DOOM_AT") == fmt.Sprintf("%s %d", when, number[key]) {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
		}
	}
	if err := limitRoom(os.Getenv("DOOM_ROOM")); err != nil {
		fmt.Println(err)
		return 1
	}
	store := &durable.Store{Hooks: durable.Hooks{Before: reach("before"), After: reach("after")}}
	l, err := Open(Options{Base: base, Store: store, Now: crashTime})
	if err == nil {
		err = doomedDoes(l, os.Getenv("DOOM_DO"))
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// limitRoom makes every file that would be larger than room bytes fail to grow.
func limitRoom(room string) error {
	if room == "" {
		return nil
	}
	n, err := strconv.ParseUint(room, 10, 64)
	if err != nil {
		return err
	}
	signal.Ignore(syscall.SIGXFSZ) // the write fails then, as on a full disk
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: n, Max: n})
}

func doomedDoes(l *Library, do string) error {
	ctx, c := context.Background(), NewCurator(l, Aging{})
	text := "text"
	var err error
	switch do {
	case "pass":
		_, err = c.Run(ctx)
	case "rollback":
		_, _, err = c.Rollback(ctx, "")
	case "merge":
		err = l.Accept(ctx, "P-000001")
	case "create":
		err = l.Create(ctx, "new", ByAgent, Fields{Description: &text, Body: &text})
	case "delete":
		err = l.Delete(ctx, "a", false)
	case "erase":
		err = l.Delete(ctx, "a", true)
	}
	return err
}

// crashLibrary is a library in which a pass has something of every kind to do.
func crashLibrary(t *testing.T) string {
	t.Helper()
	w := newWorld(t)
	w.time = crashTime().Add(-200 * 24 * time.Hour)
	for _, name := range []string{"a", "b", "c"} {
		w.create(name, ByAgent)
	}
	w.write("base/skills/c/scripts/run.sh", "echo")
	w.days(40)
	w.pass()
	w.create("d", ByAgent)
	w.use("b")
	w.time = crashTime().Add(-time.Hour)
	w.create("e", ByUser)
	_, err := w.backup()
	w.must(err)
	return w.base
}

// TestKilled kills a process before and after each of its writes. What then stands
// on the disk is the old library or the new one, byte for byte, before anybody mends
// anything, and it is the same for the next start, which leaves nothing lying about.
func TestKilled(t *testing.T) {
	for _, tc := range []struct {
		do     string
		fewest int // writes
		atomic bool
	}{
		{"pass", 10, true},
		{"rollback", 5, true},
		{"merge", 8, true},
		{"create", 3, false},
		{"delete", 2, false},
		{"erase", 3, false},
	} {
		t.Run(tc.do, func(t *testing.T) {
			start := crashLibrary(t)
			prepare(t, tc.do, start)
			before := library(t, start)
			end := copied(t, start)
			out, err := runDoomed(end, tc.do, "")
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			after := library(t, end)
			if before == after {
				t.Fatal("it changed nothing")
			}
			points := strings.Count(out, "\n")
			if points < tc.fewest {
				t.Fatalf("%d writes, there were %d:\n%s", points, tc.fewest, out)
			}
			for n := 1; n <= points; n++ {
				for _, when := range []string{"before", "after"} {
					at := fmt.Sprintf("%s %d", when, n)
					base := copied(t, start)
					checkKilled(t, base, tc.do, at, before, after, tc.atomic)
				}
			}
		})
	}
}

func checkKilled(t *testing.T, base, do, at, before, after string, atomic bool) {
	t.Helper()
	out, err := runDoomed(base, do, at)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != -1 {
		t.Errorf("%s: it was not killed: %v\n%s", at, err, out)
		return
	}
	if got := library(t, base); atomic && got != before && got != after {
		t.Errorf("%s: neither old nor new stands:\n%s", at, got)
	}
	// A change of one skill is two writes: the skill, and its counters.
	if got := skillsOnly(library(t, base)); got != skillsOnly(before) && got != skillsOnly(after) {
		t.Errorf("%s: neither the old skills nor the new ones:\n%s", at, got)
	}
	l, err := Open(Options{Base: base, Now: crashTime}) // the next start
	if err == nil {
		_, err = l.List()
	}
	if err != nil {
		t.Fatalf("%s: the next start: %v", at, err)
	}
	if _, err := os.Lstat(filepath.Join(base, swapFile)); err == nil {
		t.Errorf("%s: the next start left the swap open", at)
	}
	err = doomedDoes(l, do) // what is done already is refused, and stands
	if got := skillsOnly(library(t, base)); got != skillsOnly(after) {
		t.Errorf("%s: once more: %v\n%s", at, err, got)
	}
	left, err := filepath.Glob(filepath.Join(base, nextPrefix+"*"))
	if err != nil || len(left) > 0 {
		t.Errorf("%s: left lying about: %v %v", at, left, err)
	}
	if err := os.RemoveAll(base); err != nil {
		t.Error(err)
	}
}

func prepare(t *testing.T, do, base string) {
	t.Helper()
	l, err := Open(Options{Base: base, Now: crashTime})
	if err == nil && do == "rollback" {
		err = l.Delete(t.Context(), "e", true)
	}
	if err == nil && do == "merge" {
		_, err = l.Propose(t.Context(), Proposal{Kind: KindMerge, Name: "ab", Replaces: []string{"a", "b"}, Fields: Fields{Description: ptr("both"), Body: ptr("both")}})
	}
	if err != nil {
		t.Fatal(err)
	}
}

func runDoomed(base, do, at string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), "SKILLS_DOOMED="+base, "DOOM_DO="+do, "DOOM_AT="+at)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func copied(t *testing.T, base string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "base")
	if err := os.CopyFS(to, os.DirFS(base)); err != nil {
		t.Fatal(err)
	}
	return to
}

// library is every file of the managed root with its content. The marker of a swap
// is none of the library.
func library(t *testing.T, base string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(filepath.Join(base, "skills"), func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() == markerFile {
			return err
		}
		data, err := os.ReadFile(p)
		if len(data) > 10<<10 {
			data = fmt.Appendf(nil, "%x", sha256.Sum256(data))
		}
		fmt.Fprintf(&out, "%s: %q\n", strings.TrimPrefix(p, base), data)
		return err
	})
	if err != nil {
		return "no library: " + err.Error()
	}
	return out.String()
}

// skillsOnly leaves out the counters and what is half made.
func skillsOnly(library string) string {
	var out []string
	for _, line := range strings.Split(library, "\n") {
		if !strings.Contains(line, telemetryFile) && !strings.Contains(line, ".si-") {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}
