package gitops

import (
	"context"
	"crypto/sha256"
	"path/filepath"
	"strings"
	"sync"

	"si/internal/stamps"
)

// indexList is the content of the user's index, sorted by path.
type indexList struct {
	sum     [sha256.Size]byte
	entries map[string]string // path → "mode id stage"
	modules bool              // one of them is a submodule
}

// indexCache shares the last list: fingerprints around sixteen agents are of the
// same index nearly always.
type indexCache struct {
	mu   sync.Mutex
	last *indexList
	at   stamps.Stamp // of the file that last was read from; zero when that cannot be told
}

// stampIndex returns the stamp of the user's index, and false when the file cannot
// be told from one that is written right now.
func (r *Repo) stampIndex() (stamps.Stamp, bool) {
	at, err := stamps.At(filepath.Join(r.gitDir, "index"))
	if err != nil || !at.IsRegular() {
		return stamps.Stamp{}, false
	}
	return at, stamps.Sure && at.Settled(r.now())
}

// indexEntries lists the index. Git is asked only when the file has changed since
// it was asked last.
func (r *Repo) indexEntries(ctx context.Context) (*indexList, error) {
	c := &r.index
	c.mu.Lock()
	defer c.mu.Unlock()
	at, sure := r.stampIndex()
	if sure && c.last != nil && c.at == at {
		return c.last, nil
	}
	a, err := r.git.git(ctx, call{op: "read the index of", path: r.top, in: r.here(), args: []string{"ls-files", "--stage", "-z"}})
	if err != nil {
		return nil, err
	}
	if c.at = at; !sure {
		c.at = stamps.Stamp{}
	}
	if sum := sha256.Sum256(a.out); c.last == nil || c.last.sum != sum {
		c.last = listIndex(a.out, sum)
	}
	return c.last, nil
}

func listIndex(out []byte, sum [sha256.Size]byte) *indexList {
	list := &indexList{sum: sum, entries: map[string]string{}}
	for _, line := range fields(out) {
		if head, path, ok := strings.Cut(line, "\t"); ok {
			list.entries[path] = strings.TrimSpace(list.entries[path] + " " + head)
			list.modules = list.modules || strings.HasPrefix(head, modeModule)
		}
	}
	return list
}
