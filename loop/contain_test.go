package loop

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"si/agents"
	"si/gitops"
	"si/internal/proc"
	"si/internal/sandbox"
)

// TestWhatACommandOfAClaimMayReach: an agent's word makes the program run a command,
// which must not get further than the agent did: no key, no login of another agent's
// program, no network.
func TestWhatACommandOfAClaimMayReach(t *testing.T) {
	l := besides(t)
	home := filepath.Join(t.TempDir(), "home")
	if err := os.MkdirAll(filepath.Join(home, ".claude"), 0o700); err != nil {
		t.Fatal(err)
	}
	l.cfg.Lookup = func(name string) (string, bool) {
		value, ok := map[string]string{"HOME": home, "PATH": "/bin", "OPENAI_API_KEY": "sk-secret"}[name]
		return value, ok
	}
	l.cfg.Env, l.cfg.Sandbox = []string{"OPENAI_API_KEY"}, &sandbox.Sandbox{}
	l.cfg.Folders = map[agents.Role]agents.Folders{agents.Executor: {Writable: []string{".claude"}}}
	l.cfg.Repo = aRepository(t)
	r := &round{Loop: l, n: 1}
	agent := r.task(agents.Executor, "executor_a", t.TempDir())
	if err := r.containAgent(&agent); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(agent.Contain.Writable, filepath.Join(home, ".claude")) || !agent.Contain.Network || !strings.Contains(strings.Join(agent.Env, " "), "sk-secret") {
		t.Fatalf("the agent itself: %+v, %q", agent.Contain, agent.Env)
	}
	command := r.task(agents.Executor, "proof", t.TempDir())
	if err := r.containCommand(&command); err != nil {
		t.Fatal(err)
	}
	c := command.Contain
	if c.Network || c.Nested || !slices.Contains(c.Writable, command.Dir) || slices.Contains(c.Writable, filepath.Join(home, ".claude")) {
		t.Errorf("%+v", c)
	}
	for _, name := range agents.AllFolders().In(home).Writable {
		if !slices.Contains(c.Hidden, name) {
			t.Errorf("%s is not hidden", name)
		}
	}
	if strings.Contains(strings.Join(command.Env, " "), "sk-secret") {
		t.Errorf("it has a key: %q", command.Env)
	}
}

func aRepository(t *testing.T) *gitops.Repo {
	t.Helper()
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	run := proc.New(proc.Options{Self: self, Mark: "si-contain-test"})
	for _, args := range [][]string{{"init", "-q"}, {"-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "--allow-empty", "-m", "start"}} {
		result, err := run.Run(t.Context(), proc.Command{Path: "git", Args: args, Dir: dir, Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1"}})
		if err != nil || result.Code != 0 {
			t.Fatalf("git %v: %v %s", args, err, result.Stderr.Tail)
		}
	}
	repo, err := gitops.Open(t.Context(), dir, run)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = repo.Close() })
	return repo
}
