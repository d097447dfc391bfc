package skills

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"si/internal/durable"
)

const (
	maxFile  = 512 << 10 // bytes of one file of a skill that are shown
	maxFiles = 200       // names of files that are listed
)

// Caller says who asks. Task names the agent's task in a run, such as
// "run/3/executor_a"; it is empty for people and for agents outside of a run.
type Caller struct {
	Task string
}

// Content is what a look into a skill gives.
type Content struct {
	Info
	Path  string   `json:"path"`  // of the file that is shown, below the skill's folder
	Text  string   `json:"text"`  // the body of SKILL.md, or the whole of another file; as on the disk
	Files []string `json:"files"` // all files of the skill but SKILL.md
	// Uncounted says why the look was not counted, "" when it was.
	Uncounted string `json:"uncounted,omitempty"`
}

// View returns the body of a skill or one of its files, and counts the look. An
// agent of a run that looks uses the skill. A path that is absolute, holds "..", or
// goes through a link that leaves the skill's folder is refused.
func (l *Library) View(ctx context.Context, name, file string, by Caller) (Content, error) {
	info, err := l.Find(name)
	if err != nil {
		return Content{}, err
	}
	c := Content{Info: info, Path: fileName}
	r, err := openRooted(info.Dir, durable.Hooks{})
	if err != nil {
		return Content{}, fmt.Errorf("read the skill %q: %w", name, err)
	}
	defer r.close()
	if file != "" && file != fileName {
		c.Path = file
		if c.Text, err = readFile(r, file); err != nil {
			return Content{}, fmt.Errorf("read a file of the skill %q: %w", name, err)
		}
	} else if c.Text, err = readBody(r); err != nil {
		return Content{}, fmt.Errorf("read the skill %q: %w", name, err)
	}
	c.Files = files(r)
	if err := l.counts(ctx, func(t *telemetry) { t.viewed(name, l.now(), by) }); err != nil {
		c.Uncounted = err.Error() // the answer is worth more than the count
	}
	return c, nil
}

// Source returns the whole SKILL.md of a skill and counts nothing.
func (l *Library) Source(name string) ([]byte, error) {
	info, err := l.Find(name)
	if err != nil {
		return nil, err
	}
	r, err := openRooted(info.Dir, durable.Hooks{})
	if err != nil {
		return nil, fmt.Errorf("read the skill %q: %w", name, err)
	}
	defer r.close()
	return r.read(fileName, maxDocument)
}

func readBody(r *rooted) (string, error) {
	data, err := r.read(fileName, maxDocument)
	if err != nil {
		return "", err
	}
	d, err := Parse(data)
	if err != nil {
		return "", err
	}
	return strings.TrimLeft(d.Body, "\r\n"), nil
}

func readFile(r *rooted, file string) (string, error) {
	if err := guard(file); err != nil {
		return "", err
	}
	data, err := r.read(path.Clean(file), maxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("it has no file %q", short(file))
	case err != nil:
		return "", fmt.Errorf("%q cannot be read: %w", short(file), err)
	case !utf8.Valid(data):
		return "", fmt.Errorf("%q is no text (%d bytes); it lies in %s", short(file), len(data), r.dir)
	}
	return string(data), nil
}

// guard refuses a path that could lead out of the folder by its words alone. Links
// are the system's to refuse, when the file is opened.
func guard(file string) error {
	if strings.ContainsRune(file, 0) || path.IsAbs(file) || filepath.IsAbs(file) {
		return fmt.Errorf("the path %q is refused: it is not below the skill's folder", short(file))
	}
	for _, part := range strings.FieldsFunc(file, func(r rune) bool { return r == '/' || r == '\\' }) {
		if part == ".." {
			return fmt.Errorf("the path %q is refused: no part of it may be two dots", short(file))
		}
	}
	return nil
}

// files lists what else the skill has. Folders that hold a skill of their own are
// left out.
func files(r *rooted) []string {
	var out []string
	_ = fs.WalkDir(r.root.FS(), ".", func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // what cannot be read is not listed
		case len(out) >= maxFiles:
			return fs.SkipAll
		case e.IsDir() && p != "." && (unsearched(e.Name()) || r.exists(p+"/"+fileName)):
			return fs.SkipDir
		case !e.IsDir() && p != fileName && utf8.ValidString(p):
			out = append(out, p)
		}
		return nil
	})
	return out
}

func (t *telemetry) viewed(name string, at time.Time, by Caller) {
	r := t.of(name)
	r.ViewCount++
	if by.Task != "" {
		r.used(at, by.Task)
	}
}

// NoteUses counts uses that were seen otherwise than by View: an agent that reads
// the files by itself.
func (l *Library) NoteUses(ctx context.Context, names []string, by Caller) error {
	if len(names) == 0 {
		return nil
	}
	return l.counts(ctx, func(t *telemetry) {
		for _, name := range names {
			t.of(name).used(l.now(), by.Task)
		}
	})
}

// counts changes the counters under the lock.
func (l *Library) counts(ctx context.Context, change func(*telemetry)) error {
	return l.exclusively(ctx, func() error { return l.countsLocked(change) })
}

func (l *Library) countsLocked(change func(*telemetry)) error {
	if err := durable.MkdirAll(l.Dir()); err != nil {
		return err
	}
	r, err := openRooted(l.Dir(), l.hooks)
	if err != nil {
		return fmt.Errorf("count the use of skills: %w", err)
	}
	defer r.close()
	t, fault := loadTelemetry(r)
	if fault != nil {
		if err := setAside(r); err != nil {
			return fmt.Errorf("%w; it cannot be put aside: %w", fault, err)
		}
	}
	change(t)
	return t.save(r)
}
