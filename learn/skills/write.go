package skills

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"si/internal/clean"
	"si/internal/secret"
)

// Fields are what Create and Patch write. A nil field is left as it is.
type Fields struct {
	Description   *string `json:"description,omitempty"`
	Category      *string `json:"category,omitempty"`
	Version       *string `json:"version,omitempty"`
	License       *string `json:"license,omitempty"`
	Compatibility *string `json:"compatibility,omitempty"`
	AllowedTools  *string `json:"allowed_tools,omitempty"`
	Body          *string `json:"body,omitempty"`
}

// Create writes a new managed skill, author ByUser or ByAgent. A name that any
// skill has, archived ones included, is refused with ErrExists; what the standard
// does not allow with a FaultsError.
func (l *Library) Create(ctx context.Context, name, author string, f Fields) error {
	d, err := draft(name, author, f)
	if err != nil {
		return err
	}
	return l.exclusively(ctx, func() error {
		if err := l.free(name); err != nil {
			return err
		}
		if err := l.countsLocked(func(t *telemetry) { t.born(name, l.now()) }); err != nil {
			return err
		}
		r, err := openRooted(l.Dir(), l.hooks)
		if err != nil {
			return fmt.Errorf("create the skill %q: %w", name, err)
		}
		defer r.close()
		if err := place(r, name, d); err != nil {
			return fmt.Errorf("create the skill %q: %w", name, err)
		}
		return nil
	})
}

// draft is the document of a new skill, which passes the standard.
func draft(name, author string, f Fields) (*Document, error) {
	d := New()
	if err := errors.Join(d.Set(keyName, name), d.apply(f), d.Set(keyCreatedBy, author)); err != nil {
		return nil, fmt.Errorf("create the skill %q: %w", short(name), err)
	}
	if strings.TrimSpace(d.Body) == "" {
		return nil, &FaultsError{name, []Fault{{"body", "missing; it says how the thing is done"}}}
	}
	return d, strict(d, name)
}

func strict(d *Document, name string) error {
	faults := d.Check(name)
	if kind := secret.Looks(d.Get(keyDescription) + "\n" + d.Body); kind != "" {
		faults = append(faults, Fault{"body", "it seems to hold " + kind + "; say where it is instead"})
	}
	if len(faults) > 0 {
		return &FaultsError{short(name), faults}
	}
	return nil
}

// free refuses a name that is taken.
func (l *Library) free(name string) error {
	info, err := l.Find(name)
	if err == nil {
		return fmt.Errorf("create the skill %q: %w by %s", name, ErrExists, info.Dir)
	}
	if !errors.Is(err, ErrNotFound) {
		return err
	}
	archived, err := l.archivedAs(name)
	if err == nil {
		return fmt.Errorf("create the skill %q: %w by one in the archive (%s); 'si skills restore %s' brings it back", name, ErrExists, archived.Dir, name)
	}
	if !errors.Is(err, ErrNotFound) {
		return err
	}
	if _, err := os.Lstat(l.Dir() + "/" + name); err == nil {
		return fmt.Errorf("create the skill %q: %w: there is a folder %s/%s without a skill that can be read", name, ErrExists, l.Dir(), name)
	}
	return nil
}

// place makes the folder beside its place and moves it there, so that a skill is
// there whole or not at all.
func place(r *rooted, name string, d *Document) error {
	data, err := d.Bytes()
	if err != nil {
		return err
	}
	temp := ".si-new-" + name
	if err := r.root.RemoveAll(temp); err != nil { // a crash left it
		return err
	}
	if err := r.mkdir(temp); err != nil {
		return err
	}
	if err := r.replace(temp+"/"+fileName, data); err != nil {
		return err
	}
	return r.rename(temp, name)
}

// Patch changes the given fields of a managed skill and nothing else.
func (l *Library) Patch(ctx context.Context, name string, f Fields) error {
	return l.rewrite(ctx, name, func(d *Document) (*Document, error) { return d, d.apply(f) })
}

// Edit replaces the whole SKILL.md of a managed skill. Who created it stays as it was:
// the text may not decide whether the curator ages it.
func (l *Library) Edit(ctx context.Context, name string, content []byte) error {
	return l.rewrite(ctx, name, func(before *Document) (*Document, error) {
		d, err := Parse(content)
		if err != nil {
			return nil, err
		}
		if author := before.Get(keyCreatedBy); d.Get(keyCreatedBy) != author {
			err = d.Set(keyCreatedBy, author)
		} else if d.misplaced() {
			err = d.Set(keyCreatedBy, author) // moves our keys below metadata
		}
		return d, err
	})
}

func (l *Library) rewrite(ctx context.Context, name string, change func(*Document) (*Document, error)) error {
	return l.exclusively(ctx, func() error {
		info, err := l.managed(name)
		if err != nil {
			return err
		}
		r, err := openRooted(info.Dir, l.hooks)
		if err != nil {
			return fmt.Errorf("change the skill %q: %w", name, err)
		}
		defer r.close()
		data, err := r.read(fileName, maxDocument)
		if err != nil {
			return fmt.Errorf("change the skill %q: %w", name, err)
		}
		return rewriteIn(r, name, data, change)
	})
}

func rewriteIn(r *rooted, name string, data []byte, change func(*Document) (*Document, error)) error {
	d, err := Parse(data)
	if err == nil {
		d, err = change(d)
	}
	if err == nil {
		err = strict(d, name)
	}
	if err == nil {
		data, err = d.Bytes()
	}
	if err == nil {
		err = r.replace(fileName, data)
	}
	if err != nil {
		return fmt.Errorf("change the skill %q: %w", name, err)
	}
	return nil
}

// misplaced reports whether a key of ours stands where the standard knows none.
func (d *Document) misplaced() bool {
	for _, key := range ours() {
		if value(d.front, key) != nil {
			return true
		}
	}
	return false
}

// apply sets the given fields. Text from outside becomes harmless here.
func (d *Document) apply(f Fields) error {
	var errs []error
	for _, s := range []struct {
		key  string
		text *string
	}{
		{keyDescription, f.Description},
		{keyLicense, f.License},
		{keyCompatibility, f.Compatibility},
		{keyAllowedTools, f.AllowedTools},
		{keyVersion, f.Version},
		{keyCategory, f.Category},
	} {
		if s.text != nil {
			errs = append(errs, d.Set(s.key, oneLine(*s.text)))
		}
	}
	if f.Body != nil {
		body := "\n" + strings.Trim(clean.Text([]byte(*f.Body)), "\n") + "\n"
		d.Body = strings.ReplaceAll(body, "\n", d.newline)
	}
	return errors.Join(errs...)
}

// oneLine makes a value of one line. The standard's checker ends the front matter at
// three dashes wherever they stand, so they become one long one.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(clean.Text([]byte(text[:min(len(text), maxDocument)]))), " ")
	return strings.ReplaceAll(text, "---", "—")
}

// born begins the counters of a new skill anew.
func (t *telemetry) born(name string, at time.Time) {
	t.Skills[name] = &record{State: Active, CreatedAt: &at}
}

// Pin keeps the curator from a skill, or lets it have it again.
func (l *Library) Pin(ctx context.Context, name string, pinned bool) error {
	if _, err := l.managed(name); err != nil {
		return err
	}
	return l.counts(ctx, func(t *telemetry) { t.of(name).Pinned = pinned })
}
