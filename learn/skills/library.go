package skills

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"si/internal/durable"
)

// Options say where skills are looked for.
type Options struct {
	Base     string   // the state base, absolute; the managed root is <Base>/skills
	Learned  string   // L/skills of the repository, "" for none
	External []string // absolute folders of others, in their order of precedence
	Store    *durable.Store
	Now      func() time.Time
}

// Library is all skills of one place. It is safe for concurrent use, also by several
// processes: a change holds a lock, and every question looks at the disk.
type Library struct {
	base  string
	hooks durable.Hooks
	now   func() time.Time

	mu       sync.Mutex
	trees    []*tree
	counters counters
	last     *Listing // as it was made last, while nothing changed
	made     uint64   // how many lists were made
}

// counters are the telemetry as it was last read.
type counters struct {
	stamp  stamp
	readAt time.Time
	data   *telemetry
	fault  error
}

// Open makes a library. It reads nothing yet, except that a change which was
// interrupted by a crash is ended first.
func Open(o Options) (*Library, error) {
	if !filepath.IsAbs(o.Base) {
		return nil, fmt.Errorf("open the skills: the state base %q is no absolute path", o.Base)
	}
	l := &Library{base: o.Base, now: o.Now}
	if o.Store != nil {
		l.hooks = o.Store.Hooks
	}
	if o.Learned != "" {
		l.trees = append(l.trees, newTree(Root{Learned, o.Learned}))
	}
	l.trees = append(l.trees, newTree(Root{Managed, l.Dir()}))
	for _, dir := range o.External {
		l.trees = append(l.trees, newTree(Root{External, dir}))
	}
	if !l.swapPending() {
		return l, nil
	}
	return l, l.locked(nil, func() error { return nil })
}

// Dir is the managed root.
func (l *Library) Dir() string { return filepath.Join(l.base, "skills") }

// Base is the state base.
func (l *Library) Base() string { return l.base }

// Roots are the folders that are searched, in the order in which they win.
func (l *Library) Roots() []Root {
	var roots []Root
	for _, t := range l.trees {
		roots = append(roots, t.root)
	}
	return roots
}

// Broken is a SKILL.md that cannot be used, or a folder that cannot be read.
type Broken struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// Listing is what List finds.
type Listing struct {
	Skills   []Info   `json:"skills"` // by name; shadowed ones behind those that win
	Broken   []Broken `json:"broken,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
	// Version is another one when Skills or Broken are others, within one Library.
	Version uint64 `json:"-"`
}

// List is every skill that is not archived, without bodies.
func (l *Library) List() (Listing, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.list()
}

func (l *Library) list() (Listing, error) {
	out := Listing{Skills: []Info{}}
	for _, t := range l.trees {
		if err := t.refresh(); err != nil {
			if t.root.Origin == Managed {
				return out, err
			}
			out.Warnings = append(out.Warnings, err.Error())
		}
	}
	before := l.counters.data
	counted, fault := l.telemetry()
	if fault != nil {
		out.Warnings = append(out.Warnings, fault.Error())
	}
	if l.last != nil && before == counted && !l.changed() {
		l.last.Warnings = out.Warnings
		return l.last.clone(), nil
	}
	l.join(&out, counted)
	l.made++
	l.last, out.Version = &out, l.made
	return out.clone(), nil
}

// changed reports whether a root has changed since it was asked last.
func (l *Library) changed() bool {
	any := false
	for _, t := range l.trees {
		any = t.changed.Swap(false) || any
	}
	return any
}

func (l Listing) clone() Listing {
	l.Skills = slices.Clone(l.Skills)
	return l
}

// join makes one list of all roots.
func (l *Library) join(out *Listing, counted *telemetry) {
	wins := map[string]string{}
	for _, t := range l.trees {
		for _, f := range t.top.all(nil) {
			if f.fault != "" {
				out.Broken = append(out.Broken, Broken{filepath.Join(f.info.Dir, fileName), f.fault})
				continue
			}
			info := f.info
			if info.ShadowedBy = wins[info.Name]; info.ShadowedBy == "" {
				wins[info.Name] = info.Dir
				info.count(counted.Skills[info.Name])
			}
			info.State = inUse(info.State)
			out.Skills = append(out.Skills, info)
		}
	}
	slices.SortStableFunc(out.Skills, func(a, b Info) int { return strings.Compare(a.Name, b.Name) })
}

// all appends what was found below f, by path: two runs give one order.
func (f *folder) all(to []*found) []*found {
	if f.skill != nil {
		to = append(to, f.skill)
	}
	names := make([]string, 0, len(f.subs))
	for name := range f.subs {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		to = f.subs[name].all(to)
	}
	return to
}

// count takes over what was counted.
func (i *Info) count(r *record) {
	if r == nil {
		return
	}
	i.State, i.Pinned, i.UseCount, i.ViewCount = r.State, r.Pinned, r.UseCount, r.ViewCount
	i.LastUsedAt, i.CreatedAt, i.StaleAt, i.UsedIn = r.LastUsedAt, r.CreatedAt, r.StaleAt, r.UsedIn
}

// inUse is the state of a skill that lies among those in use: wherever the counters
// believe it to be, it is not in the archive.
func inUse(s State) State {
	if s == Stale {
		return Stale
	}
	return Active
}

// telemetry returns the counters, read again when their file changed. They are
// shared: nobody may change them.
func (l *Library) telemetry() (*telemetry, error) {
	st := stampOf(filepath.Join(l.Dir(), telemetryFile), false)
	if l.counters.data != nil && st == l.counters.stamp && (st == stamp{} || st.believable(l.counters.readAt)) {
		return l.counters.data, l.counters.fault
	}
	c := counters{stamp: st, readAt: time.Now(), data: &telemetry{Skills: map[string]*record{}}}
	if r, err := openRooted(l.Dir(), durable.Hooks{}); err == nil {
		c.data, c.fault = loadTelemetry(r)
		r.close()
	}
	l.counters = c
	return c.data, c.fault
}

// find returns the skill that wins a name.
func (l *Library) find(name string) (Info, error) {
	listing, err := l.list()
	if err != nil {
		return Info{}, err
	}
	for _, info := range listing.Skills {
		if info.Name == name && info.ShadowedBy == "" {
			return info, nil
		}
	}
	return Info{}, fmt.Errorf("%w: %q; 'si skills list' has the names, 'si skills list --archived' those that were put away", ErrNotFound, short(name))
}

// Find returns the skill of a name.
func (l *Library) Find(name string) (Info, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.find(name)
}

// managed returns the skill of a name if this program may change it.
func (l *Library) managed(name string) (Info, error) {
	info, err := l.Find(name)
	if err != nil {
		return info, err
	}
	switch info.Origin {
	case Managed:
		return info, nil
	case Learned:
		return info, fmt.Errorf("%w: %q belongs to the repository (%s): the retrospective writes it, git revert undoes it, and you can edit the file", ErrReadOnly, name, info.Dir)
	case External:
		return info, fmt.Errorf("%w: %q is another's skill in %s", ErrReadOnly, name, info.Dir)
	}
	return info, errors.New("unknown origin " + string(info.Origin))
}

// rel is the folder of a managed skill, below the managed root.
func (l *Library) rel(info Info) (string, error) {
	rel, err := filepath.Rel(l.Dir(), info.Dir)
	if err != nil || !filepath.IsLocal(rel) || rel == "." {
		return "", fmt.Errorf("%w: %q lies in %s, which is no folder of its own below %s", ErrReadOnly, info.Name, info.Dir, l.Dir())
	}
	return filepath.ToSlash(rel), nil
}
