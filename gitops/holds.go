package gitops

import (
	"context"
	"strings"
)

// Holds names those of the files, anywhere on the machine, whose content the
// repository holds as an object: in a commit, or left over from one.
func (r *Repo) Holds(ctx context.Context, files []string) ([]string, error) {
	const op = "look for files in the history of"
	if len(files) == 0 {
		return nil, nil
	}
	ids, err := r.git.git(ctx, call{
		op: op, path: r.common, in: r.store(), limit: workLimit, args: append([]string{"hash-object", "--no-filters", "--"}, files...),
	})
	if err != nil {
		return nil, err
	}
	a, err := r.git.git(ctx, call{op: op, path: r.common, in: r.store(), stdin: ids.out, args: []string{"cat-file", "--batch-check"}})
	if err != nil {
		return nil, err
	}
	var found []string
	for i, line := range strings.Split(strings.TrimSpace(string(a.out)), "\n") {
		if i < len(files) && !strings.HasSuffix(line, " missing") {
			found = append(found, files[i])
		}
	}
	return found, nil
}
