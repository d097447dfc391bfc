package cmd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestLearningExample plays examples/learning on the demo repository. The story
// itself is told by the script learning.txtar too, on a repository that costs nothing;
// this one builds the demo for each run.
func TestLearningExample(t *testing.T) {
	if os.Getenv("SI_EXAMPLES") == "" {
		t.Skip("set SI_EXAMPLES=1: it takes a minute")
	}
	script, err := filepath.Abs("../examples/learning/run.sh")
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "sh", script, filepath.Join(t.TempDir(), "learning"))
	cmd.Env = append(os.Environ(), "SI="+program(t, "si"), "HOME="+home, "XDG_STATE_HOME="+filepath.Join(home, "state"), "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}
