package cmd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"si/internal/modelserver"
	"si/internal/proc"
	"si/internal/realagents"
)

// TestRealAgents lets real agent programs play a whole round of the demo against a
// scripted model server: research, plans, reviews, edits; the gain lands on the
// improve branch. The programs have a home that is thrown away, and no network but the
// loopback is needed.
func TestRealAgents(t *testing.T) {
	if os.Getenv(realagents.EnableKey) == "" {
		t.Skip("set " + realagents.EnableKey + "=1 to try real agents; they are installed with npm, 1.3 GB")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	bin, err := realagents.Install(t.Context(), proc.New(proc.Options{Self: program(t, "si"), Mark: "test-agents"}), cache, os.Environ())
	if err != nil {
		t.Skipf("the agents cannot be installed here: %v", err)
	}
	for _, agent := range []string{"claude:claude-sonnet-4-5", "codex:scripted", "pi:scripted/scripted", "gemini:gemini-2.5-pro"} {
		name, _, _ := strings.Cut(agent, ":")
		t.Run(name, func(t *testing.T) {
			server, err := modelserver.Start(modelserver.DemoPlayer().Play)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = server.Close() })
			home := t.TempDir()
			if err := realagents.Home(home, server.URL()); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(filepath.Join(home, "tmp"), 0o700); err != nil {
				t.Fatal(err)
			}
			writeFile(t, filepath.Join(home, ".config/si/config.yaml"), "agent_env: ["+strings.Join(realagents.KeyNames(), ", ")+"]\n")
			demo := filepath.Join(home, "demo")
			cmd := exec.CommandContext(t.Context(), program(t, "si"), "demo", demo, "--no-tui", "--max-iterations", "1", "--agent", agent)
			cmd.Env = append(realagents.Env(bin, home, server.URL()), "XDG_STATE_HOME="+filepath.Join(home, "state"), "GIT_CONFIG_NOSYSTEM=1")
			cmd.Env = append(cmd.Env, "PATH="+bin+":"+os.Getenv("PATH"))
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if strings.Contains(string(out), "failed") || !strings.Contains(string(out), "round 1: merged") {
				t.Errorf("no gain, or an agent failed:\n%s", out)
			}
			if !strings.Contains(string(out), " tokens") {
				t.Errorf("nothing is known of what it used:\n%s", out)
			}
			kept := gitIn(t, demo, "log", "--merges", "--format=%s", "--branches=improve/*")
			if !strings.Contains(kept, "Iteration 1: Setting ") {
				t.Errorf("the improve branch has %q\n%s", kept, out)
			}
		})
	}
}
