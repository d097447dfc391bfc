package slurm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// claim keeps two calls from working on one job.
func (l *Launcher) claim(p Place) (name string, release func(), err error) {
	if p.Node != "" && !plainWord(p.Node) {
		return "", nil, fmt.Errorf("run on node %q: that is no name of a node", p.Node)
	}
	name = jobName(l.o.WorkDir, p.Key)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.busy[name] {
		return "", nil, fmt.Errorf("run %q: it is under way already", p.Key)
	}
	l.busy[name] = true
	return name, sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.busy, name)
	}), nil
}

// Recall waits for the job that is known for the key and gives its result;
// false when none is known, or it was never submitted. Ask for it before the
// tree is touched: the job may be running in it.
func (l *Launcher) Recall(ctx context.Context, key string) (Report, bool, error) {
	name, release, err := l.claim(Place{Key: key})
	if err != nil {
		return Report{}, false, err
	}
	defer release()
	rec, err := l.loadRecord(name)
	if err != nil || rec == nil || len(rec.Runs) != 1 {
		return Report{}, false, err
	}
	j := l.attach(rec)
	if known, err := j.locate(ctx, 1); err != nil || !known {
		return Report{}, false, err
	}
	report, err := j.finish(ctx, 1)
	return report, true, err
}

// locate reports whether order seq has an answer, or the job was submitted and
// can give one.
func (j *job) locate(ctx context.Context, seq int) (bool, error) {
	if _, done, err := j.answer(seq); done {
		return true, err
	}
	id, err := j.id(ctx)
	if err != nil {
		return false, err
	}
	j.rec.Job = id
	return id != "", nil
}

// Forget drops what is known of a key, once its result is safe elsewhere. A job
// that still runs goes on, unseen; use Sweep to end jobs.
func (l *Launcher) Forget(key string) error {
	name, release, err := l.claim(Place{Key: key})
	if err != nil {
		return err
	}
	defer release()
	return l.forget(name)
}

func (l *Launcher) forget(name string) error {
	rec, err := l.loadRecord(name)
	if err != nil || rec == nil {
		return err
	}
	return l.attach(rec).drop()
}

// Sweep cancels every job of the work folder whose key is not kept, waits until
// it is gone, and removes what is left of it. It is called before anything is
// launched.
func (l *Launcher) Sweep(ctx context.Context, keep func(key string) bool) (ended int, err error) {
	names, err := l.recordNames()
	if err != nil {
		return 0, err
	}
	var errs []error
	folders := map[string]bool{}
	for _, name := range names {
		rec, err := l.loadRecord(name)
		if err != nil || rec == nil {
			errs = append(errs, err)
			continue
		}
		folders[rec.Folder] = true
		if keep != nil && keep(rec.Key) {
			continue
		}
		if err := l.attach(rec).giveUp(ctx); err != nil {
			errs = append(errs, err)
			continue
		}
		ended++
	}
	if len(errs) > 0 {
		return ended, errors.Join(errs...) // a record that cannot be read may own any folder
	}
	return ended, l.removeOthers(folders)
}

// removeOthers removes the folders that no record names: this program was killed
// before it wrote one, or after it removed it.
func (l *Launcher) removeOthers(known map[string]bool) error {
	entries, err := os.ReadDir(l.jobDir())
	if err != nil {
		return fmt.Errorf("list the folders of jobs: %w", err)
	}
	var errs []error
	for _, e := range entries {
		if known[e.Name()] {
			continue
		}
		if err := os.RemoveAll(filepath.Join(l.jobDir(), e.Name())); err != nil {
			errs = append(errs, fmt.Errorf("remove the folder of a job: %w", err))
		}
	}
	return errors.Join(errs...)
}
