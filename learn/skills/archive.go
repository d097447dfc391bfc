package skills

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"si/internal/durable"
)

// Archived lists the skills that were put away, by name.
func (l *Library) Archived() ([]Info, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	counted, _ := l.telemetry() // List tells of a fault
	r, err := openRooted(filepath.Join(l.Dir(), archiveDir), durable.Hooks{})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the archive of skills: %w", err)
	}
	defer r.close()
	entries, err := fs.ReadDir(r.root.FS(), ".")
	if err != nil {
		return nil, fmt.Errorf("read the archive of skills: %w", err)
	}
	var out []Info
	for _, e := range entries {
		data, err := r.read(e.Name()+"/"+fileName, maxDocument)
		if err != nil {
			continue // not a skill
		}
		folder, _, _ := strings.Cut(e.Name(), "--")
		info, err := summary(data, folder)
		if err != nil {
			continue
		}
		info.Origin, info.Dir = Managed, filepath.Join(r.dir, e.Name())
		info.count(counted.Skills[info.Name])
		info.State = Archived
		out = append(out, info)
	}
	slices.SortStableFunc(out, func(a, b Info) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// archivedAs returns the skill of a name that was put away last.
func (l *Library) archivedAs(name string) (Info, error) {
	all, err := l.Archived()
	if err != nil {
		return Info{}, err
	}
	last, lastNumber := Info{}, -1
	for _, info := range all {
		if n := number(path.Base(info.Dir)); info.Name == name && n > lastNumber {
			last, lastNumber = info, n
		}
	}
	if lastNumber < 0 {
		return Info{}, fmt.Errorf("%w in the archive: %q", ErrNotFound, short(name))
	}
	return last, nil
}

// number is the counter behind a folder's name in the archive: no name of a skill
// has two hyphens in a row.
func number(folder string) int {
	_, text, _ := strings.Cut(folder, "--")
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}

// Delete puts a managed skill into the archive, from where Restore brings it back;
// erase removes it for good. A pinned one is refused.
func (l *Library) Delete(ctx context.Context, name string, erase bool) error {
	return l.exclusively(ctx, func() error {
		info, err := l.managed(name)
		if err != nil {
			return err
		}
		if info.Pinned {
			return fmt.Errorf("delete the skill %q: it is pinned; 'si skills unpin %s' first", name, name)
		}
		if err := l.alone(info); err != nil {
			return fmt.Errorf("delete the skill %q: %w", name, err)
		}
		r, err := openRooted(l.Dir(), l.hooks)
		if err == nil {
			defer r.close()
			err = l.putAway(r, info, erase)
		}
		if err != nil {
			return fmt.Errorf("delete the skill %q: %w", name, err)
		}
		return l.countsLocked(func(t *telemetry) { t.gone(name, erase) })
	})
}

func (t *telemetry) gone(name string, erased bool) {
	if erased {
		delete(t.Skills, name)
		return
	}
	t.of(name).State = Archived
}

// alone refuses a skill whose folder holds others: they would go with it.
func (l *Library) alone(info Info) error {
	listing, err := l.List()
	if err != nil {
		return err
	}
	for _, other := range listing.Skills {
		if other.Dir != info.Dir && strings.HasPrefix(other.Dir, info.Dir+"/") {
			return fmt.Errorf("its folder holds another skill, %s; move that first", other.Dir)
		}
	}
	return nil
}

func (l *Library) putAway(r *rooted, info Info, erase bool) error {
	rel, err := l.rel(info)
	if err != nil {
		return err
	}
	if !erase {
		return archive(r, rel)
	}
	doomed := ".si-old-" + path.Base(rel)
	if err := errors.Join(r.root.RemoveAll(doomed), r.rename(rel, doomed)); err != nil {
		return err
	}
	return r.removeAll(doomed)
}

// archive moves a folder into the archive, under a name that is free there.
func archive(r *rooted, rel string) error {
	if err := r.mkdir(archiveDir); err != nil {
		return err
	}
	to := archiveDir + "/" + path.Base(rel)
	for n := 2; r.exists(to); n++ {
		to = fmt.Sprintf("%s/%s--%d", archiveDir, path.Base(rel), n)
	}
	return r.rename(rel, to)
}

// Restore brings the skill of a name back that was put away last, active, its idle
// time counted from now.
func (l *Library) Restore(ctx context.Context, name string) error {
	return l.exclusively(ctx, func() error {
		if info, err := l.Find(name); err == nil {
			return fmt.Errorf("restore the skill %q: %w by %s", name, ErrExists, info.Dir)
		} else if !errors.Is(err, ErrNotFound) {
			return err
		}
		info, err := l.archivedAs(name)
		if err != nil {
			return fmt.Errorf("restore a skill: %w", err)
		}
		r, err := openRooted(l.Dir(), l.hooks)
		if err != nil {
			return fmt.Errorf("restore the skill %q: %w", name, err)
		}
		defer r.close()
		from := path.Base(info.Dir)
		to, _, _ := strings.Cut(from, "--")
		if r.exists(to) {
			return fmt.Errorf("restore the skill %q: the folder %s is there already; move it away", name, filepath.Join(l.Dir(), to))
		}
		if err := r.rename(archiveDir+"/"+from, to); err != nil {
			return fmt.Errorf("restore the skill %q: %w", name, err)
		}
		return l.countsLocked(func(t *telemetry) { t.restored(name, l.now()) })
	})
}

func (t *telemetry) restored(name string, at time.Time) {
	r := t.of(name)
	r.State, r.StaleAt, r.LastUsedAt = Active, nil, &at
}
