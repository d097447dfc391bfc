package slurm

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"si/internal/proc"
	"si/internal/slurmtest"
)

const aloneArg = "__test_launch_alone"

// launchAlone is another si, to be killed: it launches one command, and says
// each state of its job.
func launchAlone(args []string) (code int, was bool) {
	if len(args) != 5 || args[1] != aloneArg {
		return 0, false
	}
	self, err := os.Executable()
	if err != nil {
		return 1, true
	}
	l, err := New(Options{
		Local: proc.New(proc.Options{Self: self, Mark: "alone"}), Self: self, WorkDir: args[2], Env: os.Environ(), Poll: 100 * time.Millisecond,
		Watch: func(p Progress) { fmt.Println(p.State) },
	})
	if err != nil {
		return 1, true
	}
	if _, err := l.Launch(context.Background(), Place{Key: "killed"}, shellIn(args[3], args[4])); err != nil {
		return 1, true
	}
	return 0, true
}

// site is a real Slurm with a launcher.
type site struct {
	cluster *slurmtest.Cluster
	work    string
	tree    string
}

func (s *site) options(t *testing.T) Options {
	t.Helper()
	return Options{
		Local: local(t), Self: testBinary(t), WorkDir: s.work, Env: s.cluster.Env, Poll: 200 * time.Millisecond,
		ResultLimit: 3 * time.Second, CancelLimit: 30 * time.Second,
	}
}

func TestSlurm(t *testing.T) {
	cluster := slurmtest.Start(t, 2)
	dir := filepath.Join(t.TempDir(), "it's 100% %j shared")
	s := &site{cluster: cluster, work: filepath.Join(dir, "work"), tree: filepath.Join(dir, "tree")}
	if err := os.MkdirAll(s.tree, 0o755); err != nil {
		t.Fatal(err)
	}
	l := mustNew(t, s.options(t))
	t.Run("ends", func(t *testing.T) { s.testEnds(t, l) })
	t.Run("environment", func(t *testing.T) { testEnvironment(t, l, s.tree) })
	t.Run("streaming", func(t *testing.T) { s.testStreaming(t, l) })
	t.Run("cancel", s.testCancel)
	t.Run("cancelled by somebody", s.testCancelledBySomebody)
	t.Run("killed", s.testKilled)
	t.Run("impossible", s.testImpossible)
	t.Run("blocks", s.testBlocks)
	t.Run("node", func(t *testing.T) { s.testNode(t, l) })
	t.Run("node lost", s.testNodeLost)
	t.Run("controller away", s.testControllerAway)
	s.allGone(t)
}

// allGone waits until Slurm has no job any more: one whose result is here may
// still be on its way out.
func (s *site) allGone(t *testing.T) {
	t.Helper()
	end := time.Now().Add(20 * time.Second)
	for {
		left := strings.TrimSpace(s.cluster.Run(t, "squeue", "-h"))
		if left == "" {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("jobs are left: %s", left)
		}
		pause(t.Context(), 100*time.Millisecond)
	}
}

func (s *site) testEnds(t *testing.T, l *Launcher) {
	t.Helper()
	for name, tc := range map[string]struct {
		script  string
		wall    time.Duration
		outcome proc.Outcome
		code    int
		signal  string
	}{
		"success":          {"echo fine", time.Minute, proc.Exited, 0, ""},
		"exit code":        {"echo fine; exit 42", time.Minute, proc.Exited, 42, ""},
		"signal":           {"echo fine; kill -SEGV $$", time.Minute, proc.Signaled, 128 + 11, "SIGSEGV"},
		"time limit":       {"echo fine; sleep 300", time.Second, proc.TimedOut, 128 + 15, "SIGTERM"},
		"setsid leftovers": {"setsid sleep 300 & echo fine", time.Minute, proc.Exited, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := shellIn(s.tree, tc.script)
			c.Wall = tc.wall
			log := filepath.Join(t.TempDir(), "log")
			c.Stdout.File = log
			report, err := l.Launch(t.Context(), Place{Key: "ends/" + name}, c)
			if err != nil {
				t.Fatal(err)
			}
			wants(t, "outcome", report.Outcome, tc.outcome)
			wants(t, "code", report.Code, tc.code)
			wants(t, "signal", report.Signal, tc.signal)
			wants(t, "output", string(report.Stdout.Head), "fine\n")
			if data, err := os.ReadFile(log); err != nil || string(data) != "fine\n" {
				t.Errorf("log %q, %v", data, err)
			}
			if !strings.Contains(strings.Join(s.cluster.Nodes, " "), report.Node) || report.Node == "" {
				t.Errorf("node %q", report.Node)
			}
		})
	}
}

// The log grows while the command runs: the command waits for a file that is
// made when its output was seen.
func (s *site) testStreaming(t *testing.T, l *Launcher) {
	t.Helper()
	dir := t.TempDir()
	log, seen := filepath.Join(dir, "log"), filepath.Join(dir, "seen")
	c := shellIn(s.tree, fmt.Sprintf("echo early; until [ -e '%s' ]; do sleep 0.05; done; echo late", seen))
	c.Stdout.File = log
	l.o.Pause = func(ctx context.Context, d time.Duration) {
		if data, _ := os.ReadFile(log); string(data) == "early\n" {
			writeFile(t, seen, "")
		}
		pause(ctx, d)
	}
	defer func() { l.o.Pause = pause }()
	report, err := l.Launch(t.Context(), Place{Key: "streaming"}, c)
	if err != nil {
		t.Fatal(err)
	}
	wants(t, "outcome", report.Outcome, proc.Exited)
	wants(t, "output", string(report.Stdout.Head), "early\nlate\n")
}

// watched is a launcher that calls then once its job runs.
func (s *site) watched(t *testing.T, then func(Progress)) *Launcher {
	t.Helper()
	o := s.options(t)
	var once sync.Once
	o.Watch = func(p Progress) {
		if p.State == "RUNNING" {
			once.Do(func() { then(p) })
		}
	}
	l, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func (s *site) testCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	l := s.watched(t, func(Progress) { cancel() })
	c := shellIn(s.tree, "setsid sleep 300 & sleep 300")
	c.Grace = 100 * time.Millisecond
	report, err := l.Launch(ctx, Place{Key: "cancel"}, c)
	if err != nil {
		t.Fatal(err)
	}
	wants(t, "outcome", report.Outcome, proc.Cancelled)
	if out := s.cluster.Run(t, "squeue", "-h"); strings.TrimSpace(out) != "" {
		t.Errorf("the job is left: %s", out)
	}
}

func (s *site) testCancelledBySomebody(t *testing.T) {
	l := s.watched(t, func(p Progress) { s.cluster.Run(t, "scancel", p.Job) })
	c := shellIn(s.tree, "sleep 300")
	c.Grace = 100 * time.Millisecond
	_, err := l.Launch(t.Context(), Place{Key: "somebody"}, c)
	if !errors.Is(err, ErrUndecided) || !strings.Contains(err.Error(), "CANCELLED") {
		t.Errorf("got %v", err)
	}
}

// Another si is killed while its job runs. The job goes on, and this one gets
// its result without a second run.
func (s *site) testKilled(t *testing.T) {
	gate, count := filepath.Join(t.TempDir(), "gate"), filepath.Join(t.TempDir(), "count")
	command := fmt.Sprintf("echo x >>'%s'; until [ -e '%s' ]; do sleep 0.05; done; echo survived", count, gate)
	other := exec.Command(testBinary(t), aloneArg, s.work, s.tree, command)
	other.Env = s.cluster.Env
	out, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan() && lines.Text() != "RUNNING"; {
	}
	if err := other.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := other.Wait(); err == nil {
		t.Fatal("the other si ended by itself")
	}
	l := s.watched(t, func(Progress) { writeFile(t, gate, "") })
	report, err := l.Launch(t.Context(), Place{Key: "killed"}, shellIn(s.tree, command))
	if err != nil {
		t.Fatal(err)
	}
	wants(t, "output", string(report.Stdout.Head), "survived\n")
	if data, err := os.ReadFile(count); err != nil || string(data) != "x\n" {
		t.Errorf("the command ran %q times, %v", data, err)
	}
}

func (s *site) testImpossible(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*Options)
		says   string
	}{
		"no such partition":          {func(o *Options) { o.Partition = "nowhere" }, "invalid partition"},
		"more time than is given":    {func(o *Options) { o.Partition = slurmtest.Short }, "PENDING (Partition"},
		"more processors than exist": {func(o *Options) { o.ExtraArgs = []string{"--mincpus=4096"} }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := s.options(t)
			tc.change(&o)
			l, err := New(o)
			if err != nil {
				t.Fatal(err)
			}
			_, err = l.Launch(t.Context(), Place{Key: "impossible/" + name}, shellIn(s.tree, "true"))
			if !errors.Is(err, ErrImpossible) || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// Two blocks at a time, on whole nodes: each stays where it is, and they are not
// in each other's way. Neither ends before the other has begun.
func (s *site) testBlocks(t *testing.T) {
	o := s.options(t)
	o.Exclusive = true
	l, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	nodes := make([]string, 2)
	var wg sync.WaitGroup
	for i := range nodes {
		wg.Go(func() {
			b, err := l.Block(Place{Key: fmt.Sprint("block", i)}, time.Hour)
			if err != nil {
				t.Error(err)
				return
			}
			meet := fmt.Sprintf("touch '%[1]s/%[2]d'; until [ -e '%[1]s/%[3]d' ]; do sleep 0.05; done; echo met", dir, i, 1-i)
			for n := range 4 {
				report, err := b.Launch(t.Context(), fmt.Sprint("run", n), shellIn(s.tree, meet))
				if err != nil || string(report.Stdout.Head) != "met\n" {
					t.Errorf("block %d, run %d: %+v, %v", i, n, report, err)
				}
				if nodes[i] != "" && nodes[i] != report.Node {
					t.Errorf("block %d was on %s and then on %s", i, nodes[i], report.Node)
				}
				nodes[i] = report.Node
			}
			if err := b.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if nodes[0] == nodes[1] || nodes[0] == "" {
		t.Errorf("the blocks ran on %q", nodes)
	}
}

func (s *site) testNode(t *testing.T, l *Launcher) {
	t.Helper()
	for _, node := range s.cluster.Nodes {
		b := l.OnNode(node)
		if _, err := b.Run(t.Context(), shellIn(s.tree, "true")); err != nil {
			t.Fatal(err)
		}
		wants(t, "node", b.Report().Node, node)
	}
}

func (s *site) testNodeLost(t *testing.T) {
	node := s.cluster.Nodes[1]
	l := s.watched(t, func(Progress) {
		s.cluster.Drop(t, node)
		s.cluster.Run(t, "scontrol", "update", "nodename="+node, "state=down", "reason=test")
	})
	c := shellIn(s.tree, "sleep 30")
	_, err := l.Launch(t.Context(), Place{Key: "lost", Node: node}, c)
	var failed *JobError
	if !errors.Is(err, ErrUndecided) || !errors.As(err, &failed) || failed.Node != node || !strings.HasPrefix(failed.State, "NODE_FAIL") {
		t.Errorf("got %v", err)
	}
	s.cluster.Raise(t, node)
	s.cluster.Run(t, "scontrol", "update", "nodename="+node, "state=resume")
	report, err := l.Launch(t.Context(), Place{Key: "lost", Node: node}, shellIn(s.tree, "echo again"))
	if err != nil || string(report.Stdout.Head) != "again\n" {
		t.Errorf("the second try: %+v, %v", report, err)
	}
}

// The controller does not answer while the job ends: nothing is known for a
// while, and then the result is.
func (s *site) testControllerAway(t *testing.T) {
	gate := filepath.Join(t.TempDir(), "gate")
	var thaw func()
	o := s.options(t)
	said := map[string]bool{}
	o.Watch = func(p Progress) {
		switch {
		case p.State == "RUNNING" && thaw == nil:
			thaw = s.cluster.Freeze(t)
		case p.State == "unknown" && !said["unknown"]:
			thaw()
			writeFile(t, gate, "")
		}
		said[p.State] = true
	}
	l, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	report, err := l.Launch(t.Context(), Place{Key: "away"}, shellIn(s.tree, fmt.Sprintf("until [ -e '%s' ]; do sleep 0.05; done; echo came back", gate)))
	if thaw != nil {
		thaw()
	}
	if err != nil || string(report.Stdout.Head) != "came back\n" || !said["unknown"] {
		t.Errorf("got %+v, %v, states %v", report, err, said)
	}
}
