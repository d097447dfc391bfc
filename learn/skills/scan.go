package skills

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"si/internal/clean"
	"si/internal/durable"
)

const (
	fileName   = "SKILL.md"
	archiveDir = ".archive"

	maxDepth   = 12      // folders below a root
	maxEntries = 100_000 // of one folder
	maxSkills  = 50_000  // of one root

	leafEvery = 2 * time.Second
)

// Root is a folder that is searched for **/SKILL.md.
type Root struct {
	Origin Origin
	Dir    string
}

// tree is a root as it was last read. A folder or file is read again when its stamp
// changed, so a second look costs two calls of the system a skill.
type tree struct {
	root    Root
	top     *folder
	fd      int // of the open root, while it is refreshed
	count   atomic.Int64
	changed atomic.Bool // since the last list was made
}

type folder struct {
	rel    string // slash path below the root, "." for the root
	path   string // absolute
	file   string // of its SKILL.md, below the root
	depth  int
	stamp  stamp
	readAt time.Time
	looked time.Time // when its stamp was compared last
	subs   map[string]*folder
	skill  *found
}

type found struct {
	stamp  stamp
	readAt time.Time
	info   Info
	fault  string // why it cannot be used
}

func newTree(root Root) *tree { return &tree{root: root, top: newFolder(root.Dir, ".", 0)} }

func newFolder(root, rel string, depth int) *folder {
	return &folder{rel: rel, path: filepath.Join(root, rel), file: path.Join(rel, fileName), depth: depth}
}

// refresh reads what changed. A root that is not there is empty.
func (t *tree) refresh() error {
	r, err := openRooted(t.root.Dir, durable.Hooks{})
	if err != nil {
		t.changed.Store(true)
		t.top = newFolder(t.root.Dir, ".", 0)
		if os.IsNotExist(err) {
			return nil
		}
		return fmt.Errorf("read the skills in %s: %w", t.root.Dir, err)
	}
	defer r.close()
	d, err := r.root.Open(".")
	if err != nil {
		return fmt.Errorf("read the skills in %s: %w", t.root.Dir, err)
	}
	defer d.Close() // opened for its names
	t.fd = int(d.Fd())
	t.count.Store(0)
	if err := t.list(r, t.top); err != nil {
		return fmt.Errorf("read the skills in %s: %w", t.root.Dir, err)
	}
	t.look(r, t.top)
	return t.parallel(r)
}

// parallel refreshes the folders below the root, several at once.
func (t *tree) parallel(r *rooted) error {
	work := slices.Collect(maps.Values(t.top.subs))
	faults := make([]error, runtime.GOMAXPROCS(0))
	var next atomic.Int64
	var wg sync.WaitGroup
	for i := range faults {
		wg.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					faults[i] = fmt.Errorf("read the skills in %s: %v", t.root.Dir, p)
				}
			}()
			for n := next.Add(1); n <= int64(len(work)); n = next.Add(1) {
				t.walk(r, work[n-1])
			}
		})
	}
	wg.Wait()
	return errors.Join(faults...)
}

func (t *tree) walk(r *rooted, f *folder) {
	if err := t.list(r, f); err != nil {
		f.subs, f.skill, f.stamp = nil, &found{fault: err.Error()}, stamp{}
		return
	}
	t.look(r, f)
	for _, sub := range f.subs {
		t.walk(r, sub)
	}
}

// list reads a folder's entries when they changed. A folder with a skill and nothing
// below it is looked at now and then only, which halves the calls: what happens to its
// SKILL.md shows in that file's own stamp.
func (t *tree) list(r *rooted, f *folder) error {
	now := time.Now()
	if f.skill != nil && f.skill.stamp != (stamp{}) && len(f.subs) == 0 && f.depth > 0 && now.Sub(f.looked) < leafEvery {
		return nil
	}
	st := stampAt(t.fd, f.rel, false)
	if st == f.stamp && st.believable(f.readAt) {
		f.looked = now
		return nil
	}
	t.changed.Store(true)
	f.stamp, f.readAt, f.looked = st, now, now
	d, err := r.root.Open(f.rel)
	if err != nil {
		return err
	}
	defer d.Close() // opened for reading only
	entries, err := d.ReadDir(maxEntries)
	if err != nil && len(entries) == 0 && f.rel != "." && !errors.Is(err, io.EOF) {
		return err
	}
	t.take(f, entries)
	return nil
}

func (t *tree) take(f *folder, entries []fs.DirEntry) {
	before, skill := f.subs, f.skill
	f.subs, f.skill = map[string]*folder{}, nil
	for _, e := range entries {
		switch {
		case e.Name() == fileName:
			if f.skill = skill; skill == nil {
				f.skill = &found{}
			}
		case !e.IsDir() || unsearched(e.Name()) || f.depth >= maxDepth:
		case before[e.Name()] != nil:
			f.subs[e.Name()] = before[e.Name()]
		default:
			f.subs[e.Name()] = newFolder(t.root.Dir, path.Join(f.rel, e.Name()), f.depth+1)
		}
	}
}

// unsearched are folders in which no skill is looked for: the archive, our own
// half-made ones, and those that are large and hold none.
func unsearched(name string) bool {
	return name == archiveDir || name == ".git" || name == "node_modules" || len(name) > 4 && name[:4] == ".si-"
}

// look reads the folder's SKILL.md when it changed.
func (t *tree) look(r *rooted, f *folder) {
	if f.skill == nil {
		return
	}
	if t.count.Add(1) > maxSkills {
		f.skill = &found{fault: fmt.Sprintf("there are more than %d skills; this one is left out", maxSkills)}
		return
	}
	st := stampAt(t.fd, f.file, true)
	if st == f.skill.stamp && st.believable(f.skill.readAt) {
		return
	}
	t.changed.Store(true)
	if st == (stamp{}) { // gone, or no longer to be read
		f.skill, f.stamp = nil, stamp{}
		return
	}
	f.skill = &found{stamp: st, readAt: time.Now()}
	data, err := r.read(path.Join(f.rel, fileName), maxDocument)
	if err == nil {
		f.skill.info, err = summary(data, path.Base(f.rel))
	}
	if err != nil {
		f.skill.fault = clean.Line(err.Error(), 300)
	}
	f.skill.info.Origin, f.skill.info.Dir = t.root.Origin, f.path
}

// summary is what a list says of a skill. All text is clean.
func summary(data []byte, folder string) (Info, error) {
	d, err := Parse(data)
	if err != nil {
		return Info{}, err
	}
	info := Info{
		Name: clean.Line(d.Get(keyName), maxName), Description: clean.Line(d.Get(keyDescription), maxDescription),
		Version: clean.Line(d.Get(keyVersion), 40), Category: clean.Line(d.Get(keyCategory), 40), CreatedBy: clean.Line(d.Get(keyCreatedBy), 40),
	}
	if info.Name == "" {
		info.Name = clean.Line(folder, maxName)
	}
	for _, f := range d.Check(folder) {
		info.Warnings = append(info.Warnings, clean.Line(f.String(), 200))
	}
	return info, nil
}
