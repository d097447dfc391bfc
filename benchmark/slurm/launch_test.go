package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"si/internal/proc"
)

// done is a job that runs to its end between two questions.
func (r *rig) done() step { return step{state: stateOf("COMPLETED", "None"), do: r.workOnce()} }

func (r *rig) workOnce() func(submission) {
	worked := map[string]bool{}
	return func(s submission) {
		if !worked[s.script] {
			worked[s.script] = true
			r.work(s)
		}
	}
}

func TestLaunchGivesWhatTheJobWrote(t *testing.T) {
	r := newRig(t)
	r.fake.states = []step{says("PENDING", "Resources"), r.done()}
	log := filepath.Join(t.TempDir(), "logs of it", "run.log")
	odd := "two\nlines 'single' \"double\" $HOME `id` \\ \xff end"
	c := r.shell(`printf %s "$ODD"; echo; pwd; echo problem >&2; exit 3`)
	c.Env = append(c.Env, "ODD="+odd)
	c.Stdout, c.Stderr = proc.Output{File: log, TailMax: 10}, proc.Output{File: log + ".err"}
	report := r.mustLaunch("round 1/screen/αβ", c)

	want := odd + "\n" + r.tree + "\n"
	wants(t, "outcome", report.Outcome, proc.Exited)
	wants(t, "code", report.Code, 3)
	wants(t, "head", string(report.Stdout.Head), want)
	wants(t, "tail", string(report.Stdout.Tail), want[len(want)-10:])
	wants(t, "total", report.Stdout.Total, int64(len(want)))
	wants(t, "stderr", string(report.Stderr.Head), "problem\n")
	wants(t, "node", report.Node, "n1")
	wants(t, "job", report.Job, "101")
	if report.Wall <= 0 || report.CPU <= 0 || report.MaxRSS <= 0 || report.Load < 0 || report.Queued <= 0 {
		t.Errorf("not everything was measured: %+v", report)
	}
	if data, err := os.ReadFile(log); err != nil || string(data) != want {
		t.Errorf("log: %q, %v", data, err)
	}
	if name := r.fake.submitted[0].name; !plainWord(name) || len(name) > 80 {
		t.Errorf("job name %q", name)
	}
	wants(t, "limit", r.fake.submitted[0].limit, time.Minute+timeMargin)
	wants(t, "first news", r.seen[0].Reason, "Resources")
}

func TestLaunchIsOneJobForItsKey(t *testing.T) {
	r := newRig(t)
	r.fake.states = []step{r.done()}
	first := r.mustLaunch("k", r.shell("echo one"))
	again := r.mustLaunch("k", r.shell("echo one"))
	wants(t, "submissions", len(r.fake.submitted), 1)
	if !bytes.Equal(first.Stdout.Head, again.Stdout.Head) || again.Job != first.Job {
		t.Errorf("got another result: %+v, %+v", first, again)
	}
	other := r.mustLaunch("k", r.shell("echo two"))
	wants(t, "output of another command", string(other.Stdout.Head), "two\n")
	wants(t, "submissions", len(r.fake.submitted), 2)
	if err := r.Forget("k"); err != nil {
		t.Fatal(err)
	}
	if left := r.left(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestRunLeavesNothing(t *testing.T) {
	r := newRig(t)
	r.fake.states = []step{r.done()}
	for range 2 {
		res, err := r.Run(t.Context(), r.shell("echo hello"))
		if err != nil || string(res.Stdout.Head) != "hello\n" {
			t.Fatalf("got %+v, %v", res, err)
		}
	}
	wants(t, "submissions", len(r.fake.submitted), 2)
	if left := r.left(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestRefusedCommands(t *testing.T) {
	r := newRig(t)
	c := r.shell("true")
	c.Stdin = strings.NewReader("x")
	if _, err := r.launch("k", c); err == nil || !strings.Contains(err.Error(), "standard input") {
		t.Errorf("stdin: %v", err)
	}
	c = r.shell("true")
	c.Stdout.Line = func([]byte) {}
	if _, err := r.launch("k", c); err == nil {
		t.Error("a live reader of lines was not refused")
	}
	if _, err := r.Launch(t.Context(), Place{Node: "/etc/passwd"}, r.shell("true")); err == nil {
		t.Error("a path passed as the name of a node")
	}
	if left := r.left(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestNodeIsAskedFor(t *testing.T) {
	r := newRig(t)
	r.fake.states = []step{r.done()}
	b := r.OnNode("n7")
	if _, err := b.Run(t.Context(), r.shell("true")); err != nil {
		t.Fatal(err)
	}
	wants(t, "node asked for", r.fake.submitted[0].node, "n7")
	wants(t, "node of the report", b.Report().Node, "n1")
}

// What each end of a job means. The job either works, is stopped in the middle,
// or does nothing at all.
func TestStates(t *testing.T) {
	type outcome struct {
		kind      error
		says      string
		outcome   proc.Outcome
		code      int
		cancelled bool
		kept      bool
	}
	good := outcome{outcome: proc.Exited, kept: true}
	undecided := func(says string) outcome { return outcome{kind: ErrUndecided, says: says, cancelled: true} }
	for name, tc := range map[string]struct {
		steps func(r *rig) []step
		want  outcome
	}{
		"completed": {func(r *rig) []step { return []step{r.done()} }, good},
		"forgotten after its end": {func(r *rig) []step {
			return []step{{state: state{phase: forgotten, word: "forgotten"}, do: r.workOnce()}}
		}, good},
		"failed, but with a result": {func(r *rig) []step {
			return []step{{state: stateOf("FAILED", "NonZeroExitCode"), do: r.workOnce()}}
		}, good},
		"node lost after the result": {func(r *rig) []step {
			return []step{{state: stateOf("NODE_FAIL", "None"), do: r.workOnce()}}
		}, good},
		"result seen late": {func(r *rig) []step {
			return []step{says("COMPLETED", ""), says("COMPLETED", ""), r.done()}
		}, good},
		"controller away for a while": {func(r *rig) []step {
			return append(repeat(unreachable(), 80), r.done())
		}, good},
		"controller away again and again": {func(r *rig) []step {
			return append(append(append(repeat(unreachable(), 100), says("RUNNING", "")), repeat(unreachable(), 100)...), r.done())
		}, good},
		"controller away too long": {func(*rig) []step { return []step{unreachable()} }, outcome{kind: ErrUndecided, says: "has not answered for 10m0s", kept: true}},
		"states that go on": {func(r *rig) []step {
			return []step{says("CONFIGURING", ""), says("SUSPENDED", ""), says("COMPLETING", ""), r.done()}
		}, good},
		"a state of a later Slurm": {func(r *rig) []step { return []step{says("PONDERING", ""), r.done()} }, good},
		"node lost":                {func(*rig) []step { return []step{says("RUNNING", ""), says("NODE_FAIL", "None")} }, undecided("NODE_FAIL: the scheduler lost it")},
		"preempted":                {func(r *rig) []step { return []step{says("RUNNING", ""), r.stopped("PREEMPTED")} }, undecided("lost it")},
		"boot failed":              {func(*rig) []step { return []step{says("BOOT_FAIL", "")} }, undecided("lost it")},
		"launch failed":            {func(*rig) []step { return []step{says("PENDING", "launch failed requeued held")} }, undecided("lost it")},
		"cancelled by somebody":    {func(r *rig) []step { return []step{r.stopped("CANCELLED")} }, undecided("not by this program")},
		"ended without a result":   {func(*rig) []step { return []step{says("FAILED", "NonZeroExitCode")} }, undecided("left no result")},
		"forgotten, no result":     {func(*rig) []step { return []step{{state: state{phase: forgotten, word: "forgotten"}}} }, undecided("left no result")},
		"put back into the queue": {func(r *rig) []step {
			return []step{says("RUNNING", ""), {state: stateOf("PENDING", "BeginTime"), do: r.beginOnly()}, says("PENDING", "BeginTime"), says("NODE_FAIL", "")}
		}, undecided("put back into the queue")},
		"limit of the scheduler":  {func(r *rig) []step { return []step{r.stopped("TIMEOUT")} }, outcome{outcome: proc.TimedOut, code: 128 + 15, kept: true}},
		"limit, without a result": {func(*rig) []step { return []step{says("TIMEOUT", "TimeLimit")} }, outcome{outcome: proc.TimedOut, kept: true}},
		"memory ran out":          {func(*rig) []step { return []step{says("OUT_OF_MEMORY", "OutOfMemory")} }, outcome{outcome: proc.Signaled, code: 137, kept: true}},
		"impossible":              {func(*rig) []step { return []step{says("PENDING", "PartitionTimeLimit")} }, outcome{kind: ErrImpossible, says: "PENDING (PartitionTimeLimit)", cancelled: true}},
		"impossible for a moment": {func(r *rig) []step {
			return []step{says("PENDING", "PartitionConfig"), says("PENDING", "Priority"), says("PENDING", "PartitionConfig"), r.done()}
		}, good},
		"a busy node is waited for": {func(r *rig) []step {
			return append(repeat(says("PENDING", "ReqNodeNotAvail, May be reserved"), 30), r.done())
		}, good},
		"the queue's limit":           {func(*rig) []step { return []step{says("PENDING", "Priority")} }, undecided("has not started within 1h0m0s")},
		"cannot be started the first": {func(r *rig) []step { return []step{{state: stateOf("COMPLETED", ""), do: r.withoutTree()}} }, outcome{says: "the folder to run in", cancelled: true}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.o.QueueLimit = time.Hour
			r.fake.states = tc.steps(r)
			report, err := r.launch("k", r.shell("echo out"))
			switch {
			case tc.want.kind != nil && !errors.Is(err, tc.want.kind):
				t.Errorf("got %v, want %v", err, tc.want.kind)
			case tc.want.says != "" && (err == nil || !strings.Contains(err.Error(), tc.want.says)):
				t.Errorf("got %v, want it to say %q", err, tc.want.says)
			case tc.want.says == "" && err != nil:
				t.Errorf("got %v", err)
			case err == nil:
				wants(t, "outcome", report.Outcome, tc.want.outcome)
				wants(t, "code", report.Code, tc.want.code)
			}
			if err != nil && tc.want.kind == nil && (errors.Is(err, ErrUndecided) || errors.Is(err, ErrImpossible)) {
				t.Errorf("got the kind of %v", err)
			}
			wants(t, "cancelled", len(r.fake.cancelled) > 0, tc.want.cancelled)
			wants(t, "kept", len(r.left()) > 0, tc.want.kept)
			wants(t, "submissions", len(r.fake.submitted), 1)
		})
	}
}

func repeat(s step, n int) []step {
	out := make([]step, n)
	for i := range out {
		out[i] = s
	}
	return out
}

// stopped is a job that gets TERM while its command runs: the context of the
// server ends when the command has begun.
func (r *rig) stopped(word string) step {
	worked := false
	return step{state: stateOf(word, "None"), do: func(s submission) {
		if worked {
			return
		}
		worked = true
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		sv := r.server(s)
		sv.run = runnerFunc(func(ctx context.Context, c proc.Command) (proc.Result, error) {
			cancel()
			return proc.Result{Outcome: proc.Cancelled, Code: 128 + 15}, nil
		})
		if err := sv.serve(ctx); err != nil {
			r.t.Errorf("serve: %v", err)
		}
	}}
}

type runnerFunc func(context.Context, proc.Command) (proc.Result, error)

func (f runnerFunc) Run(ctx context.Context, c proc.Command) (proc.Result, error) { return f(ctx, c) }

// beginOnly is a job whose node goes away while it runs.
func (r *rig) beginOnly() func(submission) {
	return func(s submission) {
		sv := r.server(s)
		if err := sv.claim(); err != nil {
			r.t.Error(err)
		}
		o, err := sv.next(context.Background(), time.Second)
		if err != nil || o == nil {
			r.t.Errorf("no order: %v", err)
		}
	}
}

func (r *rig) withoutTree() func(submission) {
	return func(s submission) {
		if err := os.Remove(r.tree); err == nil {
			r.work(s)
		}
	}
}

func TestForgedResults(t *testing.T) {
	for name, forge := range map[string]func(t *testing.T, path string){
		"made up": func(t *testing.T, path string) {
			t.Helper()
			writeFile(t, path, `{"seq":1,"nonce":"00","ran":{"Outcome":"exited"}}`)
		},
		"nonsense": func(t *testing.T, path string) { t.Helper(); writeFile(t, path, "{{{") },
		"huge":     func(t *testing.T, path string) { t.Helper(); writeFile(t, path, strings.Repeat(" ", 3<<20)) },
		"a link": func(t *testing.T, path string) {
			t.Helper()
			if err := errors.Join(os.Remove(path), os.Symlink("/dev/zero", path)); err != nil {
				t.Fatal(err)
			}
		},
		"a folder": func(t *testing.T, path string) {
			t.Helper()
			if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			done := false
			r.fake.states = []step{says("RUNNING", ""), {state: stateOf("FAILED", ""), do: func(s submission) {
				if !done {
					done = true
					forge(t, folder(filepath.Dir(s.script)).result(1))
				}
			}}}
			_, err := r.launch("k", r.shell("true"))
			if !errors.Is(err, ErrUndecided) || !strings.Contains(err.Error(), "cannot be used") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A result that the command forges while it runs is replaced by the job's, and
// what would make a forgery pass is in no file that the command can read.
func TestTheCommandCannotReadTheNonce(t *testing.T) {
	r := newRig(t)
	r.fake.states = []step{r.done()}
	loot := filepath.Join(t.TempDir(), "loot")
	report := r.mustLaunch("k", r.shell(fmt.Sprintf(`cp -r '%s' '%s'; for d in '%s'/*; do echo '{"seq":1}' >"$d/result.1"; done; echo real`, r.o.WorkDir, loot, r.jobDir())))
	wants(t, "output", string(report.Stdout.Head), "real\n")
	rec, err := r.loadRecord(jobName(r.o.WorkDir, "k"))
	if err != nil {
		t.Fatal(err)
	}
	a, ok, err := r.attach(rec).answer(1)
	if err != nil || !ok || len(a.Nonce) < 32 {
		t.Fatalf("no answer: %+v, %v", a, err)
	}
	files := 0
	err = filepath.WalkDir(loot, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		files++
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(a.Nonce)) {
			t.Errorf("the nonce is in %s", path)
		}
		return err
	})
	if err != nil || files < 4 {
		t.Errorf("%d files were looked through, %v", files, err)
	}
}
