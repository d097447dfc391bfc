package benchmark

import (
	"fmt"
	"path"
	"strings"
)

// Link is a symbolic link in a candidate's tree. Old ones are in the base with
// the same target: they are followed, and not judged.
type Link struct {
	Path, Target string
	Old          bool
}

// LinkFaults names the links of a candidate that lead outside the tree or to a
// sealed path, or that stand in place of a folder with sealed paths. Targets
// are resolved as text, through the other links of the tree, so give all of
// them: nothing of the candidate need be checked out for it.
func (s *Seals) LinkFaults(links []Link) []string {
	targets := make(map[string]string, len(links))
	for _, l := range links {
		targets[l.Path] = l.Target
	}
	var faults []string
	for _, l := range links {
		if l.Old {
			continue
		}
		if what := s.linkFault(l, targets); what != "" {
			faults = append(faults, fmt.Sprintf("%s: a symbolic link to %s %s", shownPath(l.Path), shownPath(l.Target), what))
		}
	}
	return sortedSet(faults)
}

func (s *Seals) linkFault(l Link, targets map[string]string) string {
	if s.Match(l.Path) || s.above(l.Path) {
		return "in place of what is sealed"
	}
	at, what := resolve(l.Path, targets)
	switch {
	case what != "":
		return what
	case s.Match(at):
		return "leads to a sealed path"
	case isGitDir(firstPart(at)):
		return "leads outside the tree" // git's own files are not the tree's
	}
	return ""
}

func firstPart(p string) string {
	first, _, _ := strings.Cut(p, "/")
	return first
}

// resolve follows the link at p to the path in the tree where it ends, which
// need not exist, or says why it does not end in the tree.
func resolve(p string, targets map[string]string) (end, what string) {
	const maxHops = 40 // as many as Linux follows
	todo, at := strings.Split(p, "/"), ""
	for hops := 0; len(todo) > 0; {
		part := todo[0]
		todo = todo[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			if at == "" {
				return "", "leads outside the tree"
			}
			if at = path.Dir(at); at == "." {
				at = ""
			}
			continue
		}
		next := path.Join(at, part)
		target, isLink := targets[next]
		if !isLink {
			at = next
			continue
		}
		if hops++; hops > maxHops {
			return "", "leads in a circle"
		}
		if target == "" || strings.HasPrefix(target, "/") || strings.ContainsRune(target, 0) {
			return "", "leads outside the tree"
		}
		todo = append(strings.Split(target, "/"), todo...)
	}
	return at, ""
}
