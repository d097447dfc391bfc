package gitops

import (
	"context"
	"crypto/sha256"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// indexList is the content of the user's index, sorted by path.
type indexList struct {
	sum     [sha256.Size]byte
	entries map[string]string // path → "mode id stage"
}

// indexCache shares the last list: fingerprints around sixteen agents are of the
// same index nearly always.
type indexCache struct {
	mu   sync.Mutex
	last *indexList
	at   indexStamp // of the file that last was read from; zero when that cannot be told
}

// indexStamp is one state of the file that holds the index. The kernel sets the
// time of a change, which no program can set back.
type indexStamp struct {
	inode   uint64
	size    int64
	changed unix.Timespec
}

// clockSteps is how old a change must be for its time to tell it from a later one:
// the clock of file systems moves in steps of some milliseconds.
const clockSteps = 100 * time.Millisecond

// stampIndex returns the stamp of the user's index, and false when the file cannot
// be told from one that is written right now.
func (r *Repo) stampIndex() (indexStamp, bool) {
	var st unix.Stat_t
	if err := unix.Lstat(filepath.Join(r.gitDir, "index"), &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return indexStamp{}, false
	}
	changed := st.Ctim
	return indexStamp{st.Ino, st.Size, changed}, time.Since(time.Unix(changed.Unix())) > clockSteps
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
		c.at = indexStamp{}
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
		}
	}
	return list
}
