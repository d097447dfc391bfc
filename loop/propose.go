package loop

import (
	"context"
	"slices"
	"strings"

	"si/benchmark"
	"si/gitops"
	"si/track"
)

// maxScript bounds a script that is searched for what it names, in bytes.
const maxScript = 1 << 20

// ProposeSeals names what the benchmark is made of, as far as its command and
// the scripts that it names tell, without what is in scope.
func ProposeSeals(ctx context.Context, repo *gitops.Repo, commit, command string, scope []string) ([]string, error) {
	entries, err := repo.ListTree(ctx, commit)
	if err != nil {
		return nil, err
	}
	there := map[string]bool{}
	for _, e := range entries {
		there[e.Path] = true
		for dir := e.Path; strings.Contains(dir, "/"); {
			dir = dir[:strings.LastIndexByte(dir, '/')]
			there[dir+"/"] = true
		}
	}
	read := func(path string) ([]byte, bool) {
		data, err := repo.ReadFile(ctx, commit, path, maxScript)
		return data, err == nil
	}
	var out []string
	for _, p := range benchmark.ProposeSeals(command, func(path string) bool { return there[path] }, read) {
		out = append(out, p.Path)
	}
	return outsideScope(out, scope), nil
}

// outsideScope is what of sealed paths may be sealed beside a scope. A scope of
// everything names nothing: the benchmark is sealed all the same.
func outsideScope(sealed, scope []string) []string {
	goal := track.Goal{InScope: slices.DeleteFunc(slices.Clone(scope), func(s string) bool {
		return slices.Contains([]string{".", "./", "*", "**", "**/*", "/"}, strings.TrimSpace(s))
	})}
	var out []string
	for _, p := range sealed {
		if len(goal.InScope) == 0 || !inScope(goal, strings.TrimSuffix(p, "/")) {
			out = append(out, p)
		}
	}
	return out
}
