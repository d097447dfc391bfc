package retro

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"si/learn/place"
	"si/learn/policy"
)

// maxChanged bounds the paths that one judge may change.
const maxChanged = 40

// maxContent bounds one file, in bytes.
const maxContent = 256 << 10

// taken are the changes of a judge that may be gone on with, and the others.
type taken struct {
	taken   map[string]classed
	refused []Refusal
}

// classed is a change with who decides about it.
type classed struct {
	Change
	class policy.Class
}

// Refusal is a path that was not taken, and why.
type Refusal struct {
	Path  string       `json:"path"`
	Class policy.Class `json:"class,omitempty"`
	Why   string       `json:"why"`
}

// classify asks the policy about each path of the judge's difference. Nothing else
// of what the judge did counts, so the boundary does not depend on its behaving.
func classify(in Input, changes []Change) taken {
	out := taken{taken: map[string]classed{}}
	refuse := func(c Change, class policy.Class, format string, args ...any) {
		out.refused = append(out.refused, Refusal{told(c.Path), class, fmt.Sprintf(format, args...)})
	}
	for i, c := range changes {
		d := in.Policy.DecideTree(c.Path)
		switch {
		case i >= maxChanged:
			refuse(c, "", "more than %d paths were changed", maxChanged)
		case d.Class == policy.Kernel:
			refuse(c, d.Class, "KERNEL by %s: %s; only people change it, by hand", d.Rule, d.Reason)
		case !mine(in.Place, c.Path):
			refuse(c, d.Class, "a retrospective changes what was learned and never the product")
		case c.Special:
			refuse(c, d.Class, "it is a link, a submodule or a program; only plain files are taken")
		case !c.Deleted && (len(c.Content) > maxContent || !utf8.Valid(c.Content)):
			refuse(c, d.Class, "it has more than %d bytes or is no text", maxContent)
		case c.Path == place.Mistakes:
			refuse(c, d.Class, "the program writes it itself, from its counts")
		default:
			out.taken[c.Path] = classed{c, d.Class}
		}
	}
	return out
}

// explained joins the changes with the wishes that explain them. What nobody explains
// is refused.
func explained(wishes []ChangeWish, changes map[string]classed) (groups []group, refused []Refusal) {
	left := map[string]bool{}
	for name := range changes {
		left[name] = true
	}
	for _, w := range wishes {
		g := group{ChangeWish: w}
		for _, name := range w.Paths {
			if c, ok := changes[name]; ok && left[name] {
				g.files = append(g.files, c)
				delete(left, name)
			}
		}
		if len(g.files) > 0 {
			groups = append(groups, g)
		}
	}
	for _, name := range sorted(left) {
		refused = append(refused, Refusal{name, changes[name].class, "no item of changes explains it"})
	}
	return groups, refused
}

// group is one change: the paths that belong together.
type group struct {
	ChangeWish
	files []classed
}

// class is the strictest of its files.
func (g group) class() policy.Class {
	for _, f := range g.files {
		if f.class != policy.Auto {
			return f.class
		}
	}
	return policy.Auto
}

func (g group) touches(folder string) bool {
	return slices.ContainsFunc(g.files, func(f classed) bool { return below(f.Path, folder) })
}

func below(name, folder string) bool {
	return len(name) > len(folder) && name[:len(folder)] == folder && name[len(folder)] == '/'
}

func sorted[V any](set map[string]V) []string {
	names := make([]string, 0, len(set))
	for name := range set {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
