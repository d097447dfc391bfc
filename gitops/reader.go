package gitops

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// reader answers the small questions that come often. There are two: go-git in
// this process, and the git program, which is always right and costs a process.
type reader interface {
	head(ctx context.Context) (Head, error)
	ref(ctx context.Context, name string) (id string, ok bool, err error)
	refs(ctx context.Context, prefix string) ([]RefInfo, error)
	commit(ctx context.Context, id string) (CommitInfo, error)
	diff(ctx context.Context, from, to string) ([]Change, error)
	blob(ctx context.Context, commit, path string, most int64) ([]byte, error)
}

// CommitInfo is what a commit names.
type CommitInfo struct {
	ID, Tree string
	Parents  []string
}

// newReader decides which reader a repository gets. go-git refuses some
// repositories and misreads others; both are told by the extensions that the
// configuration names and by the alternates file.
func (r *Repo) newReader() reader {
	slow := gitReader{r}
	if !r.goGitReads() {
		return slow
	}
	return &twoReaders{fast: &goReader{top: r.top, common: r.common}, slow: slow}
}

func (r *Repo) goGitReads() bool {
	for key := range r.conf {
		// objectformat and refstorage name formats that go-git lacks, the others
		// settings that it refuses; noop and preciousObjects are harmless.
		if name, ok := strings.CutPrefix(key, "extensions."); ok && name != "noop" && name != "preciousobjects" {
			return false
		}
	}
	_, err := os.Lstat(filepath.Join(r.common, "objects", "info", "alternates"))
	return os.IsNotExist(err)
}

// twoReaders believes go-git's answers and asks git again when go-git has none:
// an object that go-git does not find may lie in a pack that came after it
// looked, so it is opened anew then.
type twoReaders struct {
	mu   sync.Mutex // go-git's caches are not safe for concurrent use
	fast *goReader
	slow reader
}

// ask runs one question against go-git, then against git.
func ask[T any](t *twoReaders, fast func(*goReader) (T, error), slow func(reader) (T, error)) (T, error) {
	t.mu.Lock()
	v, err := fast(t.fast)
	if err != nil {
		t.fast.close()
	}
	t.mu.Unlock()
	if err == nil {
		return v, nil
	}
	return slow(t.slow)
}

func (t *twoReaders) head(ctx context.Context) (Head, error) {
	return ask(t, (*goReader).head, func(s reader) (Head, error) { return s.head(ctx) })
}

func (t *twoReaders) ref(ctx context.Context, name string) (string, bool, error) {
	id, err := ask(t,
		func(g *goReader) (string, error) { return g.ref(name) },
		func(s reader) (string, error) { id, _, err := s.ref(ctx, name); return id, err })
	return id, id != "", err
}

func (t *twoReaders) refs(ctx context.Context, prefix string) ([]RefInfo, error) {
	return ask(t,
		func(g *goReader) ([]RefInfo, error) { return g.refs(prefix) },
		func(s reader) ([]RefInfo, error) { return s.refs(ctx, prefix) })
}

func (t *twoReaders) commit(ctx context.Context, id string) (CommitInfo, error) {
	return ask(t,
		func(g *goReader) (CommitInfo, error) { return g.commit(id) },
		func(s reader) (CommitInfo, error) { return s.commit(ctx, id) })
}

func (t *twoReaders) diff(ctx context.Context, from, to string) ([]Change, error) {
	return ask(t,
		func(g *goReader) ([]Change, error) { return g.diff(from, to) },
		func(s reader) ([]Change, error) { return s.diff(ctx, from, to) })
}

func (t *twoReaders) blob(ctx context.Context, commit, path string, most int64) ([]byte, error) {
	return ask(t,
		func(g *goReader) ([]byte, error) { return g.blob(commit, path, most) },
		func(s reader) ([]byte, error) { return s.blob(ctx, commit, path, most) })
}
