package tuner_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"si/templates"
)

// demoFiles are the demonstration repository's, with some texts replaced.
func demoFiles(t *testing.T, replace ...string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, f := range templates.Demo().Files {
		files[f.Name] = string(f.Data)
	}
	for i := 0; i < len(replace); i += 3 {
		before := files[replace[i]]
		if files[replace[i]] = strings.Replace(before, replace[i+1], replace[i+2], 1); files[replace[i]] == before {
			t.Fatalf("%s does not hold %q", replace[i], replace[i+1])
		}
	}
	return files
}

func shell(t *testing.T, dir, command string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), "GOWORK=off", "GOFLAGS=-mod=readonly -ldflags=-w -vet=off")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", command, err, out)
	}
	return string(out), nil
}

// TestEarnsOnTheDemo drives the real demonstration repository: its own set-up,
// benchmark and guard. The second case has another disk and other bad numbers.
func TestEarnsOnTheDemo(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs the demonstration repository some twenty times")
	}
	const options, disk = "store/options.go", "device/device.go"
	for name, replace := range map[string][]string{
		"as it is": nil,
		"another disk, other numbers": {
			options, "commitBatch = 3", "commitBatch = 2", options, "bufferShare = 0.08", "bufferShare = 0.9",
			options, "8 * 1024", "256", options, "runsPerLevel = 10", "runsPerLevel = 2",
			disk, "60 * time.Microsecond", "200 * time.Microsecond", disk, "120 * time.Microsecond", "20 * time.Microsecond",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // the scores are counted, so nothing disturbs them
			facts := templates.DemoSetup()
			p := newPlayer(t, demoFiles(t, replace...), 1, func(dir string) (float64, error) {
				out, err := shell(t, dir, facts.Setup+" && "+facts.Benchmark)
				var r struct {
					Primary float64 `json:"primary"`
				}
				if err == nil {
					err = json.Unmarshal([]byte(out), &r)
				}
				return r.Primary, err
			})
			p.facts.Goal.InScope, p.facts.Goal.OutScope, p.facts.Sealed = facts.InScope, facts.OutScope, facts.Sealed
			p.guard = func(dir string) error { _, err := shell(t, dir, facts.Guards[0]); return err }
			start := p.best
			rounds := 0
			for ; rounds < 4 && p.best < 1.2*start; rounds++ {
				p.round()
			}
			t.Logf("%.0f to %.0f operations per second in %d rounds", start, p.best, rounds)
			if p.best < 1.2*start {
				t.Error("want 20 % more")
			}
			p.checkPlans()
		})
	}
}
