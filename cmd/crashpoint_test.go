package cmd_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"

	"si/internal/durable"
)

// A crash point is one durable write of a run, named by where in the code it is
// asked for, what kind of document it writes, and whether that is in the first
// round: "loop.(*round).save state/iteration_state.json first".

// killHooks reads DOOM_ROUND, the round in which the run begins; DOOM_TRACE, a file that receives a line for each point as it
// is reached; DOOM_AT, lines of "before|after <n> <point>": the n-th time that the
// point is reached the process kills itself, before or after the write; and DOOM_NOTE, a file that is told
// the round and the line at which it did.
func killHooks() durable.Hooks {
	k := &killer{
		seen: map[string]int{}, under: map[string]string{}, at: strings.Split(os.Getenv("DOOM_AT"), "\n"),
		round: os.Getenv("DOOM_ROUND"), trace: os.Getenv("DOOM_TRACE"), note: os.Getenv("DOOM_NOTE"),
	}
	return durable.Hooks{
		Before: func(op durable.Op, path string) { k.reached("before", op, path) },
		After:  func(op durable.Op, path string) { k.reached("after", op, path) },
	}
}

type killer struct {
	mu    sync.Mutex
	seen  map[string]int
	under map[string]string // the name of the point that is being written, by path
	round string
	at    []string
	trace string
	note  string
}

func (k *killer) reached(when string, op durable.Op, path string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if m := roundIn.FindStringSubmatch(path); m != nil {
		k.round = m[1]
	}
	class := "later"
	if k.round == "" || k.round == "1" {
		class = "first"
	}
	if when == "before" {
		point := fmt.Sprintf("%s %s %s %s", callSite(), op, kindOf(path), class)
		k.seen[point]++
		k.under[path] = fmt.Sprintf("%d %s", k.seen[point], point)
	}
	name := k.under[path] // not counted anew: another agent may have reached the point since
	if k.trace != "" && when == "before" {
		f, err := os.OpenFile(k.trace, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err == nil {
			_, _ = fmt.Fprintln(f, name)
			_ = f.Close()
		}
	}
	if at := when + " " + name; slices.Contains(k.at, at) {
		if k.note != "" {
			_ = os.WriteFile(k.note, []byte(k.round+"\n"+at), 0o644)
		}
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}

var (
	roundIn = regexp.MustCompile(`round_(\d+)`)
	numbers = regexp.MustCompile(`\d+`)
	letter  = regexp.MustCompile(`(planner|executor)_[a-z]+`)
)

// kindOf names the document: its path in the track without numbers and letters.
func kindOf(path string) string {
	kind := filepath.ToSlash(path)
	if _, below, ok := strings.Cut(kind, "/.omc/"); ok {
		kind = strings.TrimPrefix(below, "self-improve/topics/default/")
	}
	return letter.ReplaceAllString(numbers.ReplaceAllString(kind, "N"), "${1}_X")
}

// callSite is the function of loop that asked for the write.
func callSite() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	for {
		f, more := frames.Next()
		if strings.HasPrefix(f.Function, "si/loop.") && !strings.Contains(f.Function, "emitter") &&
			!strings.HasSuffix(f.Function, ".emit") && !strings.HasSuffix(f.Function, ".save") {
			name := strings.TrimPrefix(f.Function, "si/")
			name, _, _ = strings.Cut(name, ".func")
			return name
		}
		if !more {
			return "other"
		}
	}
}
