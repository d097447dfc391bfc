package slurm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"si/internal/proc"
)

// killed is the panic by which a launch ends as a kill would end it: nothing of it
// runs any more.
type killed struct{}

// launchAndKill launches and kills this side when the scheduler is asked for the
// n-th time, or in the submission itself for n = 0.
func (r *rig) launchAndKill(key string, c proc.Command, n int, after bool) {
	r.t.Helper()
	f := r.fake
	f.onSubmit = func(_ int, s submission) error {
		if n == 0 && after {
			f.known[s.mark] = "101"
		}
		if n == 0 {
			panic(killed{})
		}
		return nil
	}
	if n > 0 {
		f.states = append(repeat(says("RUNNING", ""), n-1), step{do: func(submission) { panic(killed{}) }})
	}
	func() {
		defer func() {
			if _, ok := recover().(killed); !ok {
				r.t.Error("the launch was not killed")
			}
		}()
		_, _ = r.launch(key, c)
	}()
	f.onSubmit, f.asked, f.states = nil, 0, nil
	r.restart(r.o.WorkDir)
}

func TestReattach(t *testing.T) {
	for name, tc := range map[string]struct {
		n         int
		after     bool // the scheduler had taken the job
		meanwhile bool // the job ends before the restart
		submitted int
	}{
		"killed while the job ran":                 {n: 2, submitted: 1},
		"killed, and the job ended meanwhile":      {n: 2, meanwhile: true, submitted: 1},
		"killed before the number was written":     {n: 0, after: true, submitted: 1},
		"killed before the submission got through": {n: 0, submitted: 2},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			c := r.shell("echo from the first")
			r.launchAndKill("k", c, tc.n, tc.after)
			r.fake.states = []step{says("RUNNING", ""), r.done()}
			if tc.meanwhile {
				r.work(r.fake.submitted[0])
				r.fake.states = nil // and nothing needs to be asked
			}
			report := r.mustLaunch("k", c)
			wants(t, "output", string(report.Stdout.Head), "from the first\n")
			wants(t, "submissions", len(r.fake.submitted), tc.submitted)
			wants(t, "cancelled", len(r.fake.cancelled), 0)
		})
	}
}

// Killed after the record was written and before the order was: the job waits
// for one, and gets it.
func TestReattachDeliversALostOrder(t *testing.T) {
	r := newRig(t)
	c := r.shell("echo delivered")
	r.launchAndKill("k", c, 1, false)
	dir := folder(filepath.Dir(r.fake.submitted[0].script))
	if err := os.Truncate(dir.inbox(), 0); err != nil {
		t.Fatal(err)
	}
	r.fake.states = []step{r.done()}
	wants(t, "output", string(r.mustLaunch("k", c).Stdout.Head), "delivered\n")
	wants(t, "submissions", len(r.fake.submitted), 1)
}

func TestRecall(t *testing.T) {
	r := newRig(t)
	if _, known, err := r.Recall(t.Context(), "k"); known || err != nil {
		t.Errorf("recalled what never was: %v", err)
	}
	c := r.shell("echo recalled")
	r.launchAndKill("k", c, 1, false)
	r.fake.states = []step{says("RUNNING", ""), r.done()}
	report, known, err := r.Recall(t.Context(), "k")
	if err != nil || !known {
		t.Fatalf("got %v, %v", known, err)
	}
	wants(t, "output", string(report.Stdout.Head), "recalled\n")

	r.launchAndKill("other", c, 0, false)
	if _, known, err := r.Recall(t.Context(), "other"); known || err != nil {
		t.Errorf("recalled what was never submitted: %v", err)
	}
	wants(t, "submissions", len(r.fake.submitted), 2)
}

func TestSweep(t *testing.T) {
	r := newRig(t)
	r.launchAndKill("running", r.shell("true"), 1, false)
	r.launchAndKill("kept", r.shell("true"), 1, false)
	r.launchAndKill("unsent", r.shell("true"), 0, false)
	if err := os.Mkdir(filepath.Join(r.jobDir(), "nobodys"), 0o700); err != nil {
		t.Fatal(err)
	}
	r.fake.states = []step{says("RUNNING", "")}
	ended, err := r.Sweep(t.Context(), func(key string) bool { return key == "kept" })
	if err != nil || ended != 2 {
		t.Fatalf("ended %d, %v", ended, err)
	}
	wants(t, "cancelled", strings.Join(r.fake.cancelled, " "), "101")
	left := r.left()
	if len(left) != 2 || left[0] != "records/"+jobName(r.o.WorkDir, "kept")+".json" {
		t.Errorf("left: %v", left)
	}
}

func TestDamagedRecordsAreNotFollowed(t *testing.T) {
	for name, text := range map[string]string{
		"nonsense":         "{",
		"a folder outside": `{"name":"NAME","folder":"../../..","runs":[{}]}`,
		"the parent":       `{"name":"NAME","folder":"..","runs":[{}]}`,
		"an option":        `{"name":"NAME","folder":"ab","job":"--signal=9"}`,
		"another job":      `{"name":"si_else","folder":"ab"}`,
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			job := jobName(r.o.WorkDir, "k")
			writeFile(t, r.recordPath(job), strings.ReplaceAll(text, "NAME", job))
			if _, err := r.launch("k", r.shell("true")); err == nil || !strings.Contains(err.Error(), job) {
				t.Errorf("launch: %v", err)
			}
			if err := r.Forget("k"); err == nil {
				t.Error("forget followed a damaged record")
			}
			if _, err := r.Sweep(t.Context(), nil); err == nil {
				t.Error("sweep followed a damaged record")
			}
			wants(t, "submissions", len(r.fake.submitted), 0)
		})
	}
}

func TestSubmitting(t *testing.T) {
	away := fmt.Errorf("submit: %w", errAway)
	for name, tc := range map[string]struct {
		onSubmit func(r *rig) func(int, submission) error
		kind     error
		says     string
		tried    int
		kept     bool
	}{
		"away, then taken": {func(*rig) func(int, submission) error {
			return func(n int, _ submission) error {
				if n < 3 {
					return away
				}
				return nil
			}
		}, nil, "", 3, true},
		"taken, though no answer came": {func(r *rig) func(int, submission) error {
			return func(n int, s submission) error {
				r.fake.known[s.mark] = "101"
				return away
			}
		}, nil, "", 1, true},
		"away for ever": {func(*rig) func(int, submission) error {
			return func(int, submission) error { return away }
		}, ErrUndecided, "does not answer", 302, true},
		"refused": {func(*rig) func(int, submission) error {
			return func(int, submission) error { return fmt.Errorf("sbatch: invalid account: %w", ErrImpossible) }
		}, ErrImpossible, "invalid account", 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.fake.onSubmit = tc.onSubmit(r)
			r.fake.states = []step{r.done()}
			_, err := r.launch("k", r.shell("true"))
			if !errors.Is(err, tc.kind) {
				t.Errorf("got %v, want %v", err, tc.kind)
			}
			if err != nil {
				contains(t, "error", err.Error(), tc.says)
			}
			wants(t, "tried", len(r.fake.submitted), tc.tried)
			wants(t, "kept", len(r.left()) > 0, tc.kept)
		})
	}
}

func TestCancel(t *testing.T) {
	t.Run("while it runs", func(t *testing.T) {
		r := newRig(t)
		ctx, cancel := context.WithCancel(t.Context())
		r.fake.states = []step{says("RUNNING", ""), {state: stateOf("RUNNING", ""), do: func(submission) { cancel() }}}
		report, err := r.Launch(ctx, Place{Key: "k"}, r.shell("true"))
		if err != nil {
			t.Fatal(err)
		}
		wants(t, "outcome", report.Outcome, proc.Cancelled)
		wants(t, "cancelled", strings.Join(r.fake.cancelled, " "), "101")
		if left := r.left(); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	})
	t.Run("before it starts", func(t *testing.T) {
		r := newRig(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		report, err := r.Launch(ctx, Place{Key: "k"}, r.shell("true"))
		if err != nil {
			t.Fatal(err)
		}
		wants(t, "outcome", report.Outcome, proc.Cancelled)
		wants(t, "submissions", len(r.fake.submitted), 0)
	})
	t.Run("while it is submitted", func(t *testing.T) {
		r := newRig(t)
		ctx, cancel := context.WithCancel(t.Context())
		r.fake.onSubmit = func(_ int, s submission) error {
			r.fake.known[s.mark] = "101"
			cancel()
			return fmt.Errorf("submit: %w", errAway)
		}
		report, err := r.Launch(ctx, Place{Key: "k"}, r.shell("true"))
		if err != nil {
			t.Fatal(err)
		}
		wants(t, "outcome", report.Outcome, proc.Cancelled)
		wants(t, "cancelled", strings.Join(r.fake.cancelled, " "), "101")
	})
	t.Run("in the instant in which it is taken", func(t *testing.T) {
		r := newRig(t)
		ctx, cancel := context.WithCancel(t.Context())
		r.fake.onSubmit = func(int, submission) error {
			cancel()
			return nil
		}
		report, err := r.Launch(ctx, Place{Key: "k"}, r.shell("true"))
		if err != nil {
			t.Fatal(err)
		}
		wants(t, "outcome", report.Outcome, proc.Cancelled)
		wants(t, "cancelled", strings.Join(r.fake.cancelled, " "), "101")
		wants(t, "searches", r.fake.searches, 0) // other schedulers cannot be searched
	})
	t.Run("the scheduler refuses at first", func(t *testing.T) {
		r := newRig(t)
		ctx, cancel := context.WithCancel(t.Context())
		refusals := 0
		r.fake.onCancel = func() error {
			if refusals++; refusals < 4 {
				return errors.New("no answer")
			}
			return nil
		}
		r.fake.states = []step{{state: stateOf("RUNNING", ""), do: func(submission) { cancel() }}}
		if _, err := r.Launch(ctx, Place{Key: "k"}, r.shell("true")); err != nil {
			t.Fatal(err)
		}
		wants(t, "cancelled", len(r.fake.cancelled), 1)
	})
	t.Run("it does not end", func(t *testing.T) {
		r := newRig(t)
		ctx, cancel := context.WithCancel(t.Context())
		r.fake.afterward = stateOf("COMPLETING", "")
		r.fake.states = []step{{state: stateOf("RUNNING", ""), do: func(submission) { cancel() }}}
		began := r.clock.Now()
		report, err := r.Launch(ctx, Place{Key: "k"}, r.shell("true"))
		wants(t, "outcome", report.Outcome, proc.Cancelled)
		if err == nil || !strings.Contains(err.Error(), "cancel it by hand") {
			t.Errorf("got %v", err)
		}
		if d := r.clock.Now().Sub(began); d < r.o.CancelLimit || d > r.o.CancelLimit+2*r.o.Poll {
			t.Errorf("waited %v", d)
		}
		if len(r.left()) != 2 {
			t.Errorf("left: %v; a job that lives must stay known", r.left())
		}
	})
}

// The scheduler is asked every 2 s at first and every 5 s later, and the result
// is looked for more often.
func TestBackOff(t *testing.T) {
	r := newRig(t)
	var asked []float64
	began := r.clock.Now()
	note := step{state: stateOf("RUNNING", ""), do: func(submission) { asked = append(asked, r.clock.Now().Sub(began).Seconds()) }}
	r.fake.states = append(repeat(note, 12), r.done())
	r.mustLaunch("k", r.shell("true"))
	for i := 1; i < len(asked); i++ {
		if gap := asked[i] - asked[i-1]; gap < 2 || gap > 5.25 || i > 6 && gap < 5 {
			t.Errorf("question %d came after %.2f s", i, gap)
		}
	}
}

func TestOneCallAKey(t *testing.T) {
	r := newRig(t)
	r.fake.states = []step{{state: stateOf("RUNNING", ""), do: func(submission) {
		if _, err := r.launch("k", r.shell("true")); err == nil || !strings.Contains(err.Error(), "under way already") {
			t.Errorf("second call: %v", err)
		}
	}}, r.done()}
	r.mustLaunch("k", r.shell("true"))
}
