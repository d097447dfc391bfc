package gitops

import (
	"context"
	"fmt"
	"strings"
)

// gitReader reads with the git program.
type gitReader struct{ r *Repo }

func (g gitReader) head(ctx context.Context) (Head, error) {
	const op = "read the current commit of"
	r := g.r
	id, err := r.git.line(ctx, call{
		op: op, path: r.top, in: r.here(), codes: []int{1, 128},
		args: []string{"rev-parse", "--verify", "--quiet", "HEAD^{commit}"},
	})
	if err != nil {
		return Head{}, err
	}
	branch, err := r.git.line(ctx, call{
		op: op, path: r.top, in: r.here(), codes: []int{1}, args: []string{"symbolic-ref", "--quiet", "HEAD"},
	})
	if err != nil {
		return Head{}, err
	}
	h := Head{Branch: strings.TrimPrefix(branch, "refs/heads/"), Commit: id}
	if !r.isID(id) {
		return h, wrong(op, r.top, ErrNotFound, "")
	}
	return h, nil
}

func (g gitReader) ref(ctx context.Context, name string) (string, bool, error) {
	if !strings.HasPrefix(name, "refs/") && name != "HEAD" {
		return "", false, &Error{Op: "read ref", Path: name, Msg: "not a full ref name"}
	}
	id, err := g.r.git.line(ctx, call{
		op: "read ref", path: name, in: g.r.here(), codes: []int{1, 128},
		args: []string{"rev-parse", "--verify", "--quiet", name},
	})
	if err != nil || !g.r.isID(id) {
		return "", false, err
	}
	return id, true, nil
}

func (g gitReader) refs(ctx context.Context, prefix string) ([]RefInfo, error) {
	args := []string{"for-each-ref", "--format=%(refname) %(objectname)"}
	if prefix != "" {
		args = append(args, strings.TrimSuffix(prefix, "/"))
	}
	a, err := g.r.git.git(ctx, call{op: "list refs of", path: g.r.top, in: g.r.store(), args: args})
	if err != nil {
		return nil, err
	}
	var list []RefInfo
	for line := range strings.Lines(string(a.out)) {
		name, id, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ") // a ref's name has neither blank nor newline
		if ok && strings.HasPrefix(name, prefix) {
			list = append(list, RefInfo{Name: name, ID: id})
		}
	}
	return sortRefs(list), nil
}

func (g gitReader) commit(ctx context.Context, id string) (CommitInfo, error) {
	const op = "read commit"
	if !g.r.isID(id) {
		return CommitInfo{}, wrong(op, id, ErrNotFound, "")
	}
	a, err := g.r.git.git(ctx, call{
		op: op, path: id, in: g.r.store(), codes: []int{1, 128}, args: []string{"cat-file", "commit", id},
	})
	if err != nil {
		return CommitInfo{}, err
	}
	head, _, _ := strings.Cut(string(a.out), "\n\n")
	info := CommitInfo{ID: id}
	for line := range strings.SplitSeq(head, "\n") {
		if v, ok := strings.CutPrefix(line, "tree "); ok {
			info.Tree = v
		}
		if v, ok := strings.CutPrefix(line, "parent "); ok {
			info.Parents = append(info.Parents, v)
		}
	}
	if a.code != 0 || !g.r.isID(info.Tree) {
		return CommitInfo{}, wrong(op, id, ErrNotFound, "")
	}
	return info, g.hasTree(ctx, info)
}

func (g gitReader) hasTree(ctx context.Context, c CommitInfo) error {
	a, err := g.r.git.git(ctx, call{
		op: "read commit", path: c.ID, in: g.r.store(), codes: []int{1, 128}, args: []string{"cat-file", "-e", c.Tree},
	})
	if err == nil && a.code != 0 {
		err = wrong("read tree of commit", c.ID, ErrNotFound, "")
	}
	return err
}

func (g gitReader) diff(ctx context.Context, from, to string) ([]Change, error) {
	a, err := g.r.git.git(ctx, call{
		op: "compare", path: from + ".." + to, in: g.r.store(),
		args: []string{"diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--no-ext-diff", from, to},
	})
	if err != nil {
		return nil, err
	}
	changes, err := parseRaw(a.out)
	if err != nil {
		return nil, fmt.Errorf("compare %s..%s: %w", from, to, err)
	}
	return sortChanges(changes), nil
}

func (g gitReader) blob(ctx context.Context, commit, path string, most int64) ([]byte, error) {
	const op = "read file"
	a, err := g.r.git.git(ctx, call{
		op: op, path: path, in: g.r.store(), codes: []int{128}, max: int(min(most, headBytes)) + 1, cut: true,
		args: []string{"cat-file", "blob", commit + ":" + path},
	})
	switch {
	case err != nil:
		return nil, err
	case a.code != 0:
		return nil, wrong(op, path, ErrNotFound, "")
	case a.cut || int64(len(a.out)) > most:
		return nil, wrong(op, path, ErrTooLarge, "")
	}
	return a.out, nil
}
