// Package realagents brings real agent programs into a folder of their own and
// points them at a scripted model server: for tests, which are run only when they
// are asked for, since the programs are large. Nothing of the user's programs,
// settings or logins is used, and no model.
package realagents

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"si/internal/clean"
	"si/internal/proc"
)

// Need is where the programs are, for a test that wants them; it installs them. Where
// nobody has asked for such tests, the test is skipped.
func Need(t *testing.T, run proc.Runner) (bin string) {
	t.Helper()
	Asked(t)
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	if bin, err = Install(t.Context(), run, cache, os.Environ()); err != nil {
		t.Fatal(err)
	}
	return bin
}

// Asked skips the test unless tests with real agents are asked for.
func Asked(t *testing.T) {
	t.Helper()
	if os.Getenv(EnableKey) == "" {
		t.Skip("set " + EnableKey + "=1 to try real agents; they are installed with npm, 2 GB")
	}
}

// EnableKey is the environment variable that asks for tests with real agents.
const EnableKey = "SI_AGENTS"

// Packages are the programs, and the node that runs them, in the versions that the tests have been seen to pass
// with.
func Packages() []string {
	return []string{
		"@openai/codex@0.171.0",
		"@anthropic-ai/claude-code@2.1.332",
		"@google/gemini-cli@0.61.0",
		"@earendil-works/pi-coding-agent@1.6.0",
		"opencode-ai@1.18.33",
		"@qwen-code/qwen-code@0.24.4",
		"@github/copilot@1.0.102",
		"node@22.23.3", // pi needs a newer one than many machines have
	}
}

// Install brings the packages into a folder below cache, unless they are there,
// and returns the folder of the programs. env is that of npm.
func Install(ctx context.Context, run proc.Runner, cache string, env []string) (bin string, err error) {
	dir := filepath.Join(cache, "si-test-agents")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make the folder of the agents: %w", err)
	}
	bin = filepath.Join(dir, "node_modules", ".bin")
	list := filepath.Join(dir, "installed")
	want := strings.Join(Packages(), "\n")
	if have, err := os.ReadFile(list); err == nil && string(have) == want {
		return bin, nil
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"private": true}`), 0o600); err != nil {
		return "", fmt.Errorf("prepare the folder of the agents: %w", err)
	}
	r, err := run.Run(ctx, proc.Command{
		Path: "npm", Args: slices.Concat([]string{"install", "--no-audit", "--no-fund", "--loglevel=error"}, Packages()),
		Dir: dir, Env: env, Merge: true, Wall: 15 * time.Minute,
	})
	if err == nil && (r.Outcome != proc.Exited || r.Code != 0) {
		err = errors.New(clean.Line(string(r.Stdout.Tail), 500))
	}
	if err != nil {
		return "", fmt.Errorf("install the agents with npm: %w", err)
	}
	return bin, os.WriteFile(list, []byte(want), 0o600)
}
