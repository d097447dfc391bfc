package loop

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"si/gitops"
	"si/internal/durable"
	"si/learn/place"
	"si/learn/policy"
	"si/learn/retro"
	"si/track"
)

// Limits of the learned files that are read out of the tree: a repository can hold
// anything under these names.
const (
	maxLearned     = 5000
	maxLearnedFile = 1 << 20
)

// learner holds the learned files of the champion in a folder of its own, outside of
// the user's checkout, where they are read and written. What is written becomes
// commits of the improve branch, between rounds only.
type learner struct {
	l     *Loop
	laid  string // the commit whose files lie in the folder
	place place.Place
	links []string // learned files that are symbolic links there; a file would replace them
}

func (l *Loop) learnDir() string { return filepath.Join(l.cfg.WorkDir, "learn") }

// lay brings the folder to the learned files of commit.
func (n *learner) lay(ctx context.Context, commit string) error {
	if n.laid == commit {
		return nil
	}
	n.laid = ""
	files, links, dir, err := n.l.learnedFiles(ctx, commit)
	if err != nil {
		return err
	}
	n.links = links
	top := n.l.learnDir()
	if err := removeAll(top); err != nil {
		return fmt.Errorf("lay out the learned files: %w", err)
	}
	if err := os.MkdirAll(filepath.Join(top, dir), 0o700); err != nil {
		return fmt.Errorf("lay out the learned files: %w", err)
	}
	if n.place, err = place.Open((&durable.Store{}).Within(top), top); err != nil {
		return err
	}
	if err := n.place.Lay(files); err != nil {
		return err
	}
	n.laid = commit
	return nil
}

// The folders of learned files: the older tool's wins where a tree has both.
const (
	learnedOld = ".tyran"
	learnedNew = ".si"
)

// learnedFiles reads the learned files of a commit, and tells their folder, and which of
// those at the top are links.
func (l *Loop) learnedFiles(ctx context.Context, commit string) (files map[string][]byte, links []string, dir string, err error) {
	entries, err := l.cfg.Repo.ListTree(ctx, commit)
	if err != nil {
		return nil, nil, "", err
	}
	if i := slices.IndexFunc(entries, func(e gitops.Entry) bool { return e.Path == learnedNew || e.Path == learnedOld }); i >= 0 {
		return nil, nil, "", fmt.Errorf("read the learned files of %s: %s is a link, a file or a submodule; what is learned needs a folder there", short(commit), entries[i].Path)
	}
	dir = learnedNew
	if slices.ContainsFunc(entries, func(e gitops.Entry) bool { return strings.HasPrefix(e.Path, learnedOld+"/") }) {
		dir = learnedOld
	}
	files = map[string][]byte{}
	for _, e := range entries {
		if e.Mode == modeSymlink && isLearnedAtTop(e.Path) {
			links = append(links, e.Path)
		}
		if e.Mode == modeSymlink || !strings.HasPrefix(e.Path, dir+"/") && !isLearnedAtTop(e.Path) {
			continue
		}
		if len(files) == maxLearned {
			return nil, nil, "", fmt.Errorf("read the learned files of %s: there are more than %d in %s", short(commit), maxLearned, dir)
		}
		data, err := l.cfg.Repo.ReadFile(ctx, commit, e.Path, maxLearnedFile)
		if err != nil {
			return nil, nil, "", fmt.Errorf("read the learned file %q: %w", e.Path, err)
		}
		files[e.Path] = data
	}
	return files, links, dir, nil
}

func isLearnedAtTop(name string) bool {
	return name == place.Mistakes || name == "CLAUDE.md" || name == "AGENTS.md"
}

// onlyLearned tells whether a path is written by the program alone, when it has
// learned something. The rules that agents read are the user's too, and in scope
// where the goal says so.
func onlyLearned(name string) bool {
	top, _, _ := strings.Cut(path.Clean(name), "/")
	return strings.EqualFold(top, learnedNew) || strings.EqualFold(top, learnedOld) || strings.EqualFold(path.Clean(name), place.Mistakes)
}

// policy is who decides about which path, for this track.
func (n *learner) policy() *policy.Policy {
	s := n.l.settings.Value
	return policy.Load(n.place, policy.Ground{
		IgnoresCase: policy.IgnoresCase(n.l.cfg.Repo.Toplevel()), Sealed: slices.Clone(s.SealedFiles), Links: n.links,
		State: []string{".omc/**", strings.TrimPrefix(n.l.cfg.Paths.Relative(n.l.cfg.Paths.StateBase()), "/") + "/**"},
	})
}

// commit makes one change of the learned files a commit of the improve branch. What
// the branch will be is on disk before it is moved, so that a crash in between leaves
// a branch that is known.
func (n *learner) commit(ctx context.Context, c retro.Commit) (string, error) {
	l := n.l
	tip, err := l.tip(ctx)
	if err != nil {
		return "", err
	}
	for name := range c.Files {
		if !n.place.Owns(name) {
			return "", fmt.Errorf("commit what was learned: %q is no learned file", name)
		}
		if slices.Contains(n.links, name) {
			return "", fmt.Errorf("commit what was learned: %q is a symbolic link in the repository, which a file would replace", name)
		}
	}
	commit, err := l.cfg.Repo.Write(ctx, tip, c.Files, gitops.CommitMeta{Message: c.Message, When: l.cfg.Now().UTC()})
	if err != nil {
		return "", fmt.Errorf("commit what was learned: %w", err)
	}
	champion, err := l.champion()
	if err != nil {
		return "", err
	}
	l.progress.Value.SI.Learned = &track.LearnedTip{Champion: champion, Before: tip, Tip: commit.ID}
	if err := firstOf(l.cfg.Repo.Sync(), l.progress.Save(l.cfg.Store)); err != nil {
		return "", err
	}
	if err := l.cfg.Repo.MoveRef(ctx, "refs/heads/"+l.refs.improve(), commit.ID, tip); err != nil {
		return "", explainMoved(err, l.refs.improve())
	}
	if err := l.cfg.Repo.Sync(); err != nil {
		return "", err
	}
	n.laid = commit.ID
	ev := c.Event
	ev.Commit, ev.Measured = commit.ID, champion
	return commit.ID, l.events.emit(track.EvLearned, l.progress.Value.Iterations, "si", ev)
}

// learnedSince tells whether now is the champion with learned files committed on top
// of it, and nothing else.
func learnedSince(learned *track.LearnedTip, now, champion string) bool {
	return learned != nil && learned.Champion == champion && (now == learned.Tip || now == learned.Before)
}

// edit runs a change of the learned files and commits what it left.
func (n *learner) edit(ctx context.Context, message string, ev track.Learned, change func() error) error {
	before, err := n.place.Snapshot()
	if err != nil {
		return err
	}
	if err := change(); err != nil {
		return err
	}
	after, err := n.place.Snapshot()
	if err != nil {
		return err
	}
	files := place.Changes(before, after)
	if len(files) == 0 {
		return nil
	}
	for name := range files {
		ev.Paths = append(ev.Paths, name)
	}
	slices.Sort(ev.Paths)
	_, err = n.commit(ctx, retro.Commit{Message: message, Files: files, Event: ev})
	return err
}
