package knowledge

import (
	"fmt"
	"slices"

	"si/learn/place"
	"si/learn/strictyaml"
)

// maxEntries bounds a store.
const maxEntries = 50_000

// Store is a knowledge store as it was read. It is not changed by what is written
// later.
type Store struct {
	Dir     string // such as .si/knowledge
	Entries []Entry

	byID map[string]int
}

// DuplicateError says that two entries have the same id. No entry of such a store
// can be trusted to be the one that its counters and its supersedes are about.
type DuplicateError struct {
	ID            string
	First, Second string // file:line
}

func (e *DuplicateError) Error() string {
	return fmt.Sprintf("read the knowledge store: the id %s stands twice, in %s and in %s; give one of them a new id", e.ID, e.First, e.Second)
}

// Load reads the whole store, or refuses it whole: files in the order of their
// names, entries in the order of their lines. A repository without a store has an
// empty one.
func Load(p place.Place) (*Store, error) {
	s := &Store{Dir: p.Knowledge(), byID: map[string]int{}}
	files, err := p.Files(s.Dir, ".yaml")
	if err != nil {
		return nil, fmt.Errorf("read the knowledge store: %w", err)
	}
	for _, file := range files {
		data, err := p.Read(file)
		if err != nil {
			return nil, fmt.Errorf("read the knowledge store: %w", err)
		}
		entries, err := parse(file, data)
		if err != nil {
			return nil, fmt.Errorf("read the knowledge store: %w", err)
		}
		if err := s.take(entries); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *Store) take(entries []Entry) error {
	for _, e := range entries {
		if i, twice := s.byID[e.ID]; twice {
			return &DuplicateError{e.ID, s.Entries[i].at(), e.at()}
		}
		if len(s.Entries) == maxEntries {
			return fmt.Errorf("read the knowledge store: it has more than %d entries; 'si knowledge audit' says which can go", maxEntries)
		}
		s.byID[e.ID] = len(s.Entries)
		s.Entries = append(s.Entries, e)
	}
	return nil
}

func (e *Entry) at() string { return fmt.Sprintf("%s:%d", e.File, e.Line) }

// Entry returns the entry with an id.
func (s *Store) Entry(id string) (Entry, bool) {
	i, ok := s.byID[id]
	if !ok {
		return Entry{}, false
	}
	return s.Entries[i], true
}

// SupersededBy is the id of the first other entry that replaces an id, "" when the
// entry is live. An entry that names itself replaces nothing.
func (s *Store) SupersededBy() map[string]string {
	by := map[string]string{}
	for _, e := range s.Entries {
		for _, id := range e.Supersedes {
			if _, taken := by[id]; !taken && id != e.ID {
				by[id] = e.ID
			}
		}
	}
	return by
}

// Live returns the entries that no other supersedes, in the store's order.
func (s *Store) Live() []Entry {
	gone := s.SupersededBy()
	return slices.DeleteFunc(slices.Clone(s.Entries), func(e Entry) bool { return gone[e.ID] != "" })
}

func parse(file string, data []byte) ([]Entry, error) {
	root, ok, err := strictyaml.Parse(file, data)
	if err != nil || !ok {
		return nil, err
	}
	fields, err := root.Fields("entries")
	if err != nil {
		return nil, err
	}
	list, ok := fields["entries"]
	if !ok {
		return nil, root.Faultf("the key entries is missing")
	}
	if list.Null() {
		return nil, nil
	}
	items, err := list.List()
	if err != nil {
		return nil, err
	}
	entries := make([]Entry, 0, len(items))
	for _, item := range items {
		e, err := parseEntry(item.Named("an entry"))
		if err != nil {
			return nil, err
		}
		e.File = file
		entries = append(entries, e)
	}
	return entries, nil
}
