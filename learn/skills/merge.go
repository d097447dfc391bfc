package skills

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// merge makes one skill of several in one change, after a backup: the originals go to
// the archive, and what was counted of them is counted of the new one.
func (l *Library) merge(ctx context.Context, p Proposal) error {
	d, err := draft(p.Name, ByAgent, p.Fields)
	if err != nil {
		return err
	}
	return l.exclusively(ctx, func() error {
		originals, err := l.originals(p)
		if err != nil {
			return err
		}
		if _, err := l.backup(); err != nil {
			return err
		}
		return l.transact("", func(next string) error {
			if err := l.linkTree(next); err != nil {
				return err
			}
			return l.mergeIn(next, d, p, originals)
		})
	})
}

// originals are the skills that are merged; each must still be the curator's.
func (l *Library) originals(p Proposal) ([]Info, error) {
	var out []Info
	for _, name := range p.Replaces {
		info, err := l.managed(name)
		if err == nil && !info.Curatable() {
			err = fmt.Errorf("%q is pinned or was not written by the reviewer", name)
		}
		if err == nil {
			err = l.alone(info)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, info)
	}
	if len(out) < 2 {
		return nil, errors.New("it names fewer than two skills")
	}
	if !slices.Contains(p.Replaces, p.Name) {
		if err := l.free(p.Name); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (l *Library) mergeIn(next string, d *Document, p Proposal, originals []Info) error {
	r, err := openRooted(next, l.hooks)
	if err != nil {
		return err
	}
	defer r.close()
	t, _ := loadTelemetry(r) // counters that cannot be read start anew
	now := l.now()
	sum := &record{State: Active, CreatedAt: &now}
	for _, info := range originals {
		rel, err := l.rel(info)
		if err == nil {
			err = archive(r, rel)
		}
		if err != nil {
			return err
		}
		old := t.of(info.Name)
		sum.add(old)
		old.State = Archived
	}
	t.Skills[p.Name] = sum
	if err := place(r, p.Name, d); err != nil {
		return err
	}
	return t.save(r)
}

func (r *record) add(old *record) {
	r.UseCount += old.UseCount
	r.ViewCount += old.ViewCount
	if old.LastUsedAt != nil && (r.LastUsedAt == nil || old.LastUsedAt.After(*r.LastUsedAt)) {
		r.LastUsedAt = old.LastUsedAt
	}
	for _, task := range old.UsedIn {
		if !slices.Contains(r.UsedIn, task) {
			r.UsedIn = append(r.UsedIn, task)
		}
	}
	r.UsedIn = r.UsedIn[max(0, len(r.UsedIn)-maxUsedIn):]
}
