package gitops

import (
	"context"
)

// MergeTrees applies the change from base to theirs to ours, all commits, as a
// cherry-pick does, or a revert when base is the later one. The result is a commit
// on top of ours. Like Merge it works on objects only, and conflicts are an answer.
func (r *Repo) MergeTrees(ctx context.Context, base, ours, theirs string, c CommitMeta) (Merge, error) {
	const op = "apply a change"
	var trees [3]string
	for i, commit := range []string{base, ours, theirs} {
		if !r.isID(commit) {
			return Merge{}, wrong(op, commit, ErrNotFound, "give three commits")
		}
		tree, err := r.TreeOf(ctx, commit)
		if err != nil {
			return Merge{}, err
		}
		trees[i] = tree
	}
	// git merges by history, so the three trees are given one: a fork at base. (The
	// option that names a base is younger than the oldest git that is supported.)
	fork := CommitMeta{Message: op, When: c.When}
	root, err := r.commitTree(ctx, trees[0], nil, fork)
	if err != nil {
		return Merge{}, err
	}
	var sides [2]string
	for i, tree := range trees[1:] {
		fork.Message = []string{"ours", "theirs"}[i] // equal trees must not give one commit
		if sides[i], err = r.commitTree(ctx, tree, []string{root}, fork); err != nil {
			return Merge{}, err
		}
	}
	m, err := r.Merge(ctx, sides[0], sides[1], c)
	if err != nil || len(m.Conflicts) > 0 {
		return Merge{Conflicts: m.Conflicts}, err
	}
	m.Commit, err = r.commitTree(ctx, m.Tree, []string{ours}, c)
	return m, err
}

// Replay makes a commit with the tree of one commit on top of another.
func (r *Repo) Replay(ctx context.Context, treeOf, onto string, c CommitMeta) (Commit, error) {
	tree, err := r.TreeOf(ctx, treeOf)
	if err != nil {
		return Commit{}, err
	}
	id, err := r.commitTree(ctx, tree, []string{onto}, c)
	return Commit{ID: id, Tree: tree}, err
}
