package loop

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"si/gitops"
	"si/learn/mistakes"
	"si/learn/policy"
	"si/track"
)

// inspectSteering refuses a change that would say to the agents of later rounds what
// to do, or that people alone may make: a candidate is merged before anybody looks.
func (r *round) inspectSteering(ctx context.Context, commit string, paths []string) (*track.FailureAnalysis, error) {
	for _, p := range paths {
		if r.lessons.policy == nil {
			break
		}
		if d := r.lessons.policy.DecideTree(p); d.Class == policy.Kernel && d.Line > 0 {
			return failure(track.CategoryScopeError, "a path was changed that only people change: %s, by the rule %s", "the policy of the repository makes it KERNEL",
				"leave it alone", quoted([]string{p}), d.Rule), nil
		}
		if part := steersAgents(p); part != "" && !named(r.goal.InScope, part) {
			return failure(track.CategoryScopeError, "a file was changed that tells agents what to do: %s", "agents of later rounds would follow it, and the goal does not name it",
				"change source files only", quoted([]string{p})), nil
		}
	}
	for _, name := range []string{"CLAUDE.md", "AGENTS.md"} {
		if !slices.Contains(paths, name) {
			continue
		}
		same, err := r.sameLaw(ctx, commit, name)
		if err != nil {
			return nil, err
		}
		if !same {
			return failure(track.CategoryScopeError, "the rules between the markers of %s were changed", "the program alone writes them, from its counts",
				"leave the lines between the markers, and the markers, as they are", name), nil
		}
	}
	return nil, nil
}

// sameLaw tells whether the rules fence of a file is what it was at the round's base.
// One that was malformed there is no law.
func (r *round) sameLaw(ctx context.Context, commit, name string) (bool, error) {
	var laws [2]string
	var faults [2]error
	for i, at := range []string{r.st.Value.SI.Base, commit} {
		data, err := r.cfg.Repo.ReadFile(ctx, at, name, maxLearnedFile)
		if errors.Is(err, gitops.ErrTooLarge) {
			return false, nil
		}
		if err != nil && !errors.Is(err, gitops.ErrNotFound) {
			return false, fmt.Errorf("read the rules in %q: %w", name, err)
		}
		laws[i], faults[i] = mistakes.LawText(name, data)
	}
	return faults[0] != nil || faults[1] == nil && laws[0] == laws[1], nil
}

// steersAgents is the part of a path by which agents read it by themselves, as what
// they are to do or as programs to run; "" when they do not.
func steersAgents(name string) string {
	name = path.Clean(name)
	top, _, below := strings.Cut(name, "/")
	in := func(part string, known ...string) bool {
		return slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, part) })
	}
	if below && in(top, ".claude", ".agents", ".codex", ".gemini", ".opencode", ".cursor", ".goose", ".pi") {
		return top
	}
	if base := path.Base(name); in(base, "CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "AGENTS.override.md", "GEMINI.md", ".mcp.json", "opencode.json", ".cursorrules", ".goosehints") {
		return base
	}
	return ""
}

// named tells whether an entry of a scope names a file or folder, and does not only
// mean it among others.
func named(scope []string, part string) bool {
	return slices.ContainsFunc(scope, func(entry string) bool { return slices.Contains(strings.Split(entry, "/"), part) })
}
