package cmd_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestScripts runs the scripts of testdata/script: what a user does and sees.
// $AGENT is a coding agent that does what agent.txt says.
func TestScripts(t *testing.T) {
	fast := buildDoomed(t)
	if err := os.Remove(filepath.Join(filepath.Dir(fast), "si")); err != nil { // here it is the one with the race detector
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", WorkdirRoot: inMemory(t),
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("GIT_CONFIG_NOSYSTEM", "1")
			env.Setenv("GORACE", "atexit_sleep_ms=0")
			env.Setenv("SI_TEST_SELF", fast)
			env.Setenv("PATH", filepath.Dir(fast)+string(filepath.ListSeparator)+env.Getenv("PATH"))
			env.Setenv("GIT_AUTHOR_NAME", "t")
			env.Setenv("GIT_AUTHOR_EMAIL", "t@example.org")
			env.Setenv("GIT_COMMITTER_NAME", "t")
			env.Setenv("GIT_COMMITTER_EMAIL", "t@example.org")
			env.Setenv("SI_SANDBOX", "off") // most agents here do what a sandbox would stop
			env.Setenv("SI_CHART_DPI", "24")
			env.Setenv("AGENT", "command:agent "+filepath.Join(env.WorkDir, "agent.txt"))
			env.Setenv("TRACK", ".omc/self-improve/topics/default")
			return os.MkdirAll(filepath.Join(env.WorkDir, "home"), 0o755)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"repo":  cmdRepo,
			"count": cmdCount,
			"exits": cmdExits,
			"gone":  cmdGone,
		},
	})
}

// cmdRepo makes the folder repo a repository with its files committed, and
// goes there.
func cmdRepo(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: repo")
	}
	dir := ts.MkAbs("repo")
	ts.Check(ts.Exec("git", "-C", dir, "init", "-q", "-b", "main"))
	ts.Check(ts.Exec("git", "-C", dir, "add", "-A"))
	ts.Check(ts.Exec("git", "-C", dir, "commit", "-q", "-m", "start"))
	ts.Check(ts.Chdir(dir))
}

// cmdExits wants si to end with an exit code.
func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE ARGUMENTS…")
	}
	err := ts.Exec("si", args[1:]...)
	code := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if fmt.Sprint(code) != args[0] {
		ts.Fatalf("si %q ended with %d, want %s", args[1:], code, args[0])
	}
}

// cmdCount wants a text n times in a file.
func cmdCount(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: count N TEXT FILE")
	}
	got := fmt.Sprint(strings.Count(ts.ReadFile(args[2]), args[1]))
	if (got == args[0]) == neg {
		ts.Fatalf("%q stands %s times in %s", args[1], got, args[2])
	}
}

// cmdGone wants no process of the machine to have a text in its environment.
func cmdGone(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: gone TEXT")
	}
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	ts.Check(err)
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err == nil && strings.Contains(string(data), args[0]) && !strings.Contains(f, fmt.Sprint(os.Getpid())) {
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(f), "cmdline"))
			ts.Fatalf("a process is left: %s %q", f, line)
		}
	}
}
