package screen

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"

	"si/tui/feed"
	"si/tui/look"
	"si/tui/pane"
	"si/tui/scene"
	"si/tui/staged"
)

// still is a feed without news.
type still struct{ at time.Time }

func (s still) Read() feed.Batch { return feed.Batch{Alive: true} }
func (s still) Now() time.Time   { return s.at }
func (s still) Close() error     { return nil }

// staging is a model that shows a staged scene.
func staging(t *testing.T, p *staged.Play, w, h int) *Model {
	t.Helper()
	at := p.At.Add(95 * time.Second)
	m := New(t.Context(), Options{Feed: still{at}, Steer: &asked{}, Dark: true, Now: func() time.Time { return at }})
	m.scene, m.w, m.h = p.Scene(), w, h
	return m
}

func plain(lines []string) string { return ansi.Strip(strings.Join(lines, "\n")) + "\n" }

func TestDashboards(t *testing.T) {
	t.Setenv("TZ", "UTC")
	for _, size := range [][2]int{{160, 48}, {100, 30}, {80, 24}, {60, 16}} {
		for name, play := range map[string]*staged.Play{"at work": staged.AtWork(), "in a duel": staged.InDuel(), "ended": staged.Ended(), "before": staged.New()} {
			t.Run(fmt.Sprintf("%s %dx%d", name, size[0], size[1]), func(t *testing.T) {
				m := staging(t, play, size[0], size[1])
				staged.Talk(m.scene, 3)
				if name == "in a duel" {
					m.focus = "e/executor_a"
				}
				lines := m.draw()
				exact(t, lines, size[0], size[1])
				golden.RequireEqual(t, []byte(plain(lines)))
			})
		}
	}
}

// exact wants a frame to fill the screen and no more.
func exact(t *testing.T, lines []string, w, h int) {
	t.Helper()
	if len(lines) != h {
		t.Errorf("%d lines on a screen of %d", len(lines), h)
	}
	for i, l := range lines {
		if got := look.Width(l); got != w {
			t.Errorf("line %d has %d of %d columns: %q", i, got, w, ansi.Strip(l))
		}
	}
}

func TestPages(t *testing.T) {
	t.Setenv("TZ", "UTC")
	patch := "diff --git a/parser/scan.go b/parser/scan.go\nindex 1..2 100644\n--- a/parser/scan.go\n+++ b/parser/scan.go\n@@ -1,3 +1,3 @@\n package parser\n-\tb := r.ReadByte()\n+\tb := buf[i]\x1b[2J\n"
	for name, open := range map[string]func(*Model){
		"zoom":    func(m *Model) { m.focus = "a/executor_b"; m.zoom() },
		"diff":    func(m *Model) { m.showDiff(diffMsg{title: "executor_b: a table", patch: []byte(patch)}) },
		"log":     func(m *Model) { m.dashKey("l") },
		"chart":   func(m *Model) { m.dashKey("c") },
		"help":    func(m *Model) { m.dashKey("?") },
		"quit":    func(m *Model) { m.askToQuit() },
		"idea":    func(m *Model) { m.wishKey("i") },
		"confirm": func(m *Model) { m.focus = "a/executor_b"; m.wishKey("x") },
		"search": func(m *Model) {
			m.focus = "a/executor_b"
			m.zoom()
			m.find(m.current().text, "step 1:", -1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := staging(t, staged.AtWork(), 80, 24)
			staged.Talk(m.scene, 40)
			m.diffs[staged.Commit(1, 1)] = pane.Diff{Files: 1, Added: 1, Removed: 1}
			m.draw() // what has no room scrolls by the height of the last drawing
			open(m)
			lines := m.draw()
			exact(t, lines, 80, 24)
			golden.RequireEqual(t, []byte(plain(lines)))
		})
	}
	t.Run("summary", func(t *testing.T) {
		m := staging(t, staged.Ended(), 80, 24)
		m.dashKey("r")
		golden.RequireEqual(t, []byte(plain(m.draw())))
	})
	t.Run("ascii", func(t *testing.T) {
		m := staging(t, staged.InDuel(), 100, 30)
		m.look = look.New(true, true)
		lines := m.draw()
		exact(t, lines, 100, 30)
		if at := strings.IndexFunc(plain(lines), func(r rune) bool { return r >= 0x80 }); at >= 0 {
			t.Errorf("not ASCII at %d: %q", at, plain(lines)[at:at+10])
		}
		golden.RequireEqual(t, []byte(plain(lines)))
	})
}

// TestAllSizes: every size gives a frame that fills it, with any number of agents
// and whatever they print. The sizes are those around which an arrangement changes,
// and the largest; the pages, which know no number of agents, are drawn with one.
func TestAllSizes(t *testing.T) {
	hostile := []string{"\x1b[31mred\x1b[0m", "🏳️‍🌈 👨‍👩‍👧 ⚠️ flags", strings.Repeat("表", 500), "a\tb\tc", "\u202eright to left", "\xff\xfe", ""}
	for _, n := range []int{0, 1, 4, 16} {
		m := staging(t, staged.InDuel(), 80, 24)
		for i := range n {
			a := &scene.Agent{ID: fmt.Sprintf("executor_%c", 'a'+i), Role: "executor", Started: staged.Begin(), Lines: scene.NewRing[scene.Line](50)}
			m.scene.Agents = append(m.scene.Agents, a)
			m.scene.Print(a, hostile)
		}
		modes := []mode{dashboard}
		if n == 1 {
			modes = append(modes, charted, logged, helped, zoomed)
		}
		for _, mode := range modes {
			for _, size := range sizes() {
				m.w, m.h, m.mode, m.opened = size[0], size[1], mode, "executor_a"
				exact(t, m.draw(), m.w, m.h)
				if t.Failed() {
					t.Fatalf("%d agents, mode %d, %d × %d", n, mode, m.w, m.h)
				}
			}
		}
	}
}

// sizes are all small widths with all small heights, and a few large ones.
func sizes() [][2]int {
	out := [][2]int{{400, 120}, {400, 1}, {1, 120}, {200, 47}, {120, 47}}
	for _, w := range []int{1, 2, 7, 39, 40, 41, 59, 60, 79, 80, 81, 119, 120} {
		for _, h := range []int{1, 2, 9, 10, 11, 15, 16, 19, 20, 24} {
			out = append(out, [2]int{w, h})
		}
	}
	return out
}
