package track

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"si/templates"
)

// maxFamilies bounds the custom families of one harness.
const maxFamilies = 64

// Harness is what config/harness.md says.
type Harness struct {
	Rules    []Rule   // H001, H002, H003 and any others that have an id
	Custom   []string // rules in words, for the reviewers
	Families []string // custom approach families
}

// Rule is one rule with an id.
type Rule struct {
	ID    string // H001
	Title string
	Text  string
}

// Has reports whether the rule with this id is in force: the user may have
// taken it out.
func (h Harness) Has(id string) bool {
	return slices.ContainsFunc(h.Rules, func(r Rule) bool { return r.ID == id })
}

// AllFamilies are the families that every track knows, and the custom ones.
func (h Harness) AllFamilies() []string {
	all := Families()
	for _, f := range h.Families {
		if !slices.Contains(all, f) {
			all = append(all, f)
		}
	}
	return all
}

// DefaultHarness is the text of a new harness.md.
func DefaultHarness() string { return templates.Harness() }

// The sections of harness.md besides the rules.
const (
	sectionRules    = "rules"
	sectionCustom   = "custom rules"
	sectionFamilies = "custom approach families"
)

// ParseHarness reads harness.md as people write it. What it does not understand
// it leaves out and names in the warnings.
func ParseHarness(data []byte) (Harness, []Warning) {
	p := harnessParser{id: regexp.MustCompile(`(?i)\bH\d{3}\b`)}
	for _, l := range mdLines(data) {
		p.line(l)
	}
	for i := range p.h.Rules {
		p.h.Rules[i].Text = strings.TrimSpace(p.h.Rules[i].Text)
	}
	return p.h, p.warnings
}

type harnessParser struct {
	h        Harness
	warnings []Warning
	section  string
	level    int
	id       *regexp.Regexp
	itemOpen bool // the last custom rule may go on
}

func (p *harnessParser) warn(l mdLine, format string, args ...any) {
	p.warnings = append(p.warnings, Warning{l.no, fmt.Sprintf(format, args...)})
}

func (p *harnessParser) line(l mdLine) {
	if level, title, ok := l.heading(); ok {
		p.open(l, level, title)
		return
	}
	switch p.section {
	case sectionFamilies:
		p.family(l)
	case sectionCustom:
		p.custom(l)
	default:
		if !p.listedRule(l) && p.section == sectionRules && len(p.h.Rules) > 0 {
			p.h.Rules[len(p.h.Rules)-1].Text += l.text + "\n"
		}
	}
}

func (p *harnessParser) open(l mdLine, level int, title string) {
	key := titleKey(title)
	p.itemOpen = false
	switch {
	case p.id.MatchString(title):
		p.section, p.level = sectionRules, level
		p.addRule(l, title)
	case key == "custom rules" || key == "custom rule":
		p.section, p.level = sectionCustom, level
	case containsAny(key, "famil"):
		p.section, p.level = sectionFamilies, level
	case p.section == "" || key == "rules" || key == "default rules" || key == "guardrails":
		// the title of the file, or a heading above the rules
	default:
		p.warn(l, "the heading %q is none that harness.md has; what is below it is not used", clip(title, 60))
		p.section, p.level = sectionUnknown, level
	}
}

// addRule adds the rule of a title such as "H001: One hypothesis".
func (p *harnessParser) addRule(l mdLine, title string) {
	at := p.id.FindStringIndex(title)
	id := strings.ToUpper(title[at[0]:at[1]])
	if p.h.Has(id) {
		p.warn(l, "the rule %s stands here a second time", id)
		return
	}
	name := strings.Trim(title[at[1]:], " :：-–—*_`.()[]")
	p.h.Rules = append(p.h.Rules, Rule{ID: id, Title: name})
}

// listedRule reads a rule that is an item or a table's row instead of a heading.
func (p *harnessParser) listedRule(l mdLine) bool {
	text, ok := l.bullet()
	if cells, row := l.cells(); row {
		text, ok = strings.Join(cells, " "), true
	}
	at := p.id.FindStringIndex(text)
	if !ok || at == nil || strings.Trim(text[:at[0]], "*_`[( ") != "" {
		return false
	}
	p.section = sectionRules
	p.addRule(l, text)
	return true
}

func (p *harnessParser) custom(l mdLine) {
	item, bullet := l.bullet()
	if l.text == "" {
		p.itemOpen = false
		return
	}
	if bullet && !l.nested || !p.itemOpen {
		if !bullet {
			item = l.text
		}
		if !placeholder(item) {
			p.h.Custom, p.itemOpen = append(p.h.Custom, item), true
		}
		return
	}
	p.h.Custom[len(p.h.Custom)-1] += "\n" + l.text
}

func (p *harnessParser) family(l mdLine) {
	item, ok := l.bullet()
	if cells, row := l.cells(); row && len(cells) > 0 {
		if isRule(cells) || containsAny(titleKey(cells[0]), "family", "name") {
			return
		}
		item, ok = cells[0], true
	}
	switch {
	case l.text == "" || l.fenced || ok && placeholder(item):
		return
	case !ok:
		p.warn(l, "%q is not an item; write a family as - `name`", clip(l.text, 60))
		return
	}
	name := familyName(item)
	switch {
	case name == "":
		p.warn(l, "%q names no family: want letters, digits and _", clip(item, 60))
	case len(p.h.Families) == maxFamilies:
		p.warn(l, "more than %d custom families; %s is left out", maxFamilies, name)
	case !slices.Contains(p.h.AllFamilies(), name):
		p.h.Families = append(p.h.Families, name)
	}
}

// familyName is the family that an item names: what is in back-ticks, or the
// words before its explanation.
func familyName(item string) string {
	name := item
	if c := code(item); len(c) > 0 {
		name = c[0]
	} else if at := strings.IndexAny(item, ":：(—–"); at >= 0 {
		name = item[:at]
	} else if before, _, ok := strings.Cut(item, " - "); ok {
		name = before
	}
	name = strings.ToLower(strings.Trim(name, "*_ "))
	name = strings.NewReplacer(" ", "_", "-", "_").Replace(name)
	if !regexp.MustCompile(`^[a-z0-9_]{1,40}$`).MatchString(name) {
		return ""
	}
	return name
}
