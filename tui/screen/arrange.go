package screen

// arrangement is the heights and widths of the dashboard's parts; 0 leaves one out.
type arrangement struct {
	left, right   int // widths of the two columns; without a right one there is one column
	agents, table int // heights in the left column
	kept          int // height of what was kept so far, below them
	chart         int // height in the right column
}

// mostBeside is how many panes have room beside the chart and the log.
const mostBeside = 6

// arrange lays out a body of w × h: agents at work get the room, the table as much
// as it has rows, and when nobody works the table comes first.
func arrange(w, h, agents, entries int, working bool) arrangement {
	a := arrangement{left: w}
	if w >= 120 && h >= 20 && (agents <= mostBeside || !working) {
		a.right = w * 2 / 5
		a.left = w - a.right
		a.chart = h / 2
	}
	rows := entries + 5
	switch {
	case agents == 0 || !working: // what they did is done: a line each
		a.agents = min(agents, h/3)
		a.table = h - a.agents
		if a.right > 0 || h >= 12 {
			a.table = min(rows, h-a.agents-5)
		}
		if a.right > 0 {
			a.kept = h - a.agents - a.table
		}
	case a.right > 0:
		a.table = min(rows, h/2)
		a.agents = h - a.table
	default:
		a.narrow(h, rows, agents, entries)
	}
	return a
}

// narrow shares one column between agents at work, the table and the log.
func (a *arrangement) narrow(h, rows, agents, entries int) {
	bottom := 5
	if h >= 24 {
		bottom = 9
	}
	if h < 14 || agents > mostBeside {
		bottom = 0
	}
	if entries > 0 && h >= 18 {
		a.table = min(rows-1, h/3)
	}
	a.agents = h - a.table - bottom
	if most := 14 * agents; a.agents > most {
		a.agents = most
	}
}

// tileRow is a row of panes.
type tileRow struct {
	height int
	widths []int
}

// The smallest pane that is worth a frame.
const (
	tileW = 34
	tileH = 4
)

// tile divides w × h among n panes so that the smallest side of a pane, for text,
// is as large as can be; nil when they would be too small.
func tile(n, w, h int) []tileRow {
	best, bestCols := 0, 0
	for cols := 1; cols <= n; cols++ {
		rows := (n + cols - 1) / cols
		pw, ph := w/cols, h/rows
		if pw < tileW || ph < tileH || (cols-1)*rows >= n && cols > 1 {
			continue
		}
		if got := min(pw*8, ph*50); got > best { // a good pane is 50 wide and 8 high
			best, bestCols = got, cols
		}
	}
	if best == 0 {
		return nil
	}
	rows := (n + bestCols - 1) / bestCols
	out := make([]tileRow, 0, rows)
	for i := range rows {
		count := n/rows + min(1, max(0, n%rows-i))
		out = append(out, tileRow{height: share(h, rows, i), widths: shares(w, count)})
	}
	return out
}

// share is the i-th of n parts of a whole, which differ by one at most.
func share(whole, n, i int) int { return whole*(i+1)/n - whole*i/n }

func shares(whole, n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = share(whole, n, i)
	}
	return out
}
