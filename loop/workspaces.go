package loop

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"si/gitops"
	"si/track"
)

// noRound is the number of no round.
const noRound = -1

// openReaders gives the roles that only read a checkout of the champion.
func (r *round) openReaders(ctx context.Context) error {
	if r.readers != "" {
		return nil
	}
	path := r.workspace("readers")
	if _, err := r.openWorkspace(ctx, path, r.st.Value.SI.Base); err != nil {
		return err
	}
	r.readers = path
	return nil
}

// openWorkspace lays a fresh workspace for an agent: a shared clone, or a
// linked worktree where settings say so.
func (r *round) openWorkspace(ctx context.Context, path, commit string) (*gitops.Workspace, error) {
	open := r.cfg.Repo.Clone
	if r.settings.Value.SI.Isolation == "worktree" {
		if err := r.cfg.Repo.Lend(ctx, commit); err != nil { // clones do this by themselves
			return nil, err
		}
		open = r.cfg.Repo.Worktree
	}
	ws, err := open(ctx, path, commit)
	if err != nil {
		return nil, err
	}
	if err := r.link(ctx, ws); err != nil {
		return nil, err
	}
	return ws, nil
}

// cleanUp removes what earlier rounds and a crash left behind: workspaces, and
// experiment branches of ours, but those of the round current, which is not
// finished: they hold the work of agents that are.
func (l *Loop) cleanUp(ctx context.Context, current int) error {
	removed, err := l.cfg.Repo.SweepWorkspaces(ctx, l.cfg.WorkDir, l.lab.uses)
	if err != nil {
		return err
	}
	if err := l.dropMerges(ctx); err != nil {
		return err
	}
	branches, err := l.cfg.Repo.Refs(ctx, "refs/heads/experiment/"+l.refs.prefix+"round_")
	if err != nil {
		return err
	}
	for _, ref := range branches {
		if strings.Contains(ref.Name, fmt.Sprintf("/round_%d_", current)) {
			continue
		}
		if err := l.retire(ctx, ref); err != nil {
			return err
		}
		removed = append(removed, ref.Name)
	}
	if len(removed) == 0 {
		return nil
	}
	for i, p := range removed {
		removed[i] = filepath.Base(p)
	}
	return l.events.emit(track.EvCleanup, 0, "si", track.Note{Text: "removed " + quoted(removed)})
}

// retire turns an experiment branch that was left behind into its archive tag:
// whatever a run produced can be found again.
func (l *Loop) retire(ctx context.Context, ref gitops.RefInfo) error {
	tag := "refs/tags/archive/" + strings.TrimPrefix(ref.Name, "refs/heads/experiment/")
	if _, ok, err := l.cfg.Repo.Ref(ctx, tag); err != nil {
		return err
	} else if !ok {
		if err := l.cfg.Repo.MoveRef(ctx, tag, ref.ID, ""); err != nil {
			return err
		}
	}
	return l.cfg.Repo.DeleteRef(ctx, ref.Name, ref.ID)
}

// checkDisk refuses to begin a step on a disk that is nearly full.
func (r *round) checkDisk() error {
	need := int64(orDefault(r.settings.Value.SI.MinFreeDiskMB, 500)) << 20
	for _, dir := range []string{r.cfg.WorkDir, r.cfg.Paths.Root, r.cfg.Repo.CommonDir()} {
		free, err := freeBytes(dir)
		if err != nil {
			return err
		}
		if free < need {
			return fmt.Errorf("only %d MB are free on the disk of %s, and a step needs %d: free some, or lower si.min_free_disk_mb, then start again",
				free>>20, dir, need>>20)
		}
	}
	return nil
}
