package report

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// MarkdownLimit is the most bytes that Markdown returns: a forge takes 65,536
// characters as the text of a pull request.
const MarkdownLimit = 60_000

// detail is how much a Markdown report tells.
type detail struct {
	diffLines int // of each gain
	gains     int // with a section of their own
	rows      int // of lists
	runs      bool
	text      int // characters of a text of several lines
}

// details go from all to what always fits.
func details() []detail {
	return []detail{
		{200, mostGains, mostItems, true, mostText},
		{60, mostGains, mostItems, true, mostText},
		{20, 60, 20, true, 2000},
		{0, 40, 20, true, 1000},
		{0, 20, 10, false, 600},
		{0, 5, 5, false, 300},
		{0, 0, 3, false, 200},
	}
}

// Markdown writes the report as Markdown of at most MarkdownLimit bytes: long diffs
// first, and then sections, give way to the command that shows them.
func Markdown(r Report) []byte {
	v := newView(r)
	var out string
	for _, d := range details() {
		m := markdown{view: v, detail: d}
		m.write()
		if out = m.b.String(); len(out) <= MarkdownLimit {
			return []byte(out)
		}
	}
	// Titles alone can be too long where each letter takes four bytes.
	end := strings.LastIndexByte(out[:MarkdownLimit-40], '\n')
	return []byte(strings.ToValidUTF8(out[:end+1], "") + "\nCut: the page has all of it.\n")
}

// markdown is one report being written.
type markdown struct {
	view
	detail
	b strings.Builder
}

func (m *markdown) write() {
	m.para("# " + prose(m.Title))
	m.para(prose(m.Repository) + " · " + m.When)
	m.para("**" + strings.TrimSpace(prose(m.Headline)) + "**")
	m.para(prose(m.Measured))
	m.overview()
	m.heading("## Can it be believed?")
	m.facts(m.Facts)
	m.cautions()
	for _, g := range first(m.Gains, m.gains) {
		if m.b.Len() > MarkdownLimit {
			return // the next detail tells less
		}
		m.gain(g)
	}
	m.refused()
	m.heading("## How it was measured")
	m.facts(m.Measuring)
	if m.Command != "" {
		m.para("The benchmark, run in a clean checkout of each change:")
		m.b.WriteString(fenced("sh", clip(m.Command, m.text)) + "\n")
	}
	if m.Goal != "" {
		m.para("The goal, as it was set:")
		m.b.WriteString(fenced("text", clip(m.Goal, m.text)) + "\n")
	}
	m.checks()
}

func (m *markdown) para(s string) {
	if s != "" {
		m.b.WriteString(s + "\n\n")
	}
}

func (m *markdown) heading(s string) { m.para(s) }

func (m *markdown) facts(list []fact) {
	for _, f := range list {
		mark := ""
		if f.Caution {
			mark = "⚠ "
		}
		m.b.WriteString("- " + mark + "**" + prose(f.Name) + "**: " + prose(f.Text) + "\n")
	}
	if len(list) > 0 {
		m.b.WriteString("\n")
	}
}

// overview lists the gains with what leaving each out costs.
func (m *markdown) overview() {
	if len(m.Gains) == 0 {
		return
	}
	m.heading("## What was kept")
	m.para(keptIntro)
	t := table{head: []string{"#", "change", "gain when kept", "leaving it out costs", "it is"}}
	for _, g := range m.Gains {
		t.add(strconv.Itoa(g.N), prose(clip(g.Title, 80)), prose(g.Then), prose(g.Cost), g.Worth)
	}
	m.b.WriteString(t.String() + "\n")
	m.para(m.MoreGains)
	m.facts(m.Meanings)
	if left := len(m.Gains) - m.gains; left > 0 {
		m.para(count(left, "change has", "changes have") + " no section below, as this text would be too long for a forge; the page has them all.")
	}
}

func (m *markdown) gain(g gainView) {
	m.heading("## " + strconv.Itoa(g.N) + ". " + prose(g.Title))
	if g.Whole != "" {
		m.words(clip(g.Whole, m.text))
	}
	m.facts(g.Facts)
	for _, w := range first(g.Warnings, m.rows) {
		m.b.WriteString("- ⚠ **Warning**: " + prose(w) + "\n")
	}
	if len(g.Warnings) > 0 {
		m.b.WriteString("\n")
	}
	if m.runs {
		m.samples(g.Samples)
	}
	m.subScores(g.SubScores)
	m.files(g)
	m.diff(g.Diff)
}

// words shows a text of an agent: as prose where it is one line.
func (m *markdown) words(s string) {
	if strings.Contains(s, "\n") {
		m.b.WriteString(fenced("text", s) + "\n")
		return
	}
	m.para(prose(s))
}

func (m *markdown) samples(s samplesView) {
	if s.Order == "" {
		return
	}
	m.para("Every run, in order (b = " + s.Before + ", a = " + s.After + "):")
	lines := "order  " + s.Order + "\nb      " + s.BeforeText + "\na      " + s.AfterText
	if s.More != "" {
		lines += "\n" + s.More
	}
	m.b.WriteString(fenced("text", lines) + "\n")
}

func (m *markdown) subScores(list []subScoreView) {
	if len(list) == 0 {
		return
	}
	t := table{head: []string{"further number", "before", "after", "change"}}
	for _, s := range first(list, m.rows) {
		t.add(prose(s.Name), s.Before, s.After, s.Change)
	}
	m.b.WriteString(t.String() + "\n")
}

func (m *markdown) files(g gainView) {
	if len(g.Files) == 0 {
		return
	}
	t := table{head: []string{"file", "added", "removed"}}
	for _, f := range first(g.Files, m.rows) {
		t.add(code(f.Path), f.Added, f.Removed)
	}
	m.b.WriteString(t.String() + "\n")
	m.para(g.Sum + ".")
}

func (m *markdown) diff(d diffView) {
	lines := first(d.Lines, m.diffLines)
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.Text + "\n")
	}
	if len(lines) > 0 {
		m.b.WriteString(fenced("diff", b.String()) + "\n")
	}
	note := d.Note
	if len(lines) < len(d.Lines) {
		note = "Cut: " + count(len(lines), "line of the change is", "lines of the change are") + " shown."
	}
	if d.Rest != "" && note != "" {
		note += " All of it: " + code(d.Rest)
	}
	m.para(note)
}

func (m *markdown) refused() {
	m.heading("## What was refused")
	m.para(m.Refused.Text)
	for _, c := range first(m.Refused.Counts, m.rows) {
		m.b.WriteString("- " + strconv.Itoa(c.N) + " × " + prose(c.Category) + "\n")
	}
	if len(m.Refused.Counts) > 0 {
		m.b.WriteString("\n")
	}
	m.candidates("Closest to being kept:", m.Refused.Near, m.Refused.MoreNear)
	m.candidates("Refused only because they touch the same lines as a change that was kept; ideas for another time:", m.Refused.Ideas, m.Refused.MoreIdeas)
}

func (m *markdown) candidates(what string, list []candidateView, more string) {
	if len(list) == 0 {
		return
	}
	m.para(what)
	for _, c := range first(list, m.rows) {
		m.b.WriteString("- " + prose(c.Title) + " (" + code(c.Name) + "): " + prose(c.Effect) + "; " + prose(orElse(c.Reason, "no reason was written down")) + "\n")
	}
	if more != "" {
		m.b.WriteString("- " + more + "\n")
	}
	m.b.WriteString("\n")
}

func (m *markdown) cautions() {
	if len(m.Cautions) == 0 {
		return
	}
	m.heading("## With care")
	m.facts(first(m.Cautions, m.rows))
}

func (m *markdown) checks() {
	m.heading("## Check it yourself")
	for _, c := range first(m.Checks, m.rows+10) {
		m.para(prose(c.What) + ":")
		m.b.WriteString(fenced("sh", clip(c.Command, m.text)) + "\n")
	}
}

// clip shortens a cleaned text; a text of several lines keeps its lines.
func clip(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return strings.TrimRight(string([]rune(s)[:most-1]), " \n") + "…"
}

func first[T any](list []T, most int) []T { return list[:min(len(list), most)] }
