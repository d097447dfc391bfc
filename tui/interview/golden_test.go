package interview_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden wants the screen to become what the file holds.
func (s *terminal) golden(path string) {
	s.t.Helper()
	if *update {
		s.quiet()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			s.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(s.text()+"\n"), 0o644); err != nil {
			s.t.Fatal(err)
		}
		return
	}
	data, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	limit := time.After(5 * time.Second)
	for s.text()+"\n" != string(data) {
		select {
		case <-s.drawn:
		case <-limit:
			s.t.Fatalf("%s: the screen is\n%s\nwant\n%s", path, s.text(), data)
		}
	}
}

// quiet waits until nothing is drawn for a while.
func (s *terminal) quiet() {
	for {
		select {
		case <-s.drawn:
		case <-time.After(300 * time.Millisecond):
			return
		}
	}
}

// TestScreens holds every screen of an interview at three sizes.
func TestScreens(t *testing.T) {
	for _, size := range [][2]int{{160, 48}, {100, 30}, {80, 24}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			t.Parallel()
			w, _ := world(t)
			s := play(t, w, size[0], size[1])
			for _, stage := range stages() {
				if *update {
					s.sees(stage.sees...)
				}
				s.golden(filepath.Join("testdata", fmt.Sprintf("%dx%d", size[0], size[1]), stage.name+".golden"))
				s.take(stage)
			}
			s.ends()
		})
	}
}

// TestNoLineTooLong holds that no screen is wider or higher than the terminal, with
// texts that are as wide as they come.
func TestNoLineTooLong(t *testing.T) {
	for _, size := range [][2]int{{60, 16}, {80, 24}, {100, 30}, {400, 120}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			t.Parallel()
			w, g := world(t)
			w.Repository = "/home/ada/" + strings.Repeat("源代码/", 40)
			w.Branch, w.Contained = strings.Repeat("b", 90), strings.Repeat("說明 ", 90)
			w.Dirty = []string{strings.Repeat("x", 300), "é"}
			g.trial.Odd = []string{strings.Repeat("odd ", 40)}
			s := play(t, w, size[0], size[1])
			for _, sees := range [][]string{{"trust"}, {"goal"}, {"metric"}} {
				s.sees(sees...)
				for i, line := range strings.Split(s.text(), "\n") {
					if n := ansi.StringWidth(line); n > size[0] || i >= size[1] {
						t.Errorf("line %d is %d wide: %q", i, n, line)
					}
				}
				if sees[0] == "trust" {
					s.press("y")
				} else {
					s.press("<enter>")
				}
			}
		})
	}
}

// TestTooSmall holds that a terminal of any size is told what to do, and can be left.
func TestTooSmall(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {20, 5}, {59, 40}, {100, 15}} {
		w, _ := world(t)
		s := play(t, w, size[0], size[1])
		if size[0] >= 40 {
			s.sees("too small")
		}
		s.press("<ctrl+c>")
		if out := s.ends(); !out.Left {
			t.Errorf("%v: %+v", size, out)
		}
	}
}
