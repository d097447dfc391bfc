package screen

import "testing"

// TestPanesTile: up to 16 agents have a pane each on a large screen, and the panes
// fill their part of it.
func TestPanesTile(t *testing.T) {
	for n := 1; n <= 16; n++ {
		a := arrange(160, 44, n, n, true)
		grid := tile(n, a.left, a.agents)
		if grid == nil {
			t.Errorf("%d agents: no panes in %d × %d", n, a.left, a.agents)
			continue
		}
		panes, height := 0, 0
		for _, row := range grid {
			panes += len(row.widths)
			height += row.height
			width := 0
			for _, w := range row.widths {
				width += w
			}
			if width != a.left {
				t.Errorf("%d agents: a row is %d of %d wide", n, width, a.left)
			}
		}
		if panes != n || height != a.agents {
			t.Errorf("%d agents: %d panes, %d of %d high", n, panes, height, a.agents)
		}
	}
}

func TestArrangementsFit(t *testing.T) {
	for w := leastW; w < 300; w += 7 {
		for h := 5; h < 100; h++ {
			for agents := range 18 {
				for entries := range 18 {
					for _, working := range []bool{false, true} {
						a := arrange(w, h, agents, entries, working)
						if a.agents < 0 || a.table < 0 || a.kept < 0 || a.chart < 0 || a.agents+a.table+a.kept > h || a.chart > h || a.left+a.right != w {
							t.Fatalf("%d × %d, %d agents, %d entries, working %v: %+v", w, h, agents, entries, working, a)
						}
					}
				}
			}
		}
	}
}
