package slurm

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"si/internal/proc"
)

// programs answers for Slurm's programs: the first word of the command line to
// what it prints, or to "!" and what it complains of.
type programs struct {
	t       *testing.T
	answers map[string]string
	ran     [][]string
	env     []string
}

func (p *programs) Run(_ context.Context, c proc.Command) (proc.Result, error) {
	p.ran = append(p.ran, append([]string{c.Path}, c.Args...))
	p.env = c.Env
	out, known := p.answers[c.Path]
	switch {
	case !known:
		return proc.Result{}, fs.ErrNotExist
	case out == "hangs":
		return proc.Result{Outcome: proc.TimedOut, Code: 137}, nil
	case strings.HasPrefix(out, "!"):
		return proc.Result{Outcome: proc.Exited, Code: 1, Stderr: proc.Captured{Tail: []byte(out[1:])}}, nil
	}
	return proc.Result{Outcome: proc.Exited, Stdout: proc.Captured{Head: []byte(out)}}, nil
}

func newCluster(t *testing.T, o Options, answers map[string]string) (*cluster, *programs) {
	t.Helper()
	p := &programs{t: t, answers: answers}
	return &cluster{tools: tools{run: p}, o: o}, p
}

func TestSbatchArguments(t *testing.T) {
	c, p := newCluster(t, Options{Partition: "bench,fast", Account: "acct", Exclusive: true, ExtraArgs: []string{"--gres=gpu:1"}},
		map[string]string{"sbatch": "welcome to the site\n4711;east\n"})
	id, err := c.submit(t.Context(), submission{name: "si_k", mark: "m.1", script: "/w/script.1", node: "n2", limit: 61 * time.Second})
	if err != nil || id != "4711" {
		t.Fatalf("got %q, %v", id, err)
	}
	got := p.ran[0]
	for _, want := range []string{
		"--parsable", "--job-name=si_k", "--comment=m.1", "--dependency=singleton", "--export=NONE", "--no-requeue", "--chdir=/", "--nodes=1",
		"--partition=bench,fast", "--account=acct", "--exclusive", "--nodelist=n2", "--time=2", "--gres=gpu:1",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("%v lacks %s", got, want)
		}
	}
	wants(t, "last argument", got[len(got)-1], "/w/script.1")

	c, p = newCluster(t, Options{}, map[string]string{"sbatch": "12"})
	if _, err := c.submit(t.Context(), submission{name: "n", script: "/s"}); err != nil {
		t.Fatal(err)
	}
	for _, arg := range p.ran[0] {
		for _, unwanted := range []string{"--partition", "--account", "--exclusive", "--nodelist", "--time"} {
			if strings.HasPrefix(arg, unwanted) {
				t.Errorf("%s was not asked for", arg)
			}
		}
	}
}

func TestSbatchErrors(t *testing.T) {
	for said, want := range map[string]error{
		"!sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)": errAway,
		"!sbatch: error: Batch job submission failed: Socket timed out on send/recv operation":              errAway,
		"hangs": errAway,
		"!sbatch: error: invalid partition specified: nope":                                                                                                   ErrImpossible,
		"!sbatch: error: Batch job submission failed: Requested time limit is invalid (missing or exceeds some limit)":                                        ErrImpossible,
		"!sbatch: error: \x1b[2JBatch job submission failed: Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)\x1b]0;x\a": ErrImpossible,
	} {
		c, _ := newCluster(t, Options{}, map[string]string{"sbatch": said})
		_, err := c.submit(t.Context(), submission{})
		if !errors.Is(err, want) || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%q: got %q, want %v", said, err, want)
		}
	}
	c, _ := newCluster(t, Options{}, nil)
	if _, err := c.submit(t.Context(), submission{}); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "install Slurm") {
		t.Errorf("without sbatch: %v", err)
	}
	c, _ = newCluster(t, Options{}, map[string]string{"sbatch": "-1\nok\n"})
	if _, err := c.submit(t.Context(), submission{}); err == nil {
		t.Error("no number was no error")
	}
}

func TestSqueueAnswers(t *testing.T) {
	for name, tc := range map[string]struct {
		answers map[string]string
		phase   phase
		text    string
		node    string
	}{
		"pending":           {map[string]string{"squeue": "PENDING||Resources\n"}, pending, "PENDING (Resources)", ""},
		"running":           {map[string]string{"squeue": "RUNNING|n1|None\n"}, running, "RUNNING", "n1"},
		"a list of nodes":   {map[string]string{"squeue": "RUNNING|n[1-2]|None\n"}, running, "RUNNING", ""},
		"away":              {map[string]string{"squeue": "!slurm_load_jobs error: Unable to contact slurm controller (connect failure)"}, unknown, "unknown", ""},
		"hangs":             {map[string]string{"squeue": "hangs"}, unknown, "unknown", ""},
		"purged":            {map[string]string{"squeue": "!slurm_load_jobs error: Invalid job id specified", "sacct": "NODE_FAIL|n2|None\n"}, lost, "NODE_FAIL", "n2"},
		"empty":             {map[string]string{"squeue": "", "sacct": "CANCELLED by 1000|n1|None\n"}, ended, "CANCELLED", "n1"},
		"requeued in sacct": {map[string]string{"squeue": "", "sacct": "REQUEUED|n1|None\nCOMPLETED|n2|None\n"}, ended, "COMPLETED", "n2"},
		"no accounting":     {map[string]string{"squeue": "", "sacct": "!Slurm accounting storage is disabled"}, forgotten, "forgotten", ""},
		"accounting lags":   {map[string]string{"squeue": "", "sacct": "RUNNING|n1|None\n"}, forgotten, "forgotten", ""},
		"escape codes":      {map[string]string{"squeue": "FAILED|n1|\x1b[2Jboo\n"}, ended, "FAILED (boo)", "n1"},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := newCluster(t, Options{}, tc.answers)
			st := c.state(t.Context(), "7")
			wants(t, "phase", st.phase, tc.phase)
			wants(t, "node", st.node, tc.node)
			contains(t, "text", st.String(), tc.text)
		})
	}
}

func TestReasons(t *testing.T) {
	for reason, want := range map[string]bool{
		"PartitionConfig": true, "PartitionTimeLimit": true, "PartitionNodeLimit": true, "NodeLimit": true, "BadConstraints": true,
		"QOSMaxCpuPerJobLimit": true, "AssocMaxWallDurationPerJobLimit": true, "QOSMaxWallDurationPerJobLimit": true, "AccountNotAllowed": true,
		"Resources": false, "Priority": false, "Dependency": false, "ReqNodeNotAvail, UnavailableNodes:n1": false, "NodeDown": false,
		"QOSMaxJobsPerUserLimit": false, "AssocGrpCpuLimit": false, "JobHeldUser": false, "PartitionDown": false, "None": false, "": false,
	} {
		wants(t, reason, impossibleReason(reason), want)
	}
}

func TestFindTellsSubmissionsApart(t *testing.T) {
	c, p := newCluster(t, Options{}, map[string]string{"squeue": "9|ab.1\n11|ab.2\n12|\n"})
	id, err := c.find(t.Context(), submission{name: "si_k", mark: "ab.2"})
	if err != nil || id != "11" {
		t.Errorf("got %q, %v", id, err)
	}
	if !slices.Contains(p.ran[0], "si_k") || !slices.Contains(p.ran[0], "--me") {
		t.Errorf("ran %v", p.ran[0])
	}
	if id, err := c.find(t.Context(), submission{mark: "ab.3"}); err != nil || id != "" {
		t.Errorf("got %q, %v", id, err)
	}
	c, _ = newCluster(t, Options{}, map[string]string{"squeue": "!Unable to contact"})
	if _, err := c.find(t.Context(), submission{}); !errors.Is(err, errAway) {
		t.Errorf("got %v", err)
	}
}

func TestScancel(t *testing.T) {
	for said, fails := range map[string]bool{
		"": false, "!scancel: error: Kill job error on job id 7: Invalid job id specified": false,
		"!scancel: error: Kill job error on job id 7: Job/step already completing or completed": false,
		"!scancel: error: Unable to contact slurm controller":                                   true, "hangs": true,
	} {
		c, _ := newCluster(t, Options{}, map[string]string{"scancel": said})
		if err := c.cancel(t.Context(), "7"); (err != nil) != fails {
			t.Errorf("%q: got %v", said, err)
		}
	}
}

func TestEnvironmentOfTheTools(t *testing.T) {
	got := toolEnv([]string{"PATH=/bin", "SLURM_CONF=/c", "SLURM_JOB_ID=5", "SLURMD_NODENAME=n", "SQUEUE_PARTITION=x", "SBATCH_ACCOUNT=a", "LC_ALL=de_DE", "LANG=de"})
	want := []string{"PATH=/bin", "SLURM_CONF=/c", "SBATCH_ACCOUNT=a", "LC_ALL=C"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestOptionsThatCannotWork(t *testing.T) {
	good := Options{Local: refuser{t}, Self: "/bin/si", WorkDir: t.TempDir()}
	for name, tc := range map[string]struct {
		change func(*Options)
		says   string
	}{
		"no runner":              {func(o *Options) { o.Local = nil }, "no runner"},
		"relative work folder":   {func(o *Options) { o.WorkDir = "work" }, "must be absolute"},
		"partition with options": {func(o *Options) { o.Partition = "a --wrap=x" }, "partition"},
		"no dash":                {func(o *Options) { o.ExtraArgs = []string{"gpu:1"} }, "starts with a dash"},
		"an option of ours":      {func(o *Options) { o.ExtraArgs = []string{"--output=/tmp/x"} }, "--output itself"},
		"a short one of ours":    {func(o *Options) { o.ExtraArgs = []string{"-Jname"} }, "-J itself"},
		"options for another": {func(o *Options) {
			o.Partition, o.Commands = "p", &Commands{Submit: []string{"a", "{script}"}, Status: []string{"b", "{id}"}, Cancel: []string{"c", "{id}"}}
		}, "put them into the submit command"},
		"no status command": {func(o *Options) {
			o.Commands = &Commands{Submit: []string{"a", "{script}"}, Cancel: []string{"c", "{id}"}}
		}, "the status command is missing"},
		"a submit command without the script": {func(o *Options) {
			o.Commands = &Commands{Submit: []string{"a"}, Status: []string{"b", "{id}"}, Cancel: []string{"c", "{id}"}}
		}, "{script}"},
		"an id without a group": {func(o *Options) {
			o.Commands = &Commands{Submit: []string{"a", "{script}"}, Status: []string{"b", "{id}"}, Cancel: []string{"c", "{id}"}, ID: "x+"}
		}, "no group"},
	} {
		t.Run(name, func(t *testing.T) {
			o := good
			tc.change(&o)
			if _, err := New(o); err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("got %v, want it to say %q", err, tc.says)
			}
		})
	}
	if _, err := New(good); err != nil {
		t.Errorf("good options: %v", err)
	}
}

func TestJobNames(t *testing.T) {
	a, b := jobName("/track/one", "round/1; rm -rf ~\n\x1b[2J"), jobName("/track/two", "round/1; rm -rf ~\n\x1b[2J")
	if a == b {
		t.Error("two tracks share the names of their jobs")
	}
	if !plainWord(a) || !strings.HasPrefix(a, "si_round_1__rm_-rf___") {
		t.Errorf("got %q", a)
	}
	if jobName("/w", "a/b") == jobName("/w", "a_b") {
		t.Error("two keys share a name")
	}
	if n := len(jobName("/w", strings.Repeat("k", 1000))); n > 64 {
		t.Errorf("%d characters", n)
	}
}
