package knowledge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"

	"si/internal/secret"
	"si/learn/place"
)

// InvalidError says that an entry is not one that can be written. Nothing was.
type InvalidError struct{ Err error }

func (e *InvalidError) Error() string { return "add a knowledge entry: " + e.Err.Error() }
func (e *InvalidError) Unwrap() error { return e.Err }

// Add writes a new entry into a file of its own and returns it with the id that it
// got. taken are ids that are out of use though no entry has them: evidence about
// them must not count for another. Two writers at once get two ids.
func Add(ctx context.Context, p place.Place, e Entry, taken func() ([]string, error)) (Entry, error) {
	release, err := p.Lock(ctx)
	if err != nil {
		return e, err
	}
	defer release()
	return AddLocked(p, e, taken)
}

// AddLocked is Add for a caller that holds the lock.
func AddLocked(p place.Place, e Entry, taken func() ([]string, error)) (Entry, error) {
	s, err := Load(p)
	if err != nil {
		return e, err
	}
	ids, err := taken()
	if err != nil {
		return e, fmt.Errorf("add a knowledge entry: %w", err)
	}
	e.ID = s.nextID(ids)
	e.Counters = Counters{}
	if err := e.check(); err != nil {
		return e, &InvalidError{err}
	}
	if kind := secret.Looks(e.Text); kind != "" {
		return e, &InvalidError{fmt.Errorf("text: it seems to hold %s, which would be in the repository for good; say where it is instead", kind)}
	}
	for _, id := range e.Supersedes {
		if _, ok := s.Entry(id); !ok {
			return e, &InvalidError{fmt.Errorf("supersedes: %s is not in the store; 'si knowledge list' shows what is", id)}
		}
	}
	e.File = path.Join(s.Dir, strings.ToLower(e.ID)+".yaml")
	data, err := encode(e)
	if err != nil {
		return e, err
	}
	err = p.Edit(e.File, func(old []byte) ([]byte, error) {
		if old != nil {
			return nil, fmt.Errorf("add a knowledge entry: %s is there already, with other entries; rename it", e.File)
		}
		return data, nil
	})
	return e, err
}

// nextID is one above every id that was ever seen.
func (s *Store) nextID(taken []string) string {
	most := 0
	for _, e := range s.Entries {
		most = max(most, number(e.ID))
		for _, id := range e.Supersedes {
			most = max(most, number(id))
		}
	}
	for _, id := range taken {
		most = max(most, number(id))
	}
	return fmt.Sprintf("K-%d", most+1)
}

// encode writes a file with one entry, and reads it back: what is written can be
// read.
func encode(e Entry) ([]byte, error) {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	err := errors.Join(enc.Encode(struct {
		Entries []Entry `yaml:"entries"`
	}{[]Entry{e}}), enc.Close())
	if err == nil {
		_, err = parse(e.File, b.Bytes())
	}
	if err != nil {
		return nil, &InvalidError{err}
	}
	return b.Bytes(), nil
}
