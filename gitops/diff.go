package gitops

import (
	"context"
	"errors"
	"slices"
	"strings"
)

// Change is one path that differs between two trees. Renames are never
// followed: a rename is a deletion and an addition, so a sealed path cannot
// leave unseen.
type Change struct {
	Path             string // raw bytes, separated by /
	Status           byte   // A added, D deleted, M content or mode, T type
	OldMode, NewMode string // six octal digits, 000000 for none
	OldID, NewID     string // object ids, zeros for none
}

// Diff compares two commits or trees, sorted by path.
func (r *Repo) Diff(ctx context.Context, from, to string) ([]Change, error) {
	if !r.isID(from) || !r.isID(to) {
		return nil, wrong("compare", from+".."+to, ErrNotFound, "give two commits")
	}
	return r.read.diff(ctx, from, to)
}

// Patch gives the text of the difference, at most maxBytes of it, and tells
// whether it was cut.
func (r *Repo) Patch(ctx context.Context, from, to string, maxBytes int) (text []byte, cut bool, err error) {
	if !r.isID(from) || !r.isID(to) {
		return nil, false, wrong("compare", from+".."+to, ErrNotFound, "give two commits")
	}
	a, err := r.git.git(ctx, call{
		op: "compare", path: from + ".." + to, in: r.store(), max: maxBytes, cut: true,
		args: []string{"diff-tree", "-r", "-p", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", from, to},
	})
	return a.out, a.cut, err
}

// side is one half of a change; the zero side is "not there".
type side struct{ mode, id string }

// changed builds the change from one side to the other.
func changed(path string, x, y side) (Change, bool) {
	if x == y {
		return Change{}, false
	}
	c := Change{Path: path, Status: 'M', OldMode: x.mode, NewMode: y.mode, OldID: x.id, NewID: y.id}
	switch {
	case x == side{}:
		c.Status, c.OldMode, c.OldID = 'A', "000000", strings.Repeat("0", len(y.id))
	case y == side{}:
		c.Status, c.NewMode, c.NewID = 'D', "000000", strings.Repeat("0", len(x.id))
	case x.mode[:3] != y.mode[:3]:
		c.Status = 'T'
	}
	return c, true
}

// canonical gives the mode that git shows: old trees hold 100664.
func canonical(mode string) string {
	if len(mode) != 6 || !strings.HasPrefix(mode, "100") {
		return mode
	}
	if (mode[3]-'0')&1 == 1 {
		return "100755"
	}
	return "100644"
}

var errRaw = errors.New("git printed something else than raw differences")

// parseRaw reads git diff --raw -z: ":<mode> <mode> <id> <id> <status>" NUL
// path NUL (gitformat "raw output format").
func parseRaw(out []byte) ([]Change, error) {
	var changes []Change
	list := fields(out)
	for len(list) > 0 {
		f := strings.Fields(strings.TrimPrefix(list[0], ":"))
		if len(list) < 2 || len(f) != 5 || len(f[4]) == 0 {
			return nil, errRaw
		}
		changes = append(changes, Change{
			Path: list[1], Status: f[4][0],
			OldMode: canonical(f[0]), NewMode: canonical(f[1]), OldID: f[2], NewID: f[3],
		})
		list = list[2:]
	}
	return changes, nil
}

func sortChanges(changes []Change) []Change {
	slices.SortFunc(changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return changes
}
