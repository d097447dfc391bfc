package gitops

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Head is what the user's checkout is on.
type Head struct {
	Branch string // short name, empty when detached
	Commit string
}

// RefInfo is one ref with the object that it names.
type RefInfo struct {
	Name, ID string
}

// Head tells where the user's checkout is. A branch without a commit is ErrUnborn.
func (r *Repo) Head(ctx context.Context) (Head, error) {
	h, err := r.read.head(ctx)
	if errors.Is(err, ErrNotFound) {
		return h, wrong("read the current commit of", r.top, ErrUnborn, "commit something first: git add -A && git commit")
	}
	return h, err
}

// Resolve gives the commit that a revision names, or ErrNotFound. It takes what
// a user may type: a branch, a tag, an id, HEAD~3.
func (r *Repo) Resolve(ctx context.Context, rev string) (string, error) {
	const op = "find revision"
	if rev == "" || strings.HasPrefix(rev, "-") || strings.ContainsAny(rev, "\x00\n") {
		return "", wrong(op, rev, ErrNotFound, "give a branch, a tag or a commit")
	}
	id, err := r.git.line(ctx, call{
		op: op, path: rev, in: r.here(), codes: []int{1, 128},
		args: []string{"rev-parse", "--verify", "--quiet", "--end-of-options", rev + "^{commit}"},
	})
	if err != nil {
		return "", err
	}
	if !r.isID(id) {
		return "", wrong(op, rev, ErrNotFound, "give a branch, a tag or a commit")
	}
	return id, nil
}

// TreeOf gives the tree of a commit.
func (r *Repo) TreeOf(ctx context.Context, commit string) (string, error) {
	c, err := r.read.commit(ctx, commit)
	return c.Tree, err
}

// HasCommit tells whether the commit and its tree are in the object store. A
// power cut can lose a commit whose id was already written down elsewhere.
func (r *Repo) HasCommit(ctx context.Context, commit string) bool {
	if !r.isID(commit) {
		return false
	}
	_, err := r.read.commit(ctx, commit)
	return err == nil
}

// Ref gives the object that a full ref name points at.
func (r *Repo) Ref(ctx context.Context, name string) (id string, ok bool, err error) {
	return r.read.ref(ctx, name)
}

// Refs lists the refs below a prefix such as "refs/heads/experiment/", sorted by
// name. An empty prefix lists all.
func (r *Repo) Refs(ctx context.Context, prefix string) ([]RefInfo, error) {
	return r.read.refs(ctx, prefix)
}

// MoveRef points a ref at a commit if it still has the value old; an old of ""
// means that it must not exist. A ref that has the new value already is no
// error: a kill may have come after the move. Otherwise ErrMoved.
func (r *Repo) MoveRef(ctx context.Context, name, to, old string) error {
	const op = "move"
	if !strings.HasPrefix(name, "refs/") || !r.isID(to) {
		return &Error{Op: op, Path: name, Msg: fmt.Sprintf("not a full ref name and object id: %q", printable(to))}
	}
	if old == "" {
		old = r.zero()
	}
	// --no-deref: a ref of ours that was made symbolic must not move its target.
	_, err := r.git.git(ctx, call{
		op: op, path: name, in: r.store(), env: r.identityEnv(),
		args: []string{"update-ref", "--no-deref", "-m", "si: move", name, to, old},
	})
	if err == nil {
		return nil
	}
	return r.settle(ctx, name, to, old, err)
}

// DeleteRef deletes a ref if it still has the value old. A ref that is gone
// already is no error.
func (r *Repo) DeleteRef(ctx context.Context, name, old string) error {
	const op = "delete"
	if !strings.HasPrefix(name, "refs/") || !r.isID(old) {
		return &Error{Op: op, Path: name, Msg: fmt.Sprintf("not a full ref name and object id: %q", printable(old))}
	}
	_, err := r.git.git(ctx, call{
		op: op, path: name, in: r.store(), env: r.identityEnv(),
		args: []string{"update-ref", "--no-deref", "-d", name, old},
	})
	if err == nil {
		return nil
	}
	return r.settle(ctx, name, r.zero(), old, err)
}

// settle asks what a ref is after git refused to change it.
func (r *Repo) settle(ctx context.Context, name, to, old string, cause error) error {
	var e *Error
	if !errors.As(cause, &e) {
		return cause
	}
	now, ok, err := r.Ref(ctx, name)
	if err != nil {
		return cause
	}
	if !ok {
		now = r.zero()
	}
	switch now {
	case to:
		return nil
	case old:
		return cause // the value was right: a lock, a full disk, a name in the way
	}
	e.Err = ErrMoved
	e.Msg = fmt.Sprintf("it is at %s, not at %s", now, old)
	return e
}

// CheckBranchName tells whether a branch of this short name can exist: it is
// well-formed, and no other branch is in its way.
func (r *Repo) CheckBranchName(ctx context.Context, name string) error {
	const op = "check branch name"
	_, err := r.git.git(ctx, call{op: op, path: name, in: r.store(), args: []string{"check-ref-format", "refs/heads/" + name}})
	if err != nil || strings.HasPrefix(name, "-") || name == "HEAD" {
		return &Error{Op: op, Path: name, Msg: "git does not take this as the name of a branch", Hint: "use letters, digits, - and _"}
	}
	refs, err := r.Refs(ctx, "refs/heads/")
	if err != nil {
		return err
	}
	for _, ref := range refs {
		short := strings.TrimPrefix(ref.Name, "refs/heads/")
		if strings.HasPrefix(name, short+"/") || strings.HasPrefix(short, name+"/") {
			return &Error{
				Op: op, Path: name, Msg: "the branch " + printable(short) + " is in the way: git keeps branches as files in folders",
				Hint: "rename that branch (git branch -m " + shellQuote(short) + " <other>) or choose another name",
			}
		}
	}
	return nil
}

// CheckedOutAt gives the folder where a branch (short name) is checked out, ""
// when nowhere.
func (r *Repo) CheckedOutAt(ctx context.Context, branch string) (string, error) {
	a, err := r.git.git(ctx, call{
		op: "list the worktrees of", path: r.top, in: r.store(), args: []string{"worktree", "list", "--porcelain", "-z"},
	})
	if err != nil {
		return "", err
	}
	at := ""
	for _, f := range fields(a.out) {
		if path, ok := strings.CutPrefix(f, "worktree "); ok {
			at = path
		}
		if f == "branch refs/heads/"+branch {
			return at, nil
		}
	}
	return "", nil
}

// zero is the object id that stands for "no object".
func (r *Repo) zero() string {
	if r.format == "sha256" {
		return strings.Repeat("0", 64)
	}
	return strings.Repeat("0", 40)
}

// isID tells whether s is a full object id: what is not one never reaches a
// command line, where it could be an option.
func (r *Repo) isID(s string) bool {
	return len(s) == len(r.zero()) && strings.Trim(s, "0123456789abcdef") == ""
}

func sortRefs(refs []RefInfo) []RefInfo {
	slices.SortFunc(refs, func(a, b RefInfo) int { return strings.Compare(a.Name, b.Name) })
	return refs
}
