package loop

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWhatEachRunBuildsAnewIsTold: many files that are taken away before each run are
// most likely a build; a few are not worth a word.
func TestWhatEachRunBuildsAnewIsTold(t *testing.T) {
	for files, told := range map[int]bool{rebuiltFiles - 1: false, rebuiltFiles: true} {
		dir := t.TempDir()
		home, err := takeSnapshot(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range files {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("\x1b[2Jbuilt%d", i)), []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := home.restore(); err != nil {
			t.Fatal(err)
		}
		hint := (&lab{arms: []*arm{{home: home}}}).rebuilds()
		if got := strings.Contains(hint, "--setup") && strings.Contains(hint, "its HOME"); got != told || strings.Contains(hint, "\x1b") {
			t.Errorf("%d files: %q", files, hint)
		}
	}
}
