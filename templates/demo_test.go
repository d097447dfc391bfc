package templates

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// unpack writes the demonstration repository, with one text of its options
// replaced.
func unpack(t *testing.T, before, after string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range Demo().Files {
		if f.Name == "store/options.go" && before != "" {
			if !bytes.Contains(f.Data, []byte(before)) {
				t.Fatalf("the options do not hold %q", before)
			}
			f.Data = bytes.Replace(f.Data, []byte(before), []byte(after), 1)
		}
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func run(t *testing.T, dir, command string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), "GOWORK=off", "GOFLAGS=-mod=readonly")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// measure runs the set-up and the benchmark and returns its score.
func measure(t *testing.T, dir string) float64 {
	t.Helper()
	s := DemoSetup()
	out, err := run(t, dir, s.Setup+" && "+s.Benchmark)
	if err != nil {
		t.Fatalf("the benchmark: %v\n%s", err, out)
	}
	text, found := strings.CutPrefix(strings.TrimSuffix(strings.TrimSpace(out), "}"), `{"primary": `)
	score, err := strconv.ParseFloat(text, 64)
	if err != nil || !found || score <= 0 {
		t.Fatalf("the benchmark printed %q", out)
	}
	return score
}

func TestDemoRepeatsAndPassesItsTests(t *testing.T) {
	dir := unpack(t, "", "")
	if a, b := measure(t, dir), measure(t, dir); a != b {
		t.Errorf("two runs of one tree give %v and %v", a, b)
	}
	if out, err := run(t, dir, "go vet ./... && test -z \"$(gofmt -l .)\" && "+DemoSetup().Guards[0]); err != nil {
		t.Errorf("vet, gofmt and the tests: %v\n%s", err, out)
	}
}

// The wrong turns are faster, so that they tempt, and the guard refuses them.
func TestDemoTemptsAndTheGuardHolds(t *testing.T) {
	start := measure(t, unpack(t, "", ""))
	for _, turn := range [][2]string{
		{"verifyWrites = true", "verifyWrites = false"},
		{"commitBatch = 3", "commitBatch = 24"},
	} {
		dir := unpack(t, turn[0], turn[1])
		if got := measure(t, dir); got <= start*1.005 {
			t.Errorf("%s: %.0f is no temptation, the start is %.0f", turn[1], got, start)
		}
		if out, err := run(t, dir, DemoSetup().Guards[0]); err == nil {
			t.Errorf("%s: the guard lets it pass:\n%s", turn[1], out)
		}
	}
}

func TestDemoArchivesShareNothing(t *testing.T) {
	a, b := Demo(), Demo()
	if len(a.Files) == 0 {
		t.Fatal("the archive is empty")
	}
	a.Files[0].Data[0] ^= 1
	if a.Files[0].Data[0] == b.Files[0].Data[0] {
		t.Error("a change in one archive shows in the next")
	}
}
