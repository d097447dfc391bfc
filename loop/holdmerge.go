package loop

import (
	"context"
	"fmt"
)

// A merge that is being measured hangs on no branch yet: a gc of the user's could take
// it away meanwhile. So it has a ref of ours until the round has ended.

func (n refNames) merges() string { return "refs/si/merge/" + n.prefix + "round_" }

// holdMerge keeps the merge of an executor's candidate.
func (r *round) holdMerge(ctx context.Context, executor, commit string) error {
	ref := fmt.Sprintf("%s%d_%s", r.refs.merges(), r.n, executor)
	old, _, err := r.cfg.Repo.Ref(ctx, ref)
	if err != nil || old == commit {
		return err
	}
	return r.cfg.Repo.MoveRef(ctx, ref, commit, old)
}

// dropMerges lets go of the merges that were held: those that won are on the improve
// branch, and one that a crash cut short is made again.
func (l *Loop) dropMerges(ctx context.Context) error {
	refs, err := l.cfg.Repo.Refs(ctx, l.refs.merges())
	if err != nil {
		return err
	}
	for _, ref := range refs {
		if err := l.cfg.Repo.DeleteRef(ctx, ref.Name, ref.ID); err != nil {
			return err
		}
	}
	return nil
}
