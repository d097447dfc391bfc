// Package policy says who decides about a change of a path: the program alone
// (AUTO), a person to whom it is proposed (GATED), or people by hand only (KERNEL).
// The table is a file of the repository; what protects the table, the measuring and
// the program's own state is built in. It decides about paths and looks at nothing a
// change says. In doubt the stricter class holds.
package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"si/learn/glob"
	"si/learn/place"
	"si/learn/strictyaml"
)

// Class says who decides.
type Class string

// The classes, from the freest.
const (
	Auto   Class = "AUTO"
	Gated  Class = "GATED"
	Kernel Class = "KERNEL"
)

func (c Class) strictness() int { return slices.Index([]Class{Auto, Gated, Kernel}, c) }

const maxRules = 1000

// Rule is one rule of the table.
type Rule struct {
	Path   string `json:"path"`
	Class  Class  `json:"class"`
	Reason string `json:"reason"`
	Line   int    `json:"line,omitempty"` // 0 for a built-in one

	sealed bool
	exact  glob.Pattern
	folded glob.Pattern
}

// Policy is the table with what is built in.
type Policy struct {
	Default Class
	Rules   []Rule
	Missing bool  // there is no file
	Broken  error // why the file says nothing; everything is GATED then

	builtIn []Rule
	ignores bool // the file system ignores the case of names
	top     string
}

// Ground is what a policy needs to know of the machine and of the track.
type Ground struct {
	IgnoresCase bool     // the file system of the checkout ignores the case of names
	Sealed      []string // globs of the benchmark and of all that is sealed
	State       []string // globs of the program's own state
	Links       []string // paths that are symbolic links in the tree
}

// Load reads the policy of a repository. A missing file and a broken one make
// everything GATED that is not KERNEL by itself; which of both it was can be asked.
func Load(p place.Place, g Ground) *Policy {
	out := &Policy{Default: Gated, builtIn: builtIn(g), ignores: g.IgnoresCase, top: p.Top()}
	data, err := p.Read(p.Policy())
	switch {
	case err != nil:
		out.Broken = err
	case data == nil:
		out.Missing = true
	default:
		out.Default, out.Rules, err = parse(p.Policy(), data)
		if err != nil {
			out.Default, out.Rules, out.Broken = Gated, nil, fmt.Errorf("read the policy: %w", err)
		}
	}
	return out
}

func parse(file string, data []byte) (Class, []Rule, error) {
	root, ok, err := strictyaml.Parse(file, data)
	if err == nil && !ok {
		err = &strictyaml.Error{File: file, What: "it is empty; want default and rules"}
	}
	if err != nil {
		return "", nil, err
	}
	fields, err := root.Fields("default", "rules")
	if err != nil {
		return "", nil, err
	}
	def, ok := fields["default"]
	if !ok {
		return "", nil, root.Faultf("the key default is missing; want AUTO, GATED or KERNEL")
	}
	class, err := parseClass(def)
	if err != nil {
		return "", nil, err
	}
	list, ok := fields["rules"]
	if !ok || list.Null() {
		return class, nil, nil
	}
	items, err := list.List()
	if err == nil && len(items) > maxRules {
		err = list.Faultf("there are more than %d", maxRules)
	}
	var rules []Rule
	for _, item := range items {
		var r Rule
		if r, err = parseRule(item.Named("a rule")); err != nil {
			break
		}
		rules = append(rules, r)
	}
	return class, rules, err
}

func parseClass(v strictyaml.Value) (Class, error) {
	s, err := v.Text()
	if err != nil {
		return "", err
	}
	c := Class(s)
	if c.strictness() < 0 {
		return "", v.Faultf("%.40q is none of AUTO, GATED, KERNEL", s)
	}
	return c, nil
}

func parseRule(v strictyaml.Value) (Rule, error) {
	fields, err := v.Fields("path", "class", "reason")
	if err != nil {
		return Rule{}, err
	}
	for _, name := range []string{"path", "class"} {
		if _, ok := fields[name]; !ok {
			return Rule{}, v.Faultf("the key %s is missing", name)
		}
	}
	path, err := fields["path"].Text()
	if err != nil {
		return Rule{}, err
	}
	class, err := parseClass(fields["class"])
	if err != nil {
		return Rule{}, err
	}
	reason := ""
	if f, ok := fields["reason"]; ok {
		if reason, err = f.Text(); err != nil {
			return Rule{}, err
		}
	}
	r, err := newRule(path, class, reason)
	if err != nil {
		return Rule{}, fields["path"].Faultf("%v", err)
	}
	r.Line = v.Line()
	return r, nil
}

func newRule(path string, class Class, reason string) (Rule, error) {
	r := Rule{Path: path, Class: class, Reason: reason}
	if strings.Contains(path, `\`) {
		return r, errors.New(`it holds a backslash; write folders with /`)
	}
	var err error
	if r.exact, err = glob.Parse(path); err != nil {
		return r, err
	}
	// The folding may cost a class in brackets its sense; then only the exact one holds.
	if r.folded, err = glob.Parse(fold(path)); err != nil {
		r.folded = r.exact
	}
	return r, nil
}
