package skills

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
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
)

// Root is a folder that is searched for **/SKILL.md.
type Root struct {
	Origin Origin
	Dir    string
}

// tree is a root as it was last read. A folder or file is read again when its stamp
// changed, so a second look costs two calls of the system a skill.
type tree struct {
	root  Root
	top   *folder
	count atomic.Int64
}

type folder struct {
	rel    string // slash path below the root, "." for the root
	depth  int
	stamp  stamp
	readAt time.Time
	subs   map[string]*folder
	skill  *found
}

type found struct {
	stamp  stamp
	readAt time.Time
	info   Info
	fault  string // why it cannot be used
}

func newTree(root Root) *tree { return &tree{root: root, top: &folder{rel: "."}} }

// refresh reads what changed. A root that is not there is empty.
func (t *tree) refresh() error {
	r, err := openRooted(t.root.Dir, durable.Hooks{})
	if err != nil {
		t.top = &folder{rel: "."}
		if os.IsNotExist(err) {
			return nil
		}
		return fmt.Errorf("read the skills in %s: %w", t.root.Dir, err)
	}
	defer r.close()
	t.count.Store(0)
	if err := t.list(r, t.top); err != nil {
		return fmt.Errorf("read the skills in %s: %w", t.root.Dir, err)
	}
	t.look(r, t.top)
	return t.parallel(r)
}

// parallel refreshes the folders below the root, several at once.
func (t *tree) parallel(r *rooted) error {
	work := make(chan *folder)
	faults := make(chan error, 1)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for f := range work {
				if err := t.guarded(r, f); err != nil {
					select {
					case faults <- err:
					default: // one is enough
					}
				}
			}
		})
	}
	for _, f := range t.top.subs {
		work <- f
	}
	close(work)
	wg.Wait()
	select {
	case err := <-faults:
		return err
	default:
		return nil
	}
}

func (t *tree) guarded(r *rooted, f *folder) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("read %s: %v", f.rel, p)
		}
	}()
	t.walk(r, f)
	return nil
}

func (t *tree) walk(r *rooted, f *folder) {
	if err := t.list(r, f); err != nil {
		f.subs, f.skill = nil, &found{fault: err.Error()}
		return
	}
	t.look(r, f)
	for _, sub := range f.subs {
		t.walk(r, sub)
	}
}

// list reads a folder's entries when they changed.
func (t *tree) list(r *rooted, f *folder) error {
	st := stampOf(filepath.Join(t.root.Dir, f.rel), f.rel == ".")
	if st == f.stamp && st.believable(f.readAt) {
		return nil
	}
	f.stamp, f.readAt = st, time.Now()
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
			f.subs[e.Name()] = &folder{rel: path.Join(f.rel, e.Name()), depth: f.depth + 1}
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
	rel := path.Join(f.rel, fileName)
	st := stampOf(filepath.Join(t.root.Dir, rel), true)
	if st == f.skill.stamp && st.believable(f.skill.readAt) {
		return
	}
	f.skill = &found{stamp: st, readAt: time.Now()}
	data, err := r.read(rel, maxDocument)
	if err == nil {
		f.skill.info, err = summary(data, path.Base(f.rel))
	}
	if err != nil {
		f.skill.fault = clean.Line(err.Error(), 300)
	}
	f.skill.info.Origin, f.skill.info.Dir = t.root.Origin, filepath.Join(t.root.Dir, f.rel)
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
