package loop

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"si/track"
)

// inScope reports whether goal.md lets a plan name the path: it is in scope, or
// nothing is listed as in scope, and it is not out of scope.
func inScope(g track.Goal, path string) bool {
	return !matchesAny(g.OutScope, path) && (len(g.InScope) == 0 || matchesAny(g.InScope, path))
}

// matchesAny compares a path with scope entries: a path, a folder with all that
// is below it, or a glob. A "." is the whole repository.
func matchesAny(entries []string, path string) bool {
	for _, e := range entries {
		e = strings.Trim(strings.TrimPrefix(e, "./"), "/")
		if e == "" || e == "." || e == path || strings.HasPrefix(path, e+"/") {
			return true
		}
		// Match fails only on a broken pattern, which then matches nothing.
		if ok, err := doublestar.Match(e, path); err == nil && ok {
			return true
		}
	}
	return false
}
