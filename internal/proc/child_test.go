package proc

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// The test binary is also the supervisor, and the children of the tests: with
// childArg, a mode and the mode's arguments.
const childArg = "__proc_test_child"

func TestMain(m *testing.M) {
	if code, was := Supervise(os.Args); was {
		os.Exit(code)
	}
	if len(os.Args) > 2 && os.Args[1] == childArg {
		syscall.Exit(childMode(os.Args[2], os.Args[3:])) // os.Exit would wait a second for the race detector
	}
	flag.Parse()
	_ = flag.Set("test.parallel", "8") // they wait more than they compute
	goleak.VerifyTestMain(m)
}

// childMode is what the children do. Their last argument is a token by which a
// test finds them in the process table even without an environment.
func childMode(mode string, args []string) int {
	switch mode {
	case "exit":
		code, _ := strconv.Atoi(args[0])
		return code
	case "env":
		for _, e := range os.Environ() {
			fmt.Println(e)
		}
	case "print": // stdout, then stderr
		fmt.Print(args[0])
		fmt.Fprint(os.Stderr, args[1])
	case "dir":
		dir, _ := os.Getwd()
		fmt.Println(dir)
	case "die":
		sig, _ := strconv.Atoi(args[0])
		_ = syscall.Kill(os.Getpid(), syscall.Signal(sig))
		waitForSignal()
	case "count": // reads stdin
		n, err := io.Copy(io.Discard, os.Stdin)
		fmt.Println(n, err)
	case "flood":
		n, _ := strconv.Atoi(args[0])
		flood(n, args[1])
	case "burn":
		var u syscall.Rusage
		for x := 1; u.Utime.Nano() < int64(150*time.Millisecond) && x != 0; {
			for range 1_000_000 { // a loop of calls would spend the kernel's time
				x = x*1664525 | 1
			}
			_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
		}
	case "wait": // ends on TERM
		fmt.Println("ready")
		waitForSignal()
	case "linger": // does not
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
		fmt.Println("ready")
		waitForSignal()
	case "tick": // writes for ever
		for t := time.NewTicker(10 * time.Millisecond); ; <-t.C {
			fmt.Println("tick")
		}
	default:
		return treeMode(mode, args)
	}
	return 0
}

func treeMode(mode string, args []string) int {
	switch mode {
	case "daemon": // twice forked, own session, no files, no environment
		return spawn(&os.ProcAttr{Env: []string{}, Sys: &syscall.SysProcAttr{Setsid: true}}, "fork", args[0])
	case "fork":
		return spawn(&os.ProcAttr{Env: []string{}, Sys: &syscall.SysProcAttr{Setsid: true}}, "linger", args[0])
	case "holder": // exits, and leaves one in its own session that holds the pipe
		return spawn(&os.ProcAttr{Files: files(), Sys: &syscall.SysProcAttr{Setsid: true}}, "linger", args[0])
	case "nursery": // stays, with such a one and a daemon
		spawn(&os.ProcAttr{Files: files(), Sys: &syscall.SysProcAttr{Setsid: true}}, "linger", args[0])
		spawn(&os.ProcAttr{Env: []string{}, Sys: &syscall.SysProcAttr{Setsid: true}}, "fork", args[0])
		return childMode("linger", args)
	case "background": // exits 0 and leaves one in its group
		return spawn(&os.ProcAttr{Files: []*os.File{nil, nil, nil}}, "linger", args[0])
	case "patricide": // does to its supervisor what args[0] says, and stays
		sig, _ := strconv.Atoi(args[0])
		signal.Ignore(syscall.SIGTERM)
		spawn(&os.ProcAttr{Files: files()}, "linger", args[1])
		stdout := fmt.Sprintf("/proc/%d/fd/1", os.Getppid()) // given up when it has said that this runs
		for to, err := os.Readlink(stdout); err == nil && to != os.DevNull; to, err = os.Readlink(stdout) {
			runtime.Gosched()
		}
		_ = syscall.Kill(os.Getppid(), syscall.Signal(sig))
		return childMode("linger", args[1:])
	case "runner": // is a program that runs a child, to be killed
		runner(args[0], args[1], args[2])
		return 0
	}
	fmt.Fprintln(os.Stderr, "no such mode:", mode)
	return 99
}

func files() []*os.File { return []*os.File{os.Stdin, os.Stdout, os.Stderr} }

func spawn(attr *os.ProcAttr, mode, token string) int {
	if attr.Env == nil {
		attr.Env = os.Environ()
	}
	if _, err := os.StartProcess("/proc/self/exe", []string{"child", childArg, mode, token}, attr); err != nil {
		fmt.Println("spawn:", err)
		return 98
	}
	return 0
}

// runner runs a nursery and says ready when three lingerers have said so; the
// daemon has no files and is awaited by the test.
func runner(mark, registry, token string) {
	self, _ := os.Executable()
	l := New(Options{Self: self, Mark: mark, Registry: registry})
	_, err := l.Run(context.Background(), Command{
		Path: self, Args: []string{childArg, "nursery", token}, Env: []string{atOnce}, Supervised: true,
		Stdout: Output{Line: func(line []byte) { fmt.Println(string(line)) }},
	})
	fmt.Println("run ended:", err)
}

func waitForSignal() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGUSR2)
	<-c
}

// flood writes n bytes; unit "line" makes lines of 100 bytes, "one" a single one.
func flood(n int, unit string) {
	chunk := bytes.Repeat([]byte("x"), 64<<10)
	if unit == "line" {
		chunk = bytes.Repeat([]byte(strings.Repeat("y", 99)+"\n"), 1000)
	}
	for n > 0 {
		k, err := os.Stdout.Write(chunk[:min(n, len(chunk))])
		if err != nil {
			os.Exit(97)
		}
		n -= k
	}
}
