package gitops

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// goReader reads with go-git. It is opened at its first question and opened
// again after close. Every error means "ask git".
type goReader struct {
	top    string
	common string // its shared git folder
	repo   *gogit.Repository
}

func (g *goReader) close() { g.repo = nil }

func (g *goReader) open() (*gogit.Repository, error) {
	if g.repo != nil {
		return g.repo, nil
	}
	// Without the common folder a linked worktree opens and then has no HEAD.
	repo, err := gogit.PlainOpenWithOptions(g.top, &gogit.PlainOpenOptions{EnableDotGitCommonDir: true})
	if err == nil {
		g.repo = repo
	}
	return repo, err
}

func (g *goReader) head() (Head, error) {
	repo, err := g.open()
	if err != nil {
		return Head{}, err
	}
	sym, err := repo.Reference(plumbing.HEAD, false)
	if err != nil {
		return Head{}, err
	}
	ref, err := repo.Head()
	if err != nil {
		return Head{}, err
	}
	h := Head{Commit: ref.Hash().String()}
	if sym.Type() == plumbing.SymbolicReference {
		h.Branch = sym.Target().Short()
	}
	return h, nil
}

func (g *goReader) ref(name string) (string, error) {
	repo, err := g.open()
	if err != nil {
		return "", err
	}
	// Unlike objects, refs are read from their files each time: not there is an answer.
	if _, err = repo.Reference(plumbing.ReferenceName(name), false); errors.Is(err, plumbing.ErrReferenceNotFound) && g.absent(name) {
		return "", nil
	}
	ref, err := repo.Reference(plumbing.ReferenceName(name), true)
	if err != nil {
		return "", err
	}
	return ref.Hash().String(), nil
}

// absent tells a ref that is not there from one whose file is damaged, and from a name
// that git would refuse.
func (g *goReader) absent(name string) bool {
	if !strings.HasPrefix(name, "refs/") || plumbing.ReferenceName(name).Validate() != nil {
		return false
	}
	_, err := os.Lstat(filepath.Join(g.common, name))
	return errors.Is(err, fs.ErrNotExist)
}

func (g *goReader) refs(prefix string) ([]RefInfo, error) {
	repo, err := g.open()
	if err != nil {
		return nil, err
	}
	all, err := repo.References()
	if err != nil {
		return nil, err
	}
	defer all.Close()
	var list []RefInfo
	err = all.ForEach(func(ref *plumbing.Reference) error {
		name := ref.Name().String()
		if !strings.HasPrefix(name, "refs/") || !strings.HasPrefix(name, prefix) {
			return nil
		}
		if ref.Type() == plumbing.SymbolicReference {
			if ref, err = repo.Reference(ref.Name(), true); err != nil {
				return err
			}
		}
		list = append(list, RefInfo{Name: name, ID: ref.Hash().String()})
		return nil
	})
	return sortRefs(list), err
}

func (g *goReader) commit(id string) (CommitInfo, error) {
	repo, err := g.open()
	if err != nil {
		return CommitInfo{}, err
	}
	c, err := repo.CommitObject(plumbing.NewHash(id))
	if err != nil {
		return CommitInfo{}, err
	}
	if _, err := c.Tree(); err != nil {
		return CommitInfo{}, err
	}
	info := CommitInfo{ID: id, Tree: c.TreeHash.String()}
	for _, p := range c.ParentHashes {
		info.Parents = append(info.Parents, p.String())
	}
	return info, nil
}

// tree takes a commit or a tree.
func (g *goReader) tree(id string) (*object.Tree, error) {
	repo, err := g.open()
	if err != nil {
		return nil, err
	}
	if c, err := repo.CommitObject(plumbing.NewHash(id)); err == nil {
		return c.Tree()
	}
	return repo.TreeObject(plumbing.NewHash(id))
}

func (g *goReader) blob(commit, path string, most int64) ([]byte, error) {
	tree, err := g.tree(commit)
	if err != nil {
		return nil, err
	}
	entry, err := tree.FindEntry(path)
	if err != nil {
		return nil, err
	}
	blob, err := g.repo.BlobObject(entry.Hash)
	if err != nil {
		return nil, err
	}
	if blob.Size > most {
		return nil, ErrTooLarge
	}
	in, err := blob.Reader()
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(in, most))
	return data, errors.Join(err, in.Close())
}

func (g *goReader) diff(from, to string) ([]Change, error) {
	a, err := g.tree(from)
	if err != nil {
		return nil, err
	}
	b, err := g.tree(to)
	if err != nil {
		return nil, err
	}
	var changes []Change
	err = g.diffTrees("", a, b, &changes)
	return sortChanges(changes), err
}

// diffTrees compares two trees by entry, as git diff-tree -r --no-renames does.
// Either may be nil.
func (g *goReader) diffTrees(prefix string, a, b *object.Tree, out *[]Change) error {
	before, after := byName(a), byName(b)
	for name, x := range before {
		if y := after[name]; y != x {
			if err := g.diffEntry(prefix+name, x, y, out); err != nil {
				return err
			}
		}
	}
	for name, y := range after {
		if _, both := before[name]; !both {
			if err := g.diffEntry(prefix+name, object.TreeEntry{}, y, out); err != nil {
				return err
			}
		}
	}
	return nil
}

func (g *goReader) diffEntry(path string, x, y object.TreeEntry, out *[]Change) error {
	sub := func(e object.TreeEntry) (*object.Tree, error) {
		if e.Mode != filemode.Dir {
			return nil, nil // no tree is what an entry that is no folder has
		}
		return g.repo.TreeObject(e.Hash)
	}
	a, err := sub(x)
	if err != nil {
		return err
	}
	b, err := sub(y)
	if err != nil {
		return err
	}
	if c, ok := changed(path, leaf(x), leaf(y)); ok {
		*out = append(*out, c)
	}
	if a == nil && b == nil {
		return nil
	}
	return g.diffTrees(path+"/", a, b, out)
}

func byName(t *object.Tree) map[string]object.TreeEntry {
	m := map[string]object.TreeEntry{}
	if t != nil {
		for _, e := range t.Entries {
			m[e.Name] = e
		}
	}
	return m
}

// leaf is an entry as side of a change; a folder is none.
func leaf(e object.TreeEntry) side {
	if e.Mode == filemode.Dir || e.Mode == 0 {
		return side{}
	}
	return side{mode: canonical(fmt.Sprintf("%06o", uint32(e.Mode))), id: e.Hash.String()}
}
