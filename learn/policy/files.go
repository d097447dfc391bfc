package policy

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"si/learn/glob"
	"si/learn/place"
)

func dangling(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&os.ModeSymlink != 0
}

// literalRule is about one path whose name is no glob.
func literalRule(name, reason string) Rule {
	return Rule{Path: name, Class: Kernel, Reason: reason, exact: glob.Literal(name), folded: glob.Literal(fold(name))}
}

// IgnoresCase reports whether the file system of a folder takes names that differ in
// case for one. It looks at the folder's own name, and writes nothing.
func IgnoresCase(dir string) bool {
	base := filepath.Base(dir)
	other := strings.ToUpper(base)
	if other == base {
		other = strings.ToLower(base)
	}
	if other == base {
		return false
	}
	a, aerr := os.Stat(dir)
	b, berr := os.Stat(filepath.Join(filepath.Dir(dir), other))
	return aerr == nil && berr == nil && os.SameFile(a, b)
}

// Seed writes the default policy when there is none.
func Seed(ctx context.Context, p place.Place) (written bool, err error) {
	release, err := p.Lock(ctx)
	if err != nil {
		return false, err
	}
	defer release()
	err = p.Edit(p.Policy(), func(old []byte) ([]byte, error) {
		if old != nil {
			return old, nil
		}
		written = true
		return []byte(Text(p.Dir())), nil
	})
	return written, err
}

// Text is the default policy of a repository whose learned files lie in dir.
func Text(dir string) string {
	var b strings.Builder
	b.WriteString(`# Who decides about a change that an agent makes while si learns from a run:
#   AUTO    si commits it; git revert undoes it
#   GATED   si proposes it, you approve it ('si proposals')
#   KERNEL  only people, by hand
# A KERNEL rule beats every other; otherwise the more specific path wins, and the
# stricter class of equals. Always KERNEL, whatever stands here: this file, sealed
# paths and the benchmark, si's own state, git's, and what is outside.
default: GATED
rules:
`)
	for _, r := range []struct {
		path   string
		class  Class
		reason string
	}{
		{dir + "/knowledge/**", Auto, "facts about this repository, retired by their counters"},
		{dir + "/skills/**", Auto, "skills of this repository, which must pass an activation test"},
		{dir + "/prompts/**", Auto, "overrides of prompts"},
		{dir + "/config.yaml", Auto, "what was established about tests, build and benchmark must be mended by who finds it wrong"},
		{dir + "/hooks/**", Gated, "hooks run on the machines of others"},
		{dir + "/agents/**", Gated, "a new agent is another mode of work, which people decide about"},
		{dir + "/budget*", Gated, "budgets are the user's money"},
		{dir + "/rules/**", Gated, "the deletion of a safety rule is no tuning"},
		{".claude/**", Gated, "hooks and settings of a coding agent"},
		{"**/CLAUDE.md", Gated, "the law for every agent here"},
		{"**/AGENTS.md", Gated, "the law for every agent here"},
		{"MISTAKES.md", Gated, "it is counted; si adds to it itself"},
	} {
		fmt.Fprintf(&b, "  - path: %q\n    class: %s\n    reason: %s\n", r.path, r.class, r.reason)
	}
	return b.String()
}

// Dead is a rule that can never decide.
type Dead struct {
	Rule Rule   `json:"rule"`
	Why  string `json:"why"`
}

// Dead finds rules that no path can reach.
func (p *Policy) Dead() []Dead {
	var out []Dead
	for i, r := range p.Rules {
		if why := p.dead(i, r); why != "" {
			out = append(out, Dead{r, why})
		}
	}
	return out
}

func (p *Policy) dead(i int, r Rule) string {
	for j, other := range p.Rules {
		if i == j || fold(other.Path) != fold(r.Path) {
			continue
		}
		if other.Class.strictness() > r.Class.strictness() || other.Class == r.Class && j < i {
			return fmt.Sprintf("line %d has the same path and is %s", other.Line, other.Class)
		}
	}
	for _, other := range append(p.kernels(), p.builtIn...) {
		below, whole := strings.CutSuffix(fold(other.Path), "/**")
		if r.Class != Kernel && whole && !strings.ContainsAny(below, `*?[{`) && strings.HasPrefix(fold(r.Path), below+"/") {
			return fmt.Sprintf("all that it means is KERNEL by %s", other.Path)
		}
	}
	return ""
}

func (p *Policy) kernels() []Rule {
	var out []Rule
	for _, r := range p.Rules {
		if r.Class == Kernel {
			out = append(out, r)
		}
	}
	return out
}

// AllowLaw reports whether the program may write its own counted rule into the rules
// file: it may when that is GATED, since the class binds an agent's hand; not when
// it is KERNEL, nor when the policy cannot be read.
func (p *Policy) AllowLaw(path string) error {
	if p.Broken != nil {
		return fmt.Errorf("%s is not written: %w; mend the policy first", path, p.Broken)
	}
	if d := p.Decide(path); d.Class == Kernel {
		return fmt.Errorf("%s is KERNEL by %s (%s): only people change it, by hand", path, d.Rule, d.Reason)
	}
	return nil
}
