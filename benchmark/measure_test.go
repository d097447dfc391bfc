package benchmark

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"si/internal/proc"
	"si/track"
)

func TestMain(m *testing.M) {
	if code, was := proc.Supervise(os.Args); was {
		syscall.Exit(code) // os.Exit waits a second under the race detector
	}
	os.Exit(m.Run())
}

// quick spares this program, where it is a supervisor, the second that the race
// detector waits at the end.
type quick struct{ proc.Runner }

func (q quick) Run(ctx context.Context, c proc.Command) (proc.Result, error) {
	c.Env = append(slices.Clone(c.Env), "GORACE=atexit_sleep_ms=0")
	return q.Runner.Run(ctx, c)
}

// bench measures a shell command in a new tree.
type bench struct {
	m   Measurer
	job Job
}

func newBench(t *testing.T, spec Spec) *bench {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	top := t.TempDir()
	b := &bench{
		m: Measurer{Run: quick{proc.New(proc.Options{Self: self, Mark: "benchmark-test-" + strconv.Itoa(os.Getpid())})}, Host: os.LookupEnv},
		job: Job{
			Spec: spec, Dir: filepath.Join(top, "tree"), Home: filepath.Join(top, "home"), Tmp: filepath.Join(top, "tmp"),
			Log: filepath.Join(top, "logs", "run.log"), Timeout: time.Minute, Label: "the test's tree",
		},
	}
	if err := os.Mkdir(b.job.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bench) measure(t *testing.T) Measurement {
	t.Helper()
	got, err := b.m.Measure(t.Context(), b.job)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func jsonSpec(command string) Spec {
	return Spec{Command: command, Format: FormatJSON, Metric: "primary", Direction: track.HigherIsBetter}
}

func TestMeasure(t *testing.T) {
	b := newBench(t, jsonSpec(`echo start; echo '{"primary": 2.5, "sub_scores": {"a": 1}}'; echo warn >&2`))
	got := b.measure(t)
	if got.Fault != nil || got.Reading.Score != 2.5 || got.Reading.SubScores["a"] != 1 || got.Exit != 0 {
		t.Fatalf("measured %+v, fault %v", got, got.Fault)
	}
	if got.Wall <= 0 || got.MaxRSS <= 0 || !strings.HasPrefix(got.Raw, "start\n{") {
		t.Errorf("wall %v, memory %d, raw %q", got.Wall, got.MaxRSS, got.Raw)
	}
	for file, want := range map[string]string{b.job.Log: "start\n{\"primary\": 2.5, \"sub_scores\": {\"a\": 1}}\n", b.job.Log + ".err": "warn\n"} {
		if data, err := os.ReadFile(file); err != nil || string(data) != want {
			t.Errorf("%s holds %q, %v", filepath.Base(file), data, err)
		}
	}
}

func TestMeasureFaults(t *testing.T) {
	for _, c := range []struct {
		name, command string
		category      track.Category
		what, line    string
	}{
		{"failing though it prints a score", `echo '{"primary": 9}'; echo broken >&2; exit 3`, track.CategoryLogicError, "exit code 3", "broken"},
		{
			"a failure amid much", `echo hm >&2; printf -- '--- FAIL: BenchmarkA\n    a_test.go:5: got 1\tnot 2\nBenchmarkB 1 2 ns/op\n--- FAIL: BenchmarkC\nFAIL\nexit status 1\nFAIL\tx\t3s\n'; exit 1`,
			track.CategoryLogicError, "exit code 1", "--- FAIL: BenchmarkA / --- FAIL: BenchmarkC",
		},
		{"a failure in tabs", `printf 'FAIL\tx\t3s\n'; exit 1`, track.CategoryLogicError, "exit code 1", "FAIL x 3s"},
		{"not found", `/nowhere/bench`, track.CategoryLogicError, "exit code 127", "nowhere"},
		{"killed", `kill -KILL $$`, track.CategoryOOM, "killed", ""},
		{"a part killed", `sh -c 'kill -KILL $$'; exit $?`, track.CategoryOOM, "killed", ""},
		{"crashed", `kill -SEGV $$`, track.CategoryLogicError, "SIGSEGV", ""},
		{"no score", `echo hello`, track.CategoryParseError, "no line", "hello"},
		{"not finite", `echo '{"primary": NaN}'`, track.CategoryParseError, "not a JSON object", "NaN"},
		{"binary", `head -c 300000 /dev/zero | tr '\0' '\377'; printf '\n\000\033[2J'`, track.CategoryParseError, "no line", `\x00\x1b[2J`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := newBench(t, jsonSpec(c.command)).measure(t)
			f := got.Fault
			if f == nil || f.Category != c.category || !strings.Contains(f.What, c.what) || !strings.Contains(f.Line, c.line) {
				t.Fatalf("fault %+v (%s, code %d)", f, got.Outcome, got.Exit)
			}
			if got.Reading.Score != 0 || got.Reading.SubScores != nil {
				t.Errorf("a reading beside a fault: %+v", got.Reading)
			}
			if a := f.Analysis(); a.What == "" || a.Why == "" || a.Lesson == "" {
				t.Errorf("incomplete analysis %+v", a)
			}
		})
	}
}

// TestMeasureHang: also the children that left the session are ended.
func TestMeasureHang(t *testing.T) {
	b := newBench(t, jsonSpec(`setsid sleep 1000 & echo $! > pid; echo waiting; sleep 1000`))
	b.job.Timeout = 300 * time.Millisecond
	started := time.Now()
	got := b.measure(t)
	if got.Fault == nil || got.Fault.Category != track.CategoryTimeout || !strings.Contains(got.Fault.Line, "waiting") {
		t.Errorf("fault %v", got.Fault)
	}
	if took := time.Since(started); took > 20*time.Second {
		t.Errorf("took %s", took)
	}
	gone(t, filepath.Join(b.job.Dir, "pid"))
}

// TestMeasureDaemon: what the command leaves behind does not delay its end,
// does not live on, and is told.
func TestMeasureDaemon(t *testing.T) {
	b := newBench(t, jsonSpec(`setsid sleep 1000 & echo $! > pid; echo '{"primary": 1}'`))
	got := b.measure(t)
	if got.Fault != nil || got.Reading.Score != 1 || !slices.Contains(got.Reading.Odd, OddLeftovers) {
		t.Errorf("measured %+v, fault %v", got.Reading, got.Fault)
	}
	gone(t, filepath.Join(b.job.Dir, "pid"))
}

func gone(t *testing.T, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("process %d lives on: %v", pid, err)
	}
}

// TestMeasureFlood: 200 MB are neither kept in memory nor all on disk, and the
// score behind them is found.
func TestMeasureFlood(t *testing.T) {
	b := newBench(t, jsonSpec(`yes 'a line of a benchmark that does not stop talking' | head -c 200000000; echo; echo '{"primary": 4}'`))
	got := b.measure(t)
	if got.Fault != nil || got.Reading.Score != 4 || !slices.Equal(got.Reading.Odd, []string{OddGap}) {
		t.Fatalf("measured %+v, fault %v", got.Reading, got.Fault)
	}
	info, err := os.Stat(b.job.Log)
	if err != nil || info.Size() > logMax+1024 {
		t.Errorf("the log has %v, %v", info.Size(), err)
	}
	if len(got.Raw) > maxRaw {
		t.Errorf("%d bytes of raw output", len(got.Raw))
	}
}

func TestMeasureCancelled(t *testing.T) {
	b := newBench(t, jsonSpec(`echo up > started; sleep 1000`))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	b.m.Run = cancelling{b.m.Run, cancel}
	if _, err := b.m.Measure(ctx, b.job); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// cancelling cancels the context as soon as the command prints.
type cancelling struct {
	proc.Runner
	cancel func()
}

func (c cancelling) Run(ctx context.Context, cmd proc.Command) (proc.Result, error) {
	cmd.Args = []string{"-c", "echo up; " + cmd.Args[1]}
	cmd.Stdout.Line = func([]byte) { c.cancel() }
	return c.Runner.Run(ctx, cmd)
}

func TestMeasureWithoutTree(t *testing.T) {
	b := newBench(t, jsonSpec(`echo 1`))
	b.job.Dir = filepath.Join(b.job.Dir, "absent")
	if got, err := b.m.Measure(t.Context(), b.job); err == nil || !strings.Contains(err.Error(), "the test's tree") {
		t.Errorf("measured %+v, error %v", got, err)
	}
}

func TestMeasurePassFail(t *testing.T) {
	for command, want := range map[string]float64{"exit 0": 1, "exit 1": 0, "exit 125": 0} {
		if got := newBench(t, Spec{Command: command, Format: FormatPassFail}).measure(t); got.Fault != nil || got.Reading.Score != want {
			t.Errorf("%s: %+v, fault %v", command, got.Reading, got.Fault)
		}
	}
	for _, command := range []string{"/nowhere/tests", "kill -KILL $$", "kill -TERM $$"} {
		if got := newBench(t, Spec{Command: command, Format: FormatPassFail}).measure(t); got.Fault == nil {
			t.Errorf("%s: scored %v", command, got.Reading.Score)
		}
	}
}

func TestMeasureResultFiles(t *testing.T) {
	const old = `{"primary": 99}`
	for _, c := range []struct {
		name, prepare, command string
		want                   float64
		fault                  string
	}{
		{name: "written", command: `mkdir -p out; echo '{"primary": 5}' > out/r.json`, want: 5},
		{name: "left over from an earlier run", prepare: `mkdir out; echo '` + old + `' > out/r.json`, command: `true`, fault: "wrote no result file"},
		{name: "an old file moved there", prepare: `mkdir out; echo '` + old + `' > x; touch -d 2001-01-01 x`, command: `mv x out/r.json`, fault: "older than the run"},
		{name: "a link", prepare: `mkdir out; echo '` + old + `' > x`, command: `ln -s ../x out/r.json`, fault: "a symbolic link"},
		{name: "below a link", prepare: `mkdir real; ln -s real out`, command: `echo '` + old + `' > out/r.json`, fault: "below a symbolic link"},
		{name: "outside by a link", prepare: `ln -s /dev out`, command: `true`, fault: "wrote no result file"},
		{name: "a pipe", prepare: `mkdir out`, command: `mkfifo out/r.json`, fault: "a pipe"},
		{name: "a folder", prepare: `mkdir -p out/r.json`, command: `true`, fault: "is a folder"},
		{name: "too large", command: `mkdir out; truncate -s 70000000 out/r.json`, fault: "larger than 64 MiB"},
		{name: "standard output does not count", command: `echo '{"primary": 1}'`, fault: "wrote no result file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := jsonSpec(c.command)
			spec.ResultFiles = []string{"out/r.json"}
			b := newBench(t, spec)
			prepare := exec.CommandContext(t.Context(), "/bin/sh", "-c", c.prepare)
			prepare.Dir = b.job.Dir
			if out, err := prepare.CombinedOutput(); err != nil {
				t.Fatal(err, string(out))
			}
			got := b.measure(t)
			if c.fault == "" {
				if got.Fault != nil || got.Reading.Score != c.want {
					t.Errorf("measured %+v, fault %v", got.Reading, got.Fault)
				}
				return
			}
			if got.Fault == nil || got.Fault.Category != track.CategoryParseError || !strings.Contains(got.Fault.What, c.fault) {
				t.Errorf("fault %v, read %v", got.Fault, got.Reading.Score)
			}
		})
	}
}

func TestResultFileNamedLikeAGlob(t *testing.T) {
	spec := jsonSpec(`echo '{"primary": 5}' > 'r[1].json'; echo '{"primary": 6}' > r1.json`)
	spec.ResultFiles = []string{"r[1].json"}
	if got := newBench(t, spec).measure(t); got.Fault != nil || got.Reading.Score != 5 {
		t.Errorf("measured %v, fault %v", got.Reading.Score, got.Fault)
	}
}

func TestMeasureSeesNoSecrets(t *testing.T) {
	b := newBench(t, Spec{Command: "env", Format: FormatPassFail})
	user := map[string]string{
		"PATH": os.Getenv("PATH"), "HOME": "/users/me", "LANG": "C.UTF-8", "TERM": "xterm", "SOME_API_KEY": "k1", "GITHUB_TOKEN": "k2",
		"GIT_DIR": "/elsewhere", "SSH_AUTH_SOCK": "/s", "EDITOR": "vi",
	}
	b.m.Host = func(key string) (string, bool) { v, ok := user[key]; return v, ok }
	b.job.Env = []string{"WANTED=yes", "MY_SECRET=k3", "HOME=/users/other"}
	raw := b.measure(t).Raw
	for _, want := range []string{"WANTED=yes", "LANG=C.UTF-8", "HOME=" + b.job.Home, "TMPDIR=" + b.job.Tmp, "CARGO_HOME=/users/me/.cargo", "GOMODCACHE=/users/me/go/pkg/mod"} {
		if !strings.Contains(raw, want+"\n") {
			t.Errorf("%s is missing", want)
		}
	}
	for _, bad := range []string{"k1", "k2", "k3", "GIT_DIR", "SSH_AUTH", "TERM=", "EDITOR", "/users/other"} {
		if strings.Contains(raw, bad) {
			t.Errorf("%s got through", bad)
		}
	}
}

func TestCommandGuard(t *testing.T) {
	b := newBench(t, Spec{})
	for command, ok := range map[string]bool{"true": true, "echo no >&2; exit 1": false, "test -n \"$TMPDIR\"": true} {
		r, err := b.m.CommandGuard(t.Context(), b.job, Guard{Name: "tests", Command: command})
		if err != nil || r.OK != ok {
			t.Errorf("%s: %+v, %v", command, r, err)
		}
		if f := r.Fault(); ok != (f == nil) || (f != nil && !strings.Contains(f.What, "no")) {
			t.Errorf("%s: fault %v", command, f)
		}
	}
}

// TestEqualEnvironments: the order of a map must not show.
func TestEqualEnvironments(t *testing.T) {
	host := func(key string) (string, bool) { return "value of " + key, key != "GOENV" }
	first := Environment(host, "/h", "/t", []string{"B=2", "A=1"})
	for range 20 {
		if !slices.Equal(first, Environment(host, "/h", "/t", []string{"A=1", "B=2"})) {
			t.Fatal("two environments differ")
		}
	}
}

func TestGoSettingsFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "env")
	content := "GOMODCACHE=/cache/mod\nGOFLAGS=-mod=mod\nGOPROXY=https://me:pw@host\n"
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	user := map[string]string{"GOENV": file, "HOME": "/users/me", "GOFLAGS": "-v"}
	env := Environment(func(key string) (string, bool) { v, ok := user[key]; return v, ok }, "/h", "/t", nil)
	for _, want := range []string{"GOMODCACHE=/cache/mod", "GOFLAGS=-v", "GOENV=off", "GOCACHE=/h/.cache/go-build"} {
		if !slices.Contains(env, want) {
			t.Errorf("%s is missing from %q", want, env)
		}
	}
	if strings.Contains(fmt.Sprint(env), "pw@") {
		t.Error("the proxy's password got through")
	}
}

func TestSpecOf(t *testing.T) {
	s := track.DefaultSettings()
	s.BenchmarkCommand = "make bench"
	if spec, err := SpecOf(s); err != nil || spec.Command != "make bench" || spec.Metric != "primary" {
		t.Errorf("%+v, %v", spec, err)
	}
	s.BenchmarkFormat = "criterion"
	if spec, err := SpecOf(s); err != nil || len(spec.ResultFiles) != 2 {
		t.Errorf("%+v, %v", spec, err)
	}
	s.BenchmarkFormat, s.BenchmarkCommand, s.BenchmarkDirection = "xml", " ", "up"
	s.SI.Benchmark = track.FormatOptions{ResultFiles: []string{"../x", "/y", "a/[", ".git/z", ""}, Regex: "("}
	s.SI.Measure.Env = []string{"OPENAI_API_KEY", "HOME", "A=B", "FINE"}
	_, err := SpecOf(s)
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{
		"benchmark_command", `benchmark_format: "xml"`, "benchmark_direction", `"../x" leads out`, `"/y" is absolute`,
		`"a/[" is not a valid`, "lies in .git", `"" names no file`, "si.benchmark.regex", "OPENAI_API_KEY", "HOME is set", `"A=B"`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing from: %v", want, err)
		}
	}
	if strings.Contains(err.Error(), "FINE") {
		t.Error("FINE was refused")
	}
}

func TestSpecOfRegex(t *testing.T) {
	s := track.DefaultSettings()
	s.BenchmarkCommand, s.BenchmarkFormat = "x", "regex"
	for re, want := range map[string]string{"": "", `(?P<value>\d+)`: "", `\d+`: "no group named value", "(": "missing closing"} {
		s.SI.Benchmark.Regex = re
		_, err := SpecOf(s)
		if (want == "") != (err == nil) || (err != nil && !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v", re, err)
		}
	}
	s.BenchmarkFormat, s.BenchmarkDirection, s.SI.Benchmark.Regex = "pass_fail", track.LowerIsBetter, ""
	if _, err := SpecOf(s); err == nil {
		t.Error("pass_fail with lower_is_better was accepted")
	}
}
