package cmd_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"si/templates"
)

// The campaigns measure the whole program on this machine's clock, so they take
// minutes and a machine that does nothing else. SI_CAMPAIGN is the number of rounds.
func campaignRounds(t *testing.T) int {
	t.Helper()
	n, err := strconv.Atoi(os.Getenv("SI_CAMPAIGN"))
	if err != nil || n < 1 {
		t.Skip("it takes minutes on a quiet machine; make campaign runs it")
	}
	return n
}

// plantRounds is how much the planted program works at first.
const plantRounds = 2000000

// plant is a program that works for as long as its constant says.
const plant = `package main

import "crypto/sha256"

const rounds = 2000000

func main() {
	sum := sha256.Sum256(nil)
	for range rounds {
		sum = sha256.Sum256(sum[:])
	}
	if sum == [32]byte{} {
		panic("impossible")
	}
}
`

// wall times the demo's program and the planted one.
const wall = `s=$(date +%s%N)
./.bench/bench > /dev/null || exit 1
./.bench/plant || exit 1
e=$(date +%s%N)
echo "{\"microseconds\": $(( (e - s) / 1000 ))}"
`

// campaign is the demonstration repository with a benchmark that is a clock.
type campaign struct{ dir, repo, agent string }

func newCampaign(t *testing.T) campaign {
	t.Helper()
	dir := t.TempDir()
	c := campaign{dir: dir, repo: filepath.Join(dir, "repo"), agent: filepath.Join(dir, "agent.txt")}
	for _, f := range templates.Demo().Files {
		writeFile(t, filepath.Join(c.repo, f.Name), string(f.Data))
	}
	writeFile(t, filepath.Join(c.repo, "plant", "main.go"), plant)
	writeFile(t, filepath.Join(c.repo, "wall.sh"), wall)
	gitIn(t, c.repo, "init", "-q", "-b", "main")
	gitIn(t, c.repo, "add", "-A")
	gitIn(t, c.repo, "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "-m", "start")
	return c
}

func (c campaign) si(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program(t, "si"), args...)
	cmd.Dir = c.repo
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(c.dir, "state"), "SI_SANDBOX=off", "SI_CHART_DPI=24", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.org", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.org")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("si %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// setUp returns the smallest gain that set-up says is found.
func (c campaign) setUp(t *testing.T, rounds, agents int) float64 {
	t.Helper()
	out := c.si(t, "init", "--trust", "--accept-noise", "--objective", "Take less time", "--scope", "store/,plant/", "--setup", "mkdir -p .bench && go build -o .bench/ ./cmd/bench ./plant",
		"--benchmark", "sh wall.sh", "--metric", "microseconds", "--direction", "lower_is_better", "--sealed", "wall.sh,device/,cmd/,go.mod,.gitignore",
		"--max-iterations", fmt.Sprint(rounds), "--circuit-breaker", "10000", "--agents", fmt.Sprint(agents), "--agent", "command:"+program(t, "agent")+" "+c.agent)
	t.Log("\n" + out)
	data, err := os.ReadFile(filepath.Join(c.repo, ".omc/self-improve/topics/default/state/agent-settings.json"))
	if err != nil {
		t.Fatal(err)
	}
	var state struct {
		SI struct {
			Smallest float64 `json:"smallest"`
		} `json:"si"`
	}
	if err := json.Unmarshal(data, &state); err != nil {
		t.Fatal(err)
	}
	return state.SI.Smallest
}

// kept counts the rounds that merged something, and the runs of all.
func (c campaign) kept(t *testing.T) (rounds, runs int) {
	t.Helper()
	data := c.journal(t)
	return bytes.Count(data, []byte(`"ev":"merged"`)), bytes.Count(data, []byte(`"ev":"measured"`))
}

func (c campaign) journal(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(c.repo, ".omc/self-improve/topics/default/state/journal.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestNullCampaign plays rounds of three candidates that change nothing but a
// comment. At the default settings at most 1 round of 100 keeps one.
func TestNullCampaign(t *testing.T) {
	n := campaignRounds(t)
	c := newCampaign(t)
	writeFile(t, filepath.Join(c.repo, "plant", "main.go"), strings.Replace(plant, "2000000", "100000", 1)) // about 0.2 s in all
	gitIn(t, c.repo, "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "-a", "-m", "less")
	var script strings.Builder
	for round := 1; round <= n; round++ {
		for i, family := range []string{"data", "optimization", "architecture"} {
			fmt.Fprintf(&script, "planner_%c %d plan %s store/options.go echo '// %d %d' >> store/options.go\n", 'a'+i, round, family, round, i)
		}
	}
	writeFile(t, c.agent, script.String())
	c.setUp(t, n, 3)
	began := time.Now()
	c.si(t, "run")
	rounds, runs := c.kept(t)
	t.Logf("%d rounds of 3 candidates that change nothing: %d kept; %d runs in all, %.1f s a round", n, rounds, runs, time.Since(began).Seconds()/float64(n))
	if rounds > 2*(n+99)/100 {
		t.Errorf("%d of %d rounds kept a change that does nothing", rounds, n)
	}
}

// TestPlantedGains plants a gain of 1.5 times the smallest one that set-up says is
// found, in one round of each of 20 copies of the track.
func TestPlantedGains(t *testing.T) {
	n := min(campaignRounds(t), 20)
	c := newCampaign(t)
	writeFile(t, c.agent, "")
	smallest := c.setUp(t, 1, 1)
	gain := 1.5 * smallest
	share := c.share(t)
	// The rest of the work counts as so many rounds of the planted program.
	rounds := int(plantRounds - gain*(plantRounds+share))
	if rounds < 1 {
		t.Fatalf("this machine finds gains of %.3f only: 1.5 of that is more than the planted program takes", smallest)
	}
	writeFile(t, c.agent, fmt.Sprintf("planner_a 1 plan data plant/main.go sed -i 's/^const rounds = .*/const rounds = %d/' plant/main.go\n", rounds))
	kept, runs := 0, 0
	for i := range n {
		one := c
		one.repo = filepath.Join(c.dir, fmt.Sprintf("copy%d", i))
		if out, err := exec.CommandContext(t.Context(), "cp", "-a", c.repo, one.repo).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		before := bytes.Count(c.journal(t), []byte(`"ev":"measured"`))
		one.si(t, "run")
		k, r := one.kept(t)
		kept, runs = kept+k, runs+r-before
	}
	t.Logf("smallest findable gain %.2f %%; a gain of %.2f %% planted %d times: kept %d times; %d runs", 100*smallest, 100*gain, n, kept, runs)
	if kept < 14*n/20 {
		t.Errorf("kept %d of %d planted gains", kept, n)
	}
}

// share is the time of what is not planted, in rounds of what is.
func (c campaign) share(t *testing.T) float64 {
	t.Helper()
	bin := filepath.Join(c.dir, "bin")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", bin+string(filepath.Separator), "./cmd/bench", "./plant")
	build.Dir = c.repo
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	fastest := func(name string) time.Duration {
		best := time.Hour
		for range 7 {
			began := time.Now()
			if err := exec.CommandContext(t.Context(), filepath.Join(bin, name)).Run(); err != nil {
				t.Fatal(err)
			}
			best = min(best, time.Since(began))
		}
		return best
	}
	return plantRounds * fastest("bench").Seconds() / fastest("plant").Seconds()
}
