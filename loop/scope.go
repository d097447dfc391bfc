package loop

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"si/benchmark"
	"si/gitops"
	"si/track"
)

// checkScope refuses a scope that no change could ever be in: entries that are no
// patterns, or nothing left of it beside sealed files. An entry
// that matches no file yet may name one that is to be made; it is told.
func checkScope(ctx context.Context, cfg Config, goal track.Goal, settings track.Settings, in SetUp) error {
	if in.Goal != nil && len(goal.NotUsed) > 0 {
		return fmt.Errorf("%w: the scope of the goal names no path in %s", ErrNotSetUp, strings.Join(goal.NotUsed, ", nor in "))
	}
	for _, e := range slices.Concat(goal.InScope, goal.OutScope) {
		if fault := scopeFault(e); fault != "" {
			return fmt.Errorf("%w: scope %q of the goal: %s", ErrNotSetUp, e, fault)
		}
	}
	start, err := cfg.Repo.Resolve(ctx, settings.TargetBranch)
	if err != nil {
		return err
	}
	entries, err := cfg.Repo.ListTree(ctx, start)
	if err != nil {
		return err
	}
	seals, err := benchmark.NewSeals(settings.SealedFiles)
	if err != nil {
		return err
	}
	open, all := 0, 0
	for _, e := range entries {
		if inScope(goal, e.Path) {
			all++
			if !seals.Match(e.Path) {
				open++
			}
		}
	}
	switch {
	case all == 0:
		return fmt.Errorf("%w: the scope of the goal (%s) matches no file of %s", ErrNotSetUp, strings.Join(goal.InScope, ", "), settings.TargetBranch)
	case open == 0:
		return fmt.Errorf("%w: every file in scope is sealed, so no change is possible; name other files with --scope or --sealed", ErrNotSetUp)
	}
	for _, entry := range goal.InScope {
		if !slices.ContainsFunc(entries, func(e gitops.Entry) bool { return matchesAny([]string{entry}, e.Path) }) {
			in.say("note: %q in the scope matches no file of %s", entry, settings.TargetBranch)
		}
	}
	return nil
}

// scopeFault says what is wrong with an entry of the scope, "" when nothing is.
func scopeFault(entry string) string {
	e := strings.Trim(strings.TrimPrefix(entry, "./"), "/")
	if !doublestar.ValidatePattern(e) {
		return "the pattern is broken; a [ or { that is meant literally is written \\[ or \\{"
	}
	return ""
}

// inScope reports whether goal.md lets a plan name the file: it is in scope, or
// nothing is listed as in scope, and it is not out of scope.
func inScope(g track.Goal, name string) bool {
	return !matchesAny(g.OutScope, name) && (len(g.InScope) == 0 || matchesAny(g.InScope, name))
}

// matchesAny compares a path with scope entries: a path, a folder with all that
// is below it, or a glob. A "." is the whole repository.
func matchesAny(entries []string, name string) bool {
	for _, e := range entries {
		e = strings.Trim(strings.TrimPrefix(e, "./"), "/")
		if e == "" || e == "." || e == name || strings.HasPrefix(name, e+"/") {
			return true
		}
		// Match fails only on a broken pattern, which then matches nothing.
		if ok, err := doublestar.Match(e, name); err == nil && ok {
			return true
		}
	}
	return false
}
