package track

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// scope reads one line of the scope: a sub-heading written as a field, an item,
// or paths behind a field.
func (p *goalParser) scope(l mdLine) {
	if l.text == "" {
		return
	}
	if cells, ok := l.cells(); ok && isRule(cells) {
		return
	}
	if key, value, ok := l.field(); ok {
		if s := goalSection(key); s == sectionIn || s == sectionOut {
			p.section = s
			p.addScope(l, s, value)
			return
		}
	}
	if p.section == sectionScope {
		p.warn(l, "%q stands in neither In scope nor Out of scope", clip(l.text, 60))
		return
	}
	item, ok := l.bullet()
	if !ok {
		item = l.text
	}
	p.addScope(l, p.section, item)
}

// addScope adds the paths of one item. Prose names no path: taken as one it
// would shut every file out.
func (p *goalParser) addScope(l mdLine, section, item string) {
	if placeholder(item) && !strings.ContainsAny(item, "*.") {
		return
	}
	for _, part := range scopePaths(item) {
		clean, fault := cleanPattern(part)
		if fault != "" {
			p.warn(l, "the path %q is not used: %s", clip(part, 60), fault)
			p.g.NotUsed = append(p.g.NotUsed, strconv.Quote(clip(part, 60))+": "+fault)
			continue
		}
		if section == sectionIn {
			p.g.InScope = append(p.g.InScope, clean)
		} else {
			p.g.OutScope = append(p.g.OutScope, clean)
		}
	}
}

// scopePaths splits an item into paths: what is in back-ticks, else words
// separated by commas, each up to its explanation.
func scopePaths(item string) []string {
	if spans := code(item); len(spans) > 0 {
		return spans
	}
	switch strings.ToLower(strings.Trim(item, ". ")) {
	case "everything", "all", "all files", "any file", "whole repository", "the whole repository":
		return []string{"**"}
	}
	var paths []string
	for part := range strings.SplitSeq(item, ",") {
		word, rest, _ := strings.Cut(strings.TrimSpace(part), " ")
		rest = strings.TrimSpace(rest)
		explained := rest == "" || strings.HasPrefix(rest, "(") || strings.HasPrefix(rest, "-") || strings.HasPrefix(rest, "–") || strings.HasPrefix(rest, "—")
		if strings.HasSuffix(word, ":") {
			word, explained = strings.TrimSuffix(word, ":"), true
		}
		if !explained {
			word = strings.TrimSpace(part)
		}
		if word != "" {
			paths = append(paths, word)
		}
	}
	return paths
}

// cleanPattern checks a path or glob of a person and brings it into the form
// that git uses; fault says why it cannot be one.
func cleanPattern(pattern string) (clean, fault string) {
	if fault := patternFault(pattern); fault != "" {
		return "", fault
	}
	if strings.ContainsAny(pattern, " \t") && !strings.Contains(pattern, "/") && !strings.Contains(pattern, ".") {
		return "", "it reads as words; put a path into back-ticks"
	}
	folder := strings.HasSuffix(pattern, "/")
	clean = path.Clean(pattern)
	switch {
	case clean == ".":
		return "**", ""
	case folder:
		clean += "/"
	}
	return clean, ""
}

// patternFault says why text cannot be a path or glob within a repository.
func patternFault(text string) string {
	switch {
	case strings.TrimSpace(text) == "":
		return "it is empty"
	case len(text) > 1024:
		return "it is longer than 1024 bytes"
	case strings.HasPrefix(text, "/") || strings.HasPrefix(text, "~"):
		return "it is not relative to the repository"
	case strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || r == unicode.ReplacementChar }):
		return "it holds control characters or broken UTF-8"
	}
	for part := range strings.SplitSeq(text, "/") {
		if part == ".." {
			return "it leads out of the repository"
		}
		if strings.EqualFold(part, ".git") {
			return "it lies in git's own folder"
		}
	}
	return ""
}

// row reads one row of the milestones or phases.
func (p *goalParser) row(l mdLine) {
	if l.text == "" {
		return
	}
	cells, ok := l.cells()
	if !ok {
		item, bullet := l.bullet()
		if !bullet {
			p.warn(l, "%q is not a row of the table of %s", clip(l.text, 60), p.section)
			return
		}
		cells = []string{item}
	}
	if isRule(cells) {
		return
	}
	if p.columns == nil && ok {
		p.columns = make([]string, 0, len(cells))
		for _, c := range cells {
			p.columns = append(p.columns, titleKey(c))
		}
		if slices.Contains(p.columns, "milestone") || slices.Contains(p.columns, "phase") {
			return
		}
		p.columns = []string{} // the row of a table without a head
	}
	p.addRow(cells)
}

func (p *goalParser) addRow(cells []string) {
	cell := func(at int, names ...string) string {
		for i, c := range p.columns {
			if containsAny(c, names...) {
				at = i
			}
		}
		if at >= len(cells) || placeholder(cells[at]) {
			return ""
		}
		return p.unescape(cells[at])
	}
	if p.section == sectionMilestones {
		m := Milestone{Name: cell(0, "milestone"), Target: cell(1, "target"), Focus: cell(2, "focus")}
		if m != (Milestone{}) {
			p.g.Milestones = append(p.g.Milestones, m)
		}
		return
	}
	ph := Phase{Name: cell(0, "phase"), Focus: cell(1, "focus"), Targets: cell(2, "target"), Status: cell(3, "status")}
	if ph != (Phase{}) {
		p.g.Phases = append(p.g.Phases, ph)
	}
}

// idea reads the experiment ideas: one an item, or one a paragraph.
func (p *goalParser) idea(l mdLine) {
	item, bullet := l.bullet()
	text := p.unescape(strings.Join(strings.Fields(l.text), " "))
	switch {
	case l.text == "":
		p.ideaOpen = false
	case bullet && !l.nested:
		p.ideaOpen = false
		if item != "" {
			p.g.Ideas, p.ideaOpen = append(p.g.Ideas, p.unescape(strings.Join(strings.Fields(item), " "))), true
		}
	case p.ideaOpen:
		p.g.Ideas[len(p.g.Ideas)-1] += " " + text
	default:
		p.g.Ideas, p.ideaOpen = append(p.g.Ideas, text), true
	}
}

// leadingNumber reads the number in texts such as "≥ 95 %", "< 1,500 req/s" and
// "0.8"; rest is what follows it.
func leadingNumber(text string) (v float64, rest string, ok bool) {
	text = strings.TrimLeft(text, "<>=≤≥~≈ ")
	text = strings.ReplaceAll(text, "−", "-")
	match := regexp.MustCompile(`^[-+]?(\d{1,3}([,_]\d{3})+|\d+)?(\.\d+)?([eE][-+]?\d+)?`).FindString(text)
	digits := strings.NewReplacer(",", "", "_", "").Replace(match)
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil || !finite(v) {
		return 0, "", false
	}
	rest = strings.TrimSpace(text[len(match):])
	if strings.HasPrefix(rest, ",") || strings.HasPrefix(rest, ".") && len(rest) > 1 {
		return 0, "", false // 1,5 is 1.5 to some and 15 to others
	}
	return v, rest, true
}

// escapedGoal is a Goal whose texts are fit for Markdown.
type escapedGoal struct {
	Goal
	Target string
}

func (g Goal) escaped() escapedGoal {
	e := newEscaping()
	line := func(text string) string { return e.escape(strings.Join(strings.Fields(text), " ")) }
	cell := func(text string) string { return strings.ReplaceAll(line(text), "|", `\|`) }
	each := func(list []string, f func(string) string) []string {
		out := make([]string, len(list))
		for i, text := range list {
			out[i] = f(text)
		}
		return out
	}
	ticked := func(text string) string { return "`" + strings.ReplaceAll(line(text), "`", "") + "`" }
	out := escapedGoal{Goal: g, Target: line(g.TargetText)}
	if out.Target == "" && g.Target != nil {
		out.Target = strconv.FormatFloat(*g.Target, 'g', -1, 64)
	}
	out.Objective = strings.Join(each(strings.Split(g.Objective, "\n"), func(t string) string { return e.escape(strings.TrimSpace(t)) }), "\n")
	out.Metric = line(g.Metric)
	out.InScope, out.OutScope, out.Ideas = each(g.InScope, ticked), each(g.OutScope, ticked), each(g.Ideas, line)
	out.Milestones, out.Phases = nil, nil
	for _, m := range g.Milestones {
		out.Milestones = append(out.Milestones, Milestone{cell(m.Name), cell(m.Target), cell(m.Focus)})
	}
	for _, p := range g.Phases {
		out.Phases = append(out.Phases, Phase{cell(p.Name), cell(p.Focus), cell(p.Targets), cell(p.Status)})
	}
	return out
}
