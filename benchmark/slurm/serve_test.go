package slurm

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"si/internal/proc"
)

func TestAJobWorksOnce(t *testing.T) {
	r := newRig(t)
	r.fake.states = []step{r.done()}
	r.mustLaunch("k", r.shell("echo x >>count"))
	if err := r.server(r.fake.submitted[0]).serve(t.Context()); err == nil || !strings.Contains(err.Error(), "not run twice") {
		t.Errorf("got %v", err)
	}
	if data, err := os.ReadFile(filepath.Join(r.tree, "count")); err != nil || string(data) != "x\n" {
		t.Errorf("the command ran %q times, %v", data, err)
	}
}

func TestAJobWithoutOrdersEnds(t *testing.T) {
	r := newRig(t)
	j, err := r.create("si_k", "k", "")
	if err != nil {
		t.Fatal(err)
	}
	began := r.clock.Now()
	if err := r.server(j.submission()).serve(t.Context()); err != nil {
		t.Fatal(err)
	}
	if d := r.clock.Now().Sub(began); d < firstOrder || d > firstOrder+time.Second {
		t.Errorf("waited %v", d)
	}
}

// An old order that is given again is not a new run.
func TestAnOldOrderIsPassedOver(t *testing.T) {
	r := newRig(t)
	r.o.Lease = time.Second
	j, err := r.create("si_k", "k", "")
	if err != nil {
		t.Fatal(err)
	}
	w, err := newWire(r.shell("echo x >>count"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.order("run", w, false); err != nil {
		t.Fatal(err)
	}
	r.work(j.submission())
	if err := j.deliver(1, w, false); err != nil {
		t.Fatal(err)
	}
	j.rec.Attempt++
	r.work(j.submission())
	if data, err := os.ReadFile(filepath.Join(r.tree, "count")); err != nil || string(data) != "x\n" {
		t.Errorf("the command ran %q times, %v", data, err)
	}
}

func TestMissingFoldersAreNamed(t *testing.T) {
	r := newRig(t)
	for what, change := range map[string]func(c *proc.Command, path string){
		"the folder to run in": func(c *proc.Command, path string) { c.Dir = path },
		"HOME":                 func(c *proc.Command, path string) { c.Env = append(c.Env, "HOME="+path) },
		"TMPDIR":               func(c *proc.Command, path string) { c.Env = append(c.Env, "TMPDIR="+path) },
	} {
		c := r.shell("true")
		path := filepath.Join(t.TempDir(), "not there")
		change(&c, path)
		r.fake.states, r.fake.asked = []step{r.done()}, 0
		_, err := r.launch("k "+what, c)
		var failed *JobError
		if !errors.As(err, &failed) || failed.Kind != nil {
			t.Fatalf("%s: got %v", what, err)
		}
		contains(t, "error", err.Error(), what, path, "node n1")
	}
}

func TestServeIsForJobsOnly(t *testing.T) {
	for _, args := range [][]string{nil, {"si"}, {"si", "run"}, {"si", "run", serveArg}} {
		if _, was := Serve(args, nil); was {
			t.Errorf("%q was taken for a job", args)
		}
	}
	for _, args := range [][]string{{}, {"/w"}, {"relative", "1"}, {"/w", "x"}} {
		if _, err := newServer(args); err == nil {
			t.Errorf("%q was accepted", args)
		}
	}
}

// TERM between two runs ends the job without an answer, and at once.
func TestAJobThatIsToldToEnd(t *testing.T) {
	r := newRig(t)
	j, err := r.create("si_k", "k", "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	began := r.clock.Now()
	if err := r.server(j.submission()).serve(ctx); err != nil {
		t.Fatal(err)
	}
	wants(t, "waited", r.clock.Now().Sub(began), 0)
}
