// Package slurmtest starts a real Slurm on this machine for a test: a
// controller and several virtual nodes, in a folder and on ports of their own.
// It promises to stop what it started when the test ends. Without root, or
// without Debian's slurm-wlm and munge, the test is skipped and says why.
package slurmtest

import (
	"context"
	_ "embed" // the script
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"si/internal/proc"
)

//go:embed slurm.sh
var script string

// Variable has to be set for Start to start anything: it takes seconds, needs
// root, and belongs to "make test-slurm".
const Variable = "SI_SLURM"

// Cluster is a Slurm that runs.
type Cluster struct {
	Nodes []string // names; two jobs that want a whole one run on different ones
	Env   []string // environment for Slurm's programs
	dir   string
	run   proc.Runner
}

// The partitions of a Cluster: Long has no limit, Short one of a minute.
const (
	Long  = "bench"
	Short = "short"
)

// Start starts a cluster for the test, or skips the test with the reason.
func Start(tb testing.TB, nodes int) *Cluster {
	tb.Helper()
	if os.Getenv(Variable) == "" {
		tb.Skip("a real Slurm is started by make test-slurm only")
	}
	dir, err := os.MkdirTemp("", "si-slurm-") // not the test's own folder: the path must be short, for sockets, and without blanks
	if err != nil {
		tb.Fatal(err)
	}
	c := &Cluster{dir: filepath.Join(dir, "c"), run: proc.New(proc.Options{Mark: "slurmtest"})}
	c.Env = []string{"PATH=" + os.Getenv("PATH") + ":/usr/sbin:/sbin", "SLURM_CONF=" + filepath.Join(c.dir, "slurm.conf"), "LC_ALL=C"}
	tb.Cleanup(func() {
		if _, err := c.script("down"); err != nil {
			tb.Errorf("stop Slurm: %v", err)
		}
		if err := os.RemoveAll(dir); err != nil {
			tb.Error(err)
		}
	})
	port, err := freePorts(nodes + 1)
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := c.script("up", strconv.Itoa(port), strconv.Itoa(nodes)); err != nil {
		tb.Skipf("Slurm cannot be started here: %v", err)
	}
	for i := range nodes {
		c.Nodes = append(c.Nodes, fmt.Sprintf("c%dn%d", port, i+1))
	}
	return c
}

// Run runs one of Slurm's programs and gives what it printed.
func (c *Cluster) Run(tb testing.TB, program string, args ...string) string {
	tb.Helper()
	out, err := c.call(program, args...)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// Drop kills the daemon of a node, as if the machine were gone.
func (c *Cluster) Drop(tb testing.TB, node string) {
	tb.Helper()
	c.must(tb, "drop", node)
}

// Raise starts the daemon of a node again.
func (c *Cluster) Raise(tb testing.TB, node string) {
	tb.Helper()
	c.must(tb, "raise", node)
}

// Freeze stops the controller until the function that it returns is called, as
// if the network were gone.
func (c *Cluster) Freeze(tb testing.TB) (thaw func()) {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join(c.dir, "run", "slurmctld.pid"))
	if err != nil {
		tb.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil || pid <= 1 {
		tb.Fatalf("the controller's number is %q", data)
	}
	signal := func(s syscall.Signal) {
		if err := syscall.Kill(pid, s); err != nil {
			tb.Errorf("signal the controller: %v", err)
		}
	}
	signal(syscall.SIGSTOP)
	return sync.OnceFunc(func() { signal(syscall.SIGCONT) })
}

func (c *Cluster) must(tb testing.TB, act string, args ...string) {
	tb.Helper()
	if _, err := c.script(act, args...); err != nil {
		tb.Fatal(err)
	}
}

func (c *Cluster) script(act string, args ...string) (string, error) {
	return c.call("/bin/sh", append([]string{"-c", script, "slurm.sh", act, c.dir}, args...)...)
}

func (c *Cluster) call(program string, args ...string) (string, error) {
	res, err := c.run.Run(context.Background(), proc.Command{Path: program, Args: args, Dir: "/", Env: c.Env, Wall: time.Minute})
	if err != nil {
		return "", err
	}
	if res.Outcome != proc.Exited || res.Code != 0 {
		return "", fmt.Errorf("%s: %s, exit code %d: %s", program, res.Outcome, res.Code, strings.TrimSpace(string(res.Stderr.Tail)))
	}
	return string(res.Stdout.Head), nil
}

// freePorts finds n free ports in a row, below those that the system gives to
// outgoing connections.
func freePorts(n int) (int, error) {
	start := 21000 + os.Getpid()%500*16
	for port := start; port < start+3000; port += n {
		if allFree(port, n) {
			return port, nil
		}
	}
	return 0, errors.New("no free ports were found for Slurm")
}

func allFree(port, n int) bool {
	for i := range n {
		l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", fmt.Sprintf("127.0.0.1:%d", port+i))
		if err != nil {
			return false
		}
		if err := l.Close(); err != nil {
			return false
		}
	}
	return true
}
