//go:build unix

package track

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestLockExcludes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "lock")
	lock, err := AcquireLock(path, Holder{PID: 42, Host: "night", StartedAt: testTime(), Command: "si run"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = AcquireLock(path, Holder{})
	var locked *LockedError
	if !errors.As(err, &locked) || locked.Holder.PID != 42 {
		t.Fatalf("got %v, want a LockedError of process 42", err)
	}
	if text := err.Error(); !strings.Contains(text, "process 42 on night (si run, since 2026-03-14T15:09:26Z)") {
		t.Errorf("the message is %q", text)
	}
	if h, held, err := LockHolder(path); err != nil || !held || h.Host != "night" {
		t.Errorf("holder %v %v %v, want held by night", h, held, err)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	if _, held, err := LockHolder(path); err != nil || held {
		t.Errorf("held %v %v after the release", held, err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the file is gone: %v", err)
	}
	again, err := AcquireLock(path, Holder{})
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Release(); err != nil {
		t.Fatal(err)
	}
}

// TestLockEndsWithProcess holds the lock in a child and kills it: what remains
// in the file must exclude nobody.
func TestLockEndsWithProcess(t *testing.T) {
	if path := os.Getenv("TRACK_TEST_LOCK"); path != "" {
		lock, err := AcquireLock(path, Holder{Command: "child"})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("held")
		_, _ = io.Copy(io.Discard, os.Stdin) // until the parent kills this process
		runtime.KeepAlive(lock)
		return
	}
	path := filepath.Join(t.TempDir(), "lock")
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestLockEndsWithProcess$")
	cmd.Env = append(os.Environ(), "TRACK_TEST_LOCK="+path)
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatalf("the child said %q", line)
	}
	var locked *LockedError
	if _, err := AcquireLock(path, Holder{}); !errors.As(err, &locked) || locked.Holder.PID != cmd.Process.Pid {
		t.Errorf("got %v, want a LockedError of process %d", err, cmd.Process.Pid)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed, which is an error
	lock, err := AcquireLock(path, Holder{})
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
}

func TestLockHostileFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	write(t, path, `{"pid":1,"host":"\u001b[31mred","command":"`+strings.Repeat("x", 500)+`"}`)
	f, err := openLock(path, os.O_RDWR)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() // opened for the test only
	text := (&LockedError{Path: path, Holder: readHolder(f)}).Error()
	if strings.ContainsRune(text, 0x1b) || len(text) > 500 || !strings.Contains(text, "process 1") {
		t.Errorf("the message is %q", text)
	}
	link := filepath.Join(t.TempDir(), "lock")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if _, err := AcquireLock(link, Holder{}); err == nil {
		t.Error("a link was locked and overwritten")
	}
}
