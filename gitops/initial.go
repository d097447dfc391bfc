package gitops

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"si/internal/proc"
)

// Initial makes the folder dir a repository with one commit of all that lies in
// it, on the branch main. Dates and people are fixed, so the same files give the
// same commit everywhere.
func Initial(ctx context.Context, dir string, run proc.Runner) (commit string, err error) {
	const op = "make repository"
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", op, dir, err)
	}
	if _, err := os.Lstat(filepath.Join(abs, ".git")); err == nil {
		return "", &Error{Op: op, Path: abs, Msg: "there is one already", Hint: "choose an empty folder"}
	}
	git := program{run: run, base: os.Environ()}
	r := &Repo{git: git, top: abs, gitDir: filepath.Join(abs, ".git"), common: filepath.Join(abs, ".git"), format: "sha1"}
	r.read = gitReader{r}
	do := func(args ...string) (string, error) {
		return git.line(ctx, call{op: op, path: abs, in: r.here(), args: append([]string{"-c", "core.autocrlf=false", "-c", "core.excludesFile=/dev/null"}, args...)})
	}
	_, err = git.git(ctx, call{
		op: op, path: abs, dir: abs,
		args: []string{"init", "--quiet", "--template=", "--initial-branch=main", "--object-format=sha1", abs},
	})
	if err != nil {
		return "", err
	}
	if _, err := do("add", "--all", "."); err != nil {
		return "", err
	}
	tree, err := do("write-tree")
	if err != nil {
		return "", err
	}
	meta := CommitMeta{Message: "Start", Name: ownName, Email: ownEmail, When: time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)}
	commit, err = r.commitTree(ctx, tree, nil, meta)
	if err != nil {
		return "", err
	}
	return commit, r.MoveRef(ctx, "refs/heads/main", commit, "")
}
