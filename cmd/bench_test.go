package cmd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// BenchmarkStart is the time from starting the program to its end, for the
// commands that people wait for.
func BenchmarkStart(b *testing.B) {
	dir := b.TempDir()
	si := filepath.Join(dir, "si")
	build := exec.CommandContext(b.Context(), "go", "build", "-o", si, "./si")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("build: %v\n%s", err, out)
	}
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1"}
	repo := filepath.Join(dir, "repo")
	setUp := exec.CommandContext(b.Context(), "sh", "-c", `mkdir "$1" && cd "$1" && git init -q -b main && echo 1 >v && git add v &&
		git -c user.name=b -c user.email=b@example.org commit -q -m start &&
		"$2" init --trust --no-canary --objective "Go faster" --scope . --benchmark "echo '{\"primary\": 1}'"`, "sh", repo, si)
	setUp.Env = env
	if out, err := setUp.CombinedOutput(); err != nil {
		b.Fatalf("set up: %v\n%s", err, out)
	}
	for _, args := range [][]string{{"--help"}, {"status"}, {"history"}} {
		b.Run(args[0], func(b *testing.B) {
			for range b.N {
				cmd := exec.CommandContext(b.Context(), si, args...)
				cmd.Dir, cmd.Env = repo, env
				if out, err := cmd.CombinedOutput(); err != nil {
					b.Fatalf("si %v: %v\n%s", args, err, out)
				}
				b.ReportMetric(float64(maxRSS(cmd.ProcessState))/(1<<20), "MB-peak")
			}
		})
	}
}
