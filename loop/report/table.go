package report

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// table is a Markdown table, aligned so that it reads well in a terminal too. Its
// cells are Markdown already.
type table struct {
	head []string
	rows [][]string
}

func (t *table) add(cells ...string) {
	for i, c := range cells {
		cells[i] = cell(c)
	}
	t.rows = append(t.rows, cells)
}

// cell makes text fit between bars: a table splits its rows before anything else
// is read, code spans too, so that a bar in one needs a backslash as well.
func cell(s string) string {
	var b strings.Builder
	back := 0 // backslashes just before
	for _, r := range s {
		if r == '|' && back%2 == 0 {
			b.WriteByte('\\')
		}
		back++
		if r != '\\' {
			back = 0
		}
		b.WriteRune(r)
	}
	return b.String()
}

func (t *table) String() string {
	widths := make([]int, len(t.head))
	for _, row := range append([][]string{t.head}, t.rows...) {
		for i, c := range row {
			widths[i] = max(widths[i], columns(c), 3)
		}
	}
	var b strings.Builder
	writeRow(&b, t.head, widths)
	rule := make([]string, len(widths))
	for i, w := range widths {
		rule[i] = strings.Repeat("-", w)
	}
	writeRow(&b, rule, widths)
	for _, row := range t.rows {
		writeRow(&b, row, widths)
	}
	return b.String()
}

func writeRow(b *strings.Builder, cells []string, widths []int) {
	for i, c := range cells {
		b.WriteString("| " + c + strings.Repeat(" ", max(0, widths[i]-columns(c))) + " ")
	}
	b.WriteString("|\n")
}

// columns is how many columns of a terminal a text takes.
func columns(s string) (n int) {
	for _, r := range s {
		if unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Me, r) {
			continue
		}
		n++
		if k := width.LookupRune(r).Kind(); k == width.EastAsianWide || k == width.EastAsianFullwidth {
			n++
		}
	}
	return n
}
