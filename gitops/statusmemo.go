package gitops

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"sync"
	"time"

	"si/internal/stamps"
)

// modeModule is git's mode of a submodule.
const modeModule = "160000"

// statusMemo remembers what is not committed in the user's checkout for as long as no
// file there has a new stamp: a fingerprint is taken around each agent and after
// each step, and nearly always nothing has changed. Looking at the stamps costs a
// walk, asking git a process that walks too.
type statusMemo struct {
	mu      sync.Mutex
	known   bool
	at      [sha256.Size]byte // of what the answer was given for
	ignored map[string]bool   // paths that git ignores, folders without their /: true
	files   map[string]string
}

// uncommitted maps each path of the checkout that differs from the commit to a
// digest of what is on disk.
func (r *Repo) uncommitted(ctx context.Context, head Head, index *indexList) (map[string]string, error) {
	m := &r.seen
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known {
		if at, _, err := r.stampCheckout(head, index, m.ignored, r.now()); err == nil && at == m.at {
			return m.files, nil
		}
	}
	return r.look(ctx, m, head, index)
}

// look asks git, and keeps the answer when everything that it depends on is older
// than the question: what changes meanwhile has another stamp then.
func (r *Repo) look(ctx context.Context, m *statusMemo, head Head, index *indexList) (map[string]string, error) {
	m.known = false
	asked := r.now()
	dirty, ignored, whole, err := r.askStatus(ctx, "--untracked-files=all", "--ignored=matching")
	if err != nil {
		return nil, err
	}
	m.files = r.digests(dirty)
	if !stamps.Sure || !whole || index.modules || hasFolder(dirty) {
		return m.files, nil // a repository inside has a state of its own
	}
	m.ignored = make(map[string]bool, len(ignored))
	for _, p := range ignored {
		name, folder := strings.CutSuffix(p, "/")
		m.ignored[name] = folder
	}
	at, settled, err := r.stampCheckout(head, index, m.ignored, asked)
	m.at, m.known = at, err == nil && settled
	return m.files, nil
}

// hasFolder tells whether status names a folder: only those with a repository inside
// are.
func hasFolder(paths []string) bool {
	for _, p := range paths {
		if strings.HasSuffix(p, "/") {
			return true
		}
	}
	return false
}

// stampCheckout is a hash over what git status looks at: the commit, the index, and the
// stamp of each file that is neither ignored nor ours. settled is false when one of
// them is so young at the time asked that a later change could look the same.
func (r *Repo) stampCheckout(head Head, index *indexList, ignored map[string]bool, asked time.Time) (sum [sha256.Size]byte, settled bool, err error) {
	h := sha256.New()
	own := r.ownPaths()
	_, _ = fmt.Fprintf(h, "%s %x ", head.Commit, index.sum) // a hash takes every write
	top, err := stamps.At(r.top)
	settled = top.Settled(asked)
	if err != nil {
		return sum, false, err
	}
	err = stamps.Walk(r.top, func(name string, s stamps.Stamp) bool {
		// A pattern can be for folders only: what took the place of one is looked at.
		if folder, skip := ignored[name]; skip && folder == s.IsDir() || own[name] || name == ".git" {
			return false
		}
		settled = settled && s.Settled(asked)
		if s.IsDir() {
			s = stamps.Stamp{Mode: s.Mode} // what changes in it has stamps of its own
		}
		_, _ = fmt.Fprintf(h, "%d %s %d %d %d %d %d ", len(name), name, s.Mode, s.Inode, s.Size, s.Changed[0], s.Changed[1])
		return true
	})
	copy(sum[:], h.Sum(nil))
	return sum, settled, err
}

// ownPaths are those of the checkout that are ours.
func (r *Repo) ownPaths() map[string]bool {
	r.admin.Lock()
	defer r.admin.Unlock()
	own := map[string]bool{}
	for _, p := range r.own {
		own[p] = true
	}
	return own
}
