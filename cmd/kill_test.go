package cmd_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestNothingSurvivesKill kills the program with -9 while a benchmark runs that
// has left a daemon in a session of its own, deaf to TERM. Everything holds the
// writing end of a pipe: when the test reads its end, nothing is left. The next
// start then finishes the run.
func TestNothingSurvivesKill(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "alive")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"repo/value.txt": "10\n",
		"repo/bench.sh": `if [ -e hang ]; then
	exec 3>` + pipe + `
	(setsid sh -c 'trap "" TERM; while :; do sleep 1000; done' >/dev/null 2>&1 &)
	echo up >&3
	sleep 1000
fi
echo "{\"primary\": $(cat value.txt)}"
`,
		"agent.txt": "planner_a 1 plan data hang echo hang > hang\n",
		"home/x":    "",
	} {
		writeFile(t, filepath.Join(dir, name), text)
	}
	c := crashed{dir: dir}
	gitIn(t, c.repo(), "init", "-q", "-b", "main")
	gitIn(t, c.repo(), "add", "-A")
	gitIn(t, c.repo(), "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "-m", "start")
	si := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), program(t, "si"), args...)
		cmd.Dir, cmd.Env = c.repo(), c.env()
		return cmd
	}
	init := si("init", "--trust", "--seed", "1", "--objective", "Raise it", "--scope", ".", "--benchmark", "sh bench.sh", "--sealed", "bench.sh",
		"--max-iterations", "1", "--agents", "1", "--agent", "command:agent "+filepath.Join(dir, "agent.txt"))
	if out, err := init.CombinedOutput(); err != nil {
		t.Fatalf("init: %v\n%s", err, out)
	}
	run := si("run")
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	alive, err := os.Open(pipe) // returns when the benchmark has opened its end
	if err != nil {
		t.Fatal(err)
	}
	defer alive.Close()
	if err := alive.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(alive)
	if line, err := lines.ReadString('\n'); line != "up\n" {
		t.Fatalf("the benchmark says %q, %v", line, err)
	}
	if err := run.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = run.Wait()
	if _, err := io.ReadAll(lines); err != nil {
		t.Fatalf("a process of the benchmark is left: %v", err)
	}
	// The plan hangs again, until its time is up.
	settings := filepath.Join(c.paths(t).ConfigDir, "settings.json")
	text, err := os.ReadFile(settings)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, settings, strings.Replace(string(text), `"si": {`, `"si": {"measure": {"timeout_seconds": 0.5},`, 1))
	drain := make(chan error, 1)
	go func() {
		again, err := os.Open(pipe)
		if err == nil {
			_, err = io.Copy(io.Discard, again)
		}
		drain <- err
	}()
	out, err := si("run").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "check of executor_a gave no score (timeout)") {
		t.Fatalf("the next start: %v\n%s", err, out)
	}
	if err := <-drain; err != nil {
		t.Fatal(err)
	}
}
