package policy

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Decision is who decides about a path, and by which rule.
type Decision struct {
	Path   string `json:"path"` // from the top of the repository, or as it was given
	Class  Class  `json:"class"`
	Rule   string `json:"rule"` // the glob, or what else decided
	Reason string `json:"reason"`
	Line   int    `json:"line,omitempty"` // of the policy file

	sealed bool
}

// builtIn are the rules that no file can change.
func builtIn(g Ground) []Rule {
	var out []Rule
	sealed := false
	kernel := func(reason string, globs ...string) {
		for _, text := range globs {
			r, err := newRule(text, Kernel, reason)
			if err != nil { // a sealed path whose name is no glob
				r = literalRule(text, reason)
			}
			r.sealed = sealed
			out = append(out, r)
		}
	}
	kernel("it says who decides", ".tyran/policies/**", ".si/policies/**")
	kernel("it is what the program counted and recorded", ".tyran/evidence.jsonl", ".si/evidence.jsonl", ".tyran/retro/**", ".si/retro/**", ".tyran/proposals/**", ".si/proposals/**")
	kernel("git itself can be undone only while nothing else writes to it", ".git", ".git/**", "**/.git", "**/.git/**")
	kernel("it is the program's own state", append([]string{".omc/**"}, g.State...)...)
	kernel("it is a symbolic link in the repository, which a file would replace", g.Links...)
	sealed = true
	kernel("it is sealed: what is measured may not be changed", g.Sealed...)
	return out
}

// Decide says who decides about a path from the top of the repository, or an
// absolute one.
func (p *Policy) Decide(name string) Decision {
	rel, inside := p.relative(name)
	if !inside {
		return Decision{Path: name, Class: Kernel, Rule: "outside", Reason: "it lies outside the repository"}
	}
	out := p.lexical(rel)
	real, err := p.real(rel)
	switch {
	case err != nil && out.Class != Kernel:
		return Decision{Path: rel, Class: Kernel, Rule: "links", Reason: "where it leads cannot be told: " + err.Error()}
	case err == nil && real != rel:
		if d := p.Decide(real); d.Class.strictness() > out.Class.strictness() {
			d.Path, d.Reason = rel, "it leads to "+real+": "+d.Reason
			return d
		}
	}
	return out
}

// DecideTree says who decides about a path of a git tree, where no link is followed.
func (p *Policy) DecideTree(name string) Decision {
	rel, inside := p.relative(name)
	if !inside || filepath.IsAbs(name) {
		return Decision{Path: name, Class: Kernel, Rule: "outside", Reason: "it lies outside the repository"}
	}
	return p.lexical(rel)
}

// relative is the path from the top, cleaned.
func (p *Policy) relative(name string) (string, bool) {
	if filepath.IsAbs(name) {
		rel, err := filepath.Rel(p.top, name)
		if real, rerr := filepath.EvalSymlinks(filepath.Dir(name)); rerr == nil && (err != nil || !filepath.IsLocal(rel)) {
			rel, err = filepath.Rel(p.top, filepath.Join(real, filepath.Base(name)))
		}
		if err != nil {
			return "", false
		}
		name = rel
	}
	name = path.Clean(filepath.ToSlash(name))
	slashed := path.Clean(strings.ReplaceAll(name, `\`, "/"))
	return name, name != "." && filepath.IsLocal(name) && filepath.IsLocal(slashed) && !strings.Contains(name, "\x00")
}

// real is where the links in a path lead, from the top, or absolute outside of it.
func (p *Policy) real(rel string) (string, error) {
	dir, rest := filepath.Join(p.top, filepath.FromSlash(rel)), ""
	for {
		real, err := filepath.EvalSymlinks(dir)
		if err == nil {
			full := filepath.Join(real, rest)
			if r, err := filepath.Rel(p.top, full); err == nil && filepath.IsLocal(r) {
				return filepath.ToSlash(r), nil
			}
			return full, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if dangling(dir) {
			return "", fmt.Errorf("%s is a symbolic link to something that does not exist", dir)
		}
		rest, dir = filepath.Join(filepath.Base(dir), rest), filepath.Dir(dir)
	}
}

// lexical decides by the name alone. KERNEL beats all; among the rest the more
// specific rule wins, and the stricter of equals.
func (p *Policy) lexical(rel string) Decision {
	best := Decision{Path: rel, Class: p.Default, Rule: "default", Reason: p.why()}
	for _, r := range p.builtIn {
		if p.matches(r, rel) {
			return decided(rel, r)
		}
	}
	var winner *Rule
	for i := range p.Rules {
		r := &p.Rules[i]
		if !p.matches(*r, rel) {
			continue
		}
		if r.Class == Kernel {
			return decided(rel, *r)
		}
		if winner == nil || r.beats(*winner) {
			winner = r
		}
	}
	if winner != nil {
		return decided(rel, *winner)
	}
	return best
}

func decided(rel string, r Rule) Decision {
	return Decision{Path: rel, Class: r.Class, Rule: r.Path, Reason: r.Reason, Line: r.Line, sealed: r.sealed}
}

func (r Rule) beats(other Rule) bool {
	c := r.exact.Specificity().Compare(other.exact.Specificity())
	return c > 0 || c == 0 && r.Class.strictness() > other.Class.strictness()
}

func (p *Policy) why() string {
	switch {
	case p.Broken != nil:
		return "the policy cannot be read, so everything is GATED"
	case p.Missing:
		return "there is no policy, so everything is GATED"
	}
	return "no rule is about it"
}

// matches compares a path with a rule. A file that differs from a guarded one in
// case alone is that file on another machine, so a rule that holds back looks at the
// folded name everywhere; one that lets pass does so only where the names are one.
func (p *Policy) matches(r Rule, rel string) bool {
	if r.exact.Match(rel) {
		return true
	}
	return (p.ignores || r.Class != Auto) && r.folded.Match(path.Clean(fold(rel)))
}

// fold is the name as a file system that ignores case may see it: without case,
// composed, without characters that take no room, and with / for a backslash.
func fold(name string) string {
	name = strings.ToLower(strings.ToUpper(norm.NFKC.String(strings.ReplaceAll(name, `\`, "/"))))
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, name)
}
