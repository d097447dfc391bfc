package slurm

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"si/internal/proc"
)

// started runs the job of each submission beside the test, as a node does.
type started struct {
	*rig
	ended chan struct{} // one for each job that is over
}

func newBlockRig(t *testing.T, lease time.Duration) *started {
	t.Helper()
	s := &started{rig: newRig(t), ended: make(chan struct{}, 9)}
	s.o.Poll, s.o.Now, s.o.Pause, s.o.Lease = 8*time.Millisecond, time.Now, pause, lease
	s.fake.states = []step{says("RUNNING", "")}
	s.fake.onSubmit = func(_ int, sub submission) error {
		sv := serverFor(t, sub, time.Now, pause)
		if sub.node != "" {
			sv.node = sub.node
		}
		go func() {
			if err := sv.serve(t.Context()); err != nil {
				t.Errorf("serve: %v", err)
			}
			s.ended <- struct{}{}
		}()
		return nil
	}
	return s
}

func (s *started) block(t *testing.T) *Block {
	t.Helper()
	b, err := s.Block(Place{Key: "round 1/block 1"}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func take(t *testing.T, b *Block, key string, c proc.Command) {
	t.Helper()
	report, err := b.Launch(t.Context(), key, c)
	if err != nil {
		t.Fatal(err)
	}
	wants(t, key, string(report.Stdout.Head), key+"\n")
}

func TestBlockIsOneJob(t *testing.T) {
	s := newBlockRig(t, time.Second)
	b := s.block(t)
	wants(t, "node before the first run", b.Node(), "")
	for i := range 4 {
		key := fmt.Sprint("run", i)
		bound := b.At(key)
		res, err := bound.Run(t.Context(), s.shell("echo "+key))
		if err != nil || string(res.Stdout.Head) != key+"\n" {
			t.Fatalf("%s: %+v, %v", key, res, err)
		}
		wants(t, "node", bound.Report().Node, "n1")
	}
	wants(t, "submissions", len(s.fake.submitted), 1)
	wants(t, "node", b.Node(), "n1")
	// What was taken is not taken again, and a run has one command.
	take(t, b, "run2", s.shell("echo run2"))
	if _, err := b.Launch(t.Context(), "run2", s.shell("echo other")); err == nil || !strings.Contains(err.Error(), "another command") {
		t.Errorf("another command: %v", err)
	}
	if _, err := s.Block(Place{Key: "round 1/block 1"}, 0); err == nil {
		t.Error("the block was opened twice")
	}
	if err := b.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	wants(t, "cancelled", strings.Join(s.fake.cancelled, " "), "101")
	<-s.ended
	if err := s.Forget("round 1/block 1"); err != nil {
		t.Fatal(err)
	}
	if left := s.left(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestBlockAfterARestart(t *testing.T) {
	s := newBlockRig(t, time.Second)
	b := s.block(t)
	take(t, b, "a", s.shell("echo a"))
	o := s.o
	s.restart(s.o.WorkDir)
	s.o = o
	b = s.block(t)
	if _, known, err := b.Recall(t.Context(), "b"); known || err != nil {
		t.Errorf("recalled what was never asked for: %v", err)
	}
	report, known, err := b.Recall(t.Context(), "a")
	if err != nil || !known || string(report.Stdout.Head) != "a\n" {
		t.Errorf("got %+v, %v, %v", report, known, err)
	}
	take(t, b, "b", s.shell("echo b"))
	wants(t, "submissions", len(s.fake.submitted), 1)
	<-s.ended
}

// A block whose job ended between two runs goes on where it was.
func TestBlockGoesOnOnItsNode(t *testing.T) {
	s := newBlockRig(t, 5*time.Millisecond)
	b := s.block(t)
	take(t, b, "a", s.shell("echo a"))
	<-s.ended // the lease is over
	s.fake.states, s.fake.asked = []step{says("COMPLETED", ""), says("RUNNING", "")}, 0
	take(t, b, "b", s.shell("echo b"))
	wants(t, "submissions", len(s.fake.submitted), 2)
	wants(t, "node", s.fake.submitted[1].node, "n1")
	if s.fake.submitted[0].mark == s.fake.submitted[1].mark {
		t.Error("the submissions cannot be told apart")
	}
	<-s.ended
}

func TestBlockWhoseNodeIsLost(t *testing.T) {
	s := newBlockRig(t, time.Second)
	b := s.block(t)
	take(t, b, "a", s.shell("echo a"))
	dir := b.job.folder
	s.fake.states, s.fake.asked = []step{says("RUNNING", ""), says("NODE_FAIL", "")}, 0
	if _, err := b.Launch(t.Context(), "b", s.shell("sleep 0.2")); !errors.Is(err, ErrUndecided) {
		t.Fatalf("got %v", err)
	}
	if _, err := os.Stat(string(dir)); err == nil {
		t.Error("the folder of the lost job is left")
	}
	s.fake.states, s.fake.asked = []step{says("RUNNING", "")}, 0
	take(t, b, "b", s.shell("echo b"))
	wants(t, "submissions", len(s.fake.submitted), 2)
	if err := b.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}
