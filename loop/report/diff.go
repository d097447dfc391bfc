package report

import (
	"bytes"
	"strconv"
	"strings"

	"si/internal/clean"
)

// The most of diffs in a page: of all together, of one, and of a line of one. A
// page of some megabytes opens at once everywhere.
const (
	diffBytes     = 2 << 20
	diffBytesOne  = 64 << 10
	diffLinesOne  = 600
	diffLineWidth = 400 // characters
)

// openLines is how many lines a diff may have that a page shows unasked.
const openLines = 40

// printedLines is how many lines of a diff go to paper; page.css counts them.
const printedLines = 120

// diffView is a unified diff, in part where it is long.
type diffView struct {
	Lines []diffLine
	Note  string // what is left out; "" when nothing is
	Rest  string // the command that shows all of it; "" when commits are not known
}

type diffLine struct{ Kind, Text string }

// Open reports a diff short enough to be shown unasked.
func (d diffView) Open() bool { return len(d.Lines) <= openLines }

// Long reports a diff of which paper gets a part only, as the style says.
func (d diffView) Long() bool { return len(d.Lines) > printedLines }

func newDiffView(g Gain, gains int) diffView {
	most := min(diffBytesOne, diffBytes/max(1, gains))
	v := diffView{Rest: showCommand(g)}
	part := g.Diff[:min(len(g.Diff), most)]
	lines := strings.Split(strings.TrimRight(clean.Text(part), "\n"), "\n")
	if len(g.Diff) == 0 {
		lines = nil
	}
	wide := false
	for _, l := range lines[:min(len(lines), diffLinesOne)] {
		kind := diffKind(l)
		runes := []rune(l)
		if len(runes) > diffLineWidth {
			wide, l = true, string(runes[:diffLineWidth])+"…"
		}
		v.Lines = append(v.Lines, diffLine{kind, l})
	}
	v.Note = diffNote(g, len(part) < len(g.Diff) || len(lines) > diffLinesOne, len(v.Lines), wide)
	return v
}

func diffNote(g Gain, cut bool, shown int, wide bool) string {
	switch {
	case len(g.Diff) == 0 && !g.DiffCut:
		return "The change itself is not in this report."
	case cut && !g.DiffCut:
		return "Cut: " + strconv.Itoa(shown) + " of " + strconv.Itoa(bytes.Count(bytes.TrimRight(g.Diff, "\n"), []byte("\n"))+1) + " lines are shown, the last one perhaps in part."
	case cut, g.DiffCut:
		return "Cut: the first " + strconv.Itoa(shown) + " lines are shown, the last one perhaps in part."
	case wide:
		return "Lines of more than " + strconv.Itoa(diffLineWidth) + " characters are cut."
	}
	return ""
}

func diffKind(l string) string {
	for _, k := range []struct{ prefix, kind string }{
		{"diff ", "file"}, {"+++ ", "file"}, {"--- ", "file"}, {"index ", "file"}, {"@@", "hunk"}, {"+", "add"}, {"-", "del"},
	} {
		if strings.HasPrefix(l, k.prefix) {
			return k.kind
		}
	}
	return "same"
}
