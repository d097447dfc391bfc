package track

import (
	"bytes"
	"fmt"
	"strings"
	"text/template"

	"si/templates"
)

// Goal is what config/goal.md says.
type Goal struct {
	Objective  string
	Metric     string
	Target     *float64 // nil when none is given, or none that is a number
	TargetText string   // as written
	Direction  Direction
	InScope    []string // paths and globs, relative to the repository
	OutScope   []string
	NotUsed    []string // what stands in the scope and names no path, each with why
	Milestones []Milestone
	Phases     []Phase
	Ideas      []string // experiment ideas
}

// Milestone is one row of the milestones.
type Milestone struct{ Name, Target, Focus string }

// Phase is one row of the phases.
type Phase struct{ Name, Focus, Targets, Status string }

// The sections of goal.md.
const (
	sectionObjective  = "objective"
	sectionMetric     = "target metric"
	sectionScope      = "scope"
	sectionIn         = "in scope"
	sectionOut        = "out of scope"
	sectionMilestones = "milestones"
	sectionPhases     = "phases"
	sectionIdeas      = "experiment ideas"
	sectionUnknown    = "unknown"
)

// goalSection maps a heading or a field's name to its section, "" if none.
func goalSection(key string) string {
	switch key {
	case "objective", "goal objective", "the objective":
		return sectionObjective
	case "target metric", "metric", "target":
		return sectionMetric
	case "scope":
		return sectionScope
	case "in scope", "in", "included":
		return sectionIn
	case "out of scope", "out", "excluded":
		return sectionOut
	case "milestones", "milestone":
		return sectionMilestones
	case "phases", "phase":
		return sectionPhases
	case "experiment ideas", "ideas":
		return sectionIdeas
	}
	return ""
}

// ParseGoal reads goal.md as people write it. What it does not understand it
// leaves out and names in the warnings.
func ParseGoal(data []byte) (Goal, []Warning) {
	p := goalParser{escaping: newEscaping()}
	for _, l := range mdLines(data) {
		p.line(l)
	}
	p.g.Objective = strings.Trim(strings.Join(p.objective, "\n"), "\n")
	if p.g.Objective == "" {
		// A file of a few words and no headings is an objective.
		p.g.Objective = strings.Trim(strings.Join(p.preamble, "\n"), "\n")
	}
	return p.g, p.warnings
}

type goalParser struct {
	escaping
	g         Goal
	warnings  []Warning
	section   string
	level     int // of the section's heading
	preamble  []string
	objective []string
	columns   []string // of the table under way
	ideaOpen  bool     // the last idea may go on
}

func (p *goalParser) warn(l mdLine, format string, args ...any) {
	p.warnings = append(p.warnings, Warning{l.no, fmt.Sprintf(format, args...)})
}

func (p *goalParser) line(l mdLine) {
	if level, title, ok := l.heading(); ok && p.open(l, level, title) {
		return
	}
	text := p.unescape(l.text)
	switch p.section {
	case "":
		p.beforeSections(l, text)
	case sectionObjective:
		p.objective = append(p.objective, text)
	case sectionMetric:
		p.metric(l)
	case sectionScope, sectionIn, sectionOut:
		p.scope(l)
	case sectionMilestones, sectionPhases:
		p.row(l)
	case sectionIdeas:
		p.idea(l)
	}
}

// open begins the section of a heading. It returns false for a heading that is
// part of a text.
func (p *goalParser) open(l mdLine, level int, title string) bool {
	section := goalSection(titleKey(title))
	text := p.section == sectionObjective || p.section == sectionIdeas
	if section == "" && text && level > p.level {
		return false
	}
	p.columns, p.ideaOpen = nil, false
	switch {
	case section != "":
		p.section, p.level = section, level
	case p.section == "" && level == 1 && len(p.preamble) == 0:
		// the title of the file
	default:
		p.warn(l, "the heading %q is none that goal.md has; what is below it is not used", clip(title, 60))
		p.section, p.level = sectionUnknown, level
	}
	return true
}

// beforeSections reads what stands above the first known heading: fields
// without headings, or the objective in plain words.
func (p *goalParser) beforeSections(l mdLine, text string) {
	if key, value, ok := l.field(); ok {
		section := goalSection(key)
		switch {
		case p.setMetric(l, key, value):
			return
		case section == sectionObjective:
			p.objective = append(p.objective, value)
			return
		case section == sectionIn || section == sectionOut:
			p.addScope(l, section, value)
			return
		}
	}
	if text != "" || len(p.preamble) > 0 {
		p.preamble = append(p.preamble, text)
	}
}

func (p *goalParser) metric(l mdLine) {
	if l.text == "" {
		return
	}
	if cells, ok := l.cells(); ok && isRule(cells) {
		return
	}
	key, value, ok := l.field()
	if !ok || !p.setMetric(l, key, value) {
		p.warn(l, "%q is not understood here; want Metric name, Target value or Direction, a colon and a value", clip(l.text, 60))
	}
}

// setMetric sets one field of the target metric; false when key names none.
func (p *goalParser) setMetric(l mdLine, key, value string) bool {
	if c := code(value); len(c) > 0 {
		value = c[0]
	}
	value = p.unescape(value)
	switch key {
	case "metric name", "metric", "name", "primary metric":
		if !placeholder(value) {
			p.g.Metric = value
		}
	case "target value", "target", "value":
		p.setTarget(l, value)
	case "direction":
		p.setDirection(l, value)
	default:
		return false
	}
	return true
}

func (p *goalParser) setTarget(l mdLine, value string) {
	if placeholder(value) {
		return
	}
	p.g.TargetText = value
	v, rest, ok := leadingNumber(value)
	if !ok {
		if strings.ContainsAny(value, "0123456789") {
			p.warn(l, "the target value %q is not a number; the loop will not stop at it", clip(value, 60))
		}
		return
	}
	p.g.Target = &v
	if strings.HasPrefix(rest, "%") {
		p.warn(l, "the target value %q is read as the score %v; a score is compared as the benchmark prints it", clip(value, 60), v)
	}
}

func (p *goalParser) setDirection(l mdLine, value string) {
	if placeholder(value) {
		return
	}
	text := strings.ToLower(value)
	lower, higher := containsAny(text, "lower", "minim", "decrease", "smaller", "less", "down"), containsAny(text, "higher", "maxim", "increase", "larger", "greater", "more", "up")
	switch {
	case lower && !higher:
		p.g.Direction = LowerIsBetter
	case higher && !lower:
		p.g.Direction = HigherIsBetter
	default:
		p.warn(l, "the direction %q is neither higher_is_better nor lower_is_better", clip(value, 60))
	}
}

func containsAny(text string, words ...string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// Markdown writes goal.md; ParseGoal reads the same goal from it.
func (g Goal) Markdown() ([]byte, error) {
	tmpl, err := template.New("goal.md").Parse(templates.Goal())
	if err != nil {
		return nil, fmt.Errorf("write goal.md: %w", err)
	}
	var b bytes.Buffer
	if err := tmpl.Execute(&b, g.escaped()); err != nil {
		return nil, fmt.Errorf("write goal.md: %w", err)
	}
	return b.Bytes(), nil
}
