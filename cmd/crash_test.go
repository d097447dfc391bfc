package cmd_test

import (
	"bufio"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"si/track"
)

// The fewest points at which a three-round run is killed. A write that is no
// longer reached, or no longer goes through the store, lowers the count.
const (
	fewestPoints    = 78
	fewestAllPoints = 275
)

// crashRepo is a program with three numbers, each in a family of its own, and a
// benchmark that repeats exactly.
var crashRepo = map[string]string{
	"config.json": "{\n  \"batch_size\": 8,\n  \"threshold\": 0.9,\n  \"workers\": 1\n}\n",
	"bench.sh": `read -r all < /dev/null
b=$(sed -n 's/.*"batch_size": \([0-9]*\).*/\1/p' config.json)
w=$(sed -n 's/.*"workers": \([0-9]*\).*/\1/p' config.json)
echo "{\"primary\": $((b > 32 ? 64 - b + 32 : b))$((w > 4 ? 8 - w : w)), \"sub_scores\": {\"batch\": $b}}"
`,
}

// TestCrash kills the program with SIGKILL at its durable writes, starts it
// again, and wants the same end as without the kill: the same refs, the same
// documents, and no executor run twice once its result was on disk.
func TestCrash(t *testing.T) {
	start := setUpCrashRepo(t)
	reference := copyTrack(t, start, "reference")
	trace := filepath.Join(t.TempDir(), "trace")
	if out, code := reference.run(t, "DOOM_TRACE="+trace); code != 0 {
		t.Fatalf("the uninterrupted run ended with %d:\n%s", code, out)
	}
	want := reference.snapshot(t)
	points := crashPoints(t, trace)
	t.Logf("%d points, a kill before and one after each", len(points))
	if least := fewest(); len(points) < least {
		t.Fatalf("only %d points, there were %d: are all writes durable?\n%s", len(points), least, strings.Join(points, "\n"))
	}
	kills := make([]string, 0, 2*len(points))
	for _, point := range points {
		kills = append(kills, "before "+point, "after "+point)
	}
	together := chains
	if oneByOne() {
		together = len(kills)
	}
	lone := start.inParallel(t, deal(kills, together), want)
	if len(lone) > 0 { // what a run that was killed before did not come to any more
		t.Logf("%d kills in runs of their own", len(lone))
		start.inParallel(t, deal(lone, len(lone)), want)
	}
}

// chains is how many runs share the kills. A run that goes on after a kill is killed
// again at the next point: that many restarts cost far less than as many runs, and
// they also kill the program while it takes up what a kill left.
const chains = 12

// oneByOne tells that each kill has a run of its own, as all of them have and one that is hunted down.
func oneByOne() bool { return crashAll() || os.Getenv("SI_CRASH_ONLY") != "" }

// deal gives the kills to n runs in turn.
func deal(kills []string, n int) [][]string {
	hands := make([][]string, n)
	for i, kill := range kills {
		hands[i%n] = append(hands[i%n], kill)
	}
	return hands
}

// inParallel checks one copy for each hand of kills, and returns the kills that were
// not reached in company.
func (c crashed) inParallel(t *testing.T, hands [][]string, want map[string]string) []string {
	t.Helper()
	missed := make([][]string, len(hands))
	limit := make(chan struct{}, 3)
	var wg sync.WaitGroup
	for i, kills := range hands {
		limit <- struct{}{}
		wg.Go(func() {
			defer func() { <-limit }()
			one := copyTrack(t, c, fmt.Sprintf("run%d", i))
			missed[i] = one.check(t, kills, want)
			one.remove()
		})
	}
	wg.Wait()
	return slices.Concat(missed...)
}

func crashAll() bool { return os.Getenv("SI_CRASH_ALL") != "" }

func fewest() int {
	switch {
	case os.Getenv("SI_CRASH_ONLY") != "":
		return 0
	case crashAll():
		return fewestAllPoints
	}
	return fewestPoints
}

// crashed is a copy of the repository that was set up, with a home of its own.
type crashed struct {
	dir     string
	program string
}

func (c crashed) repo() string { return filepath.Join(c.dir, "repo") }

func (c crashed) remove() { _ = os.RemoveAll(c.dir) }

// check kills a run at each of the points that it comes to, starts it again each time,
// and compares the end. It returns the kills that were not reached: none may be when
// there is only one.
func (c crashed) check(t *testing.T, kills []string, want map[string]string) (missed []string) {
	t.Helper()
	note, round, left := filepath.Join(c.dir, "note"), "", slices.Clone(kills)
	for len(left) > 0 {
		out, code := c.run(t, "DOOM_AT="+strings.Join(left, "\n"), "DOOM_ROUND="+round, "DOOM_NOTE="+note)
		if code == 0 {
			break
		}
		said, err := os.ReadFile(note)
		in, at, _ := strings.Cut(string(said), "\n")
		i := slices.Index(left, at)
		if code != -1 || err != nil || i < 0 {
			t.Errorf("killed at %q: the next start ended with %d:\n%s", without(kills, left), code, out)
			return nil
		}
		round, left = in, slices.Delete(left, i, i+1)
	}
	switch at := without(kills, left); {
	case len(at) == 0 && len(kills) == 1:
		t.Errorf("%s: the run was not killed", kills[0])
	case len(left) > 0: // it came to its end
		c.compare(t, fmt.Sprintf("killed at %q", at), want)
	default:
		if out, code := c.run(t); code != 0 {
			t.Errorf("killed at %q: the last start ended with %d:\n%s", at, code, out)
			return nil
		}
		c.compare(t, fmt.Sprintf("killed at %q", at), want)
	}
	return left
}

func without(all, some []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return slices.Contains(some, s) })
}

// compare wants the end of the run without a kill.
func (c crashed) compare(t *testing.T, at string, want map[string]string) {
	t.Helper()
	got := c.snapshot(t)
	for _, name := range sortedNames(got, want) {
		if got[name] != want[name] {
			t.Errorf("%s: %s differs\n--- killed and started again\n%s\n--- uninterrupted\n%s", at, name, clip(got[name]), clip(want[name]))
		}
	}
	c.checkExecutors(t, at)
}

// run runs the doomed program; a killed one gives code -1.
func (c crashed) run(t *testing.T, env ...string) (string, int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.program, "run", "--no-tui")
	cmd.Dir = c.repo()
	cmd.Env = append(c.env(), env...)
	out, _ := cmd.CombinedOutput()
	return string(out), cmd.ProcessState.ExitCode()
}

func (c crashed) env() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(c.dir, "home"), "LC_ALL=C", "DOOM_RUN=run", "TZ=UTC",
		"GIT_CONFIG_NOSYSTEM=1", "SI_SANDBOX=off", "SI_CHART_DPI=24",
	}
}

// snapshot is what must come out the same: every ref, and every document.
// Logs, the journal (it tells of the crash) and the lock are left out.
func (c crashed) snapshot(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{"refs": gitIn(t, c.repo(), "for-each-ref", "--format=%(refname) %(objectname)")}
	root := c.paths(t).Root
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if strings.HasPrefix(rel, "logs/") || rel == "state/journal.jsonl" || rel == "state/lock" {
			return nil
		}
		data, err := os.ReadFile(path)
		out[rel] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (c crashed) paths(t *testing.T) track.Paths {
	t.Helper()
	p, err := track.Resolve(track.ResolveInput{ProjectRoot: c.repo(), WorkDir: c.repo()})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// checkExecutors reads the journal: once an executor's candidate is in it, that
// executor may not start again.
func (c crashed) checkExecutors(t *testing.T, at string) {
	t.Helper()
	done := map[string]bool{}
	for ev, err := range track.ReadJournal(c.paths(t).JournalPath()) {
		if err != nil {
			t.Errorf("%s: %v", at, err)
			return
		}
		id := fmt.Sprintf("round %d %s", ev.Round, ev.Actor)
		switch {
		case ev.Ev == track.EvCandidate:
			done[id] = true
		case ev.Ev == track.EvAgentStarted && done[id]:
			t.Errorf("%s: %s ran again though its result was on disk", at, id)
		}
	}
}

func setUpCrashRepo(t *testing.T) crashed {
	t.Helper()
	c := crashed{dir: inMemory(t), program: buildDoomed(t)}
	for name, text := range crashRepo {
		writeFile(t, filepath.Join(c.repo(), name), text)
	}
	gitIn(t, c.repo(), "init", "-q", "--template=", "-b", "main")
	gitIn(t, c.repo(), "add", "-A")
	gitIn(t, c.repo(), "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "-m", "start")
	agents := "1"
	if crashAll() {
		agents = "2"
	}
	cmd := exec.CommandContext(t.Context(), c.program, "init", "--trust", "--seed", "3", "--objective", "Make it faster",
		"--scope", "config.json", "--benchmark", "sh bench.sh", "--sealed", "bench.sh", "--max-iterations", "3", "--agents", agents)
	cmd.Dir, cmd.Env = c.repo(), c.env()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("init: %v\n%s", err, out)
	}
	return c
}

// inMemory is a temporary folder, in memory where the machine offers that: hundreds of
// copies of a repository are made, and what is tested are kills of the program, not of
// the machine.
func inMemory(t *testing.T) string {
	t.Helper()
	const memory, enough = "/dev/shm", 1 << 30
	var fs unix.Statfs_t
	if unix.Statfs(memory, &fs) != nil || fs.Bavail*uint64(fs.Bsize) < enough {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp(memory, "si-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// copyTrack copies the repository as it was after the set-up.
func copyTrack(t *testing.T, from crashed, name string) crashed {
	t.Helper()
	c := crashed{dir: filepath.Join(inMemory(t), name), program: from.program}
	if err := os.CopyFS(c.repo(), os.DirFS(from.repo())); err != nil {
		t.Error(err)
	}
	return c
}

// crashPoints are the points in a trace: by default the first time that each is
// reached, all of them when SI_CRASH_ALL is set. SI_CRASH_ONLY, a part of a
// point's name, is for hunting one down.
func crashPoints(t *testing.T, trace string) []string {
	t.Helper()
	f, err := os.Open(trace)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var points []string
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line := lines.Text()
		if only := os.Getenv("SI_CRASH_ONLY"); only != "" && !strings.Contains(line, only) {
			continue
		}
		if strings.HasPrefix(line, "1 ") || crashAll() {
			points = append(points, line)
		}
	}
	slices.Sort(points)
	return slices.Compact(points)
}

func sortedNames(maps ...map[string]string) []string {
	var names []string
	for _, m := range maps {
		for name := range m {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func clip(s string) string { return s[:min(len(s), 1500)] }
