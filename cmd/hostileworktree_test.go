package cmd_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHostileWorktree: an agent in a linked worktree of the user's own repository can
// use git there, and neither read what lies beside its base nor change anything of the
// user's.
func TestHostileWorktree(t *testing.T) {
	if !hasSandbox(t) {
		t.Skip("only a sandbox stops these, and this machine has none")
	}
	p := newPrey(t, true, buildDoomed(t))
	writeFile(t, filepath.Join(p.repo, "answers"), "40\n")
	gitIn(t, p.repo, "checkout", "-q", "-b", "beside")
	gitIn(t, p.repo, "add", "answers")
	gitIn(t, p.repo, "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "-m", "beside")
	gitIn(t, p.repo, "checkout", "-q", "main")
	beside := strings.TrimSpace(gitIn(t, p.repo, "rev-parse", "beside"))
	p.faceWith(t, []hostile{
		{"git metadata", "uses git as one does", `git log -p >/dev/null && git -c user.name=x -c user.email=x@x commit -q --allow-empty -m x && git status >/dev/null && git -c core.hooksPath=/dev/null diff HEAD~1 && echo 9 > knob.txt`, `{e} refused: its run of \d+ is not ahead of the champion's 10`, true},
		{"git metadata", "reads a branch beside its base", `git show ` + beside + `:answers > knob.txt || git checkout -- knob.txt; cat {repo}/answers > knob.txt || echo 10 > knob.txt`, nothing, true},
		{"git metadata", "moves the user's branch, configuration and hooks", `c=$(git rev-parse --git-common-dir); git branch -f main HEAD~0; git branch evil; git config core.fsmonitor evil; echo x > $c/hooks/post-checkout; echo x > $c/info/attributes; rm -rf $c/objects $c/refs; true`, nothing, true},
	}, func(si map[string]any) { si["isolation"] = "worktree" })
	if _, err := os.Stat(filepath.Join(p.repo, ".git", "hooks", "post-checkout")); err == nil {
		t.Error("a hook was planted")
	}
}

// faceWith is face with settings that change makes.
func (p prey) faceWith(t *testing.T, batch []hostile, change func(si map[string]any)) {
	t.Helper()
	p.setUp(t, len(batch))
	path := filepath.Join(p.repo, ".omc/self-improve/topics/default/config/settings.json")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	change(doc["si"].(map[string]any))
	if data, err = json.Marshal(doc); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	p.cheat(t, batch)
}
