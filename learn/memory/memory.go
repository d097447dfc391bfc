// Package memory keeps what runs found out, one short text each, with where it came
// from. Records are appended and never changed; a person can have one forgotten. It
// calls no model and knows no git. What it reads back is text of unknown origin that
// was made harmless for a terminal, not for a model: whoever puts it into a prompt says
// that it is material.
package memory

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"si/internal/durable"
	"si/internal/secret"
)

const (
	dirName  = "memory"
	fileName = "records.jsonl"

	maxContent = 2000 // code points; more is refused, never cut
	maxWord    = 40   // code points of a type or a tag
	maxTags    = 10
	maxProof   = 10
	maxFile    = 256 << 20 // bytes
	maxLine    = 64 << 10  // bytes
)

// Provenance says where a record came from.
type Provenance struct {
	Run      string   `json:"run,omitempty"`
	Round    int      `json:"round,omitempty"`
	Role     string   `json:"role,omitempty"`
	Evidence []string `json:"evidence,omitempty"` // ids of proofs, names of logs
}

// Record is one memory.
type Record struct {
	ID        string     `json:"id"` // M-<n>
	Content   string     `json:"content"`
	Type      string     `json:"type"`
	Tags      []string   `json:"tags,omitempty"`
	From      Provenance `json:"from"`
	CreatedAt time.Time  `json:"created_at"`
}

// Options say where memories lie.
type Options struct {
	Base  string // the state base, absolute; the records are in <Base>/memory
	Store *durable.Store
	Now   func() time.Time
}

// Store is the memories of one place. It is safe for concurrent use, also by several
// processes: one writes at a time, and every question looks at the disk.
type Store struct {
	dir   string
	store *durable.Store
	now   func() time.Time

	mu   sync.Mutex
	read *state
}

// Open returns the store of a state base. It reads and writes nothing yet.
func Open(o Options) (*Store, error) {
	if !filepath.IsAbs(o.Base) {
		return nil, fmt.Errorf("open the memories: the state base %q is no absolute path", o.Base)
	}
	store := o.Store
	if store == nil {
		store = &durable.Store{}
	}
	return &Store{dir: filepath.Join(o.Base, dirName), store: store.Within(o.Base), now: o.Now}, nil
}

// Dir is the folder of the records.
func (s *Store) Dir() string { return s.dir }

func (s *Store) path() string { return filepath.Join(s.dir, fileName) }

// Listing is what a look at the store gives.
type Listing struct {
	Records []Record `json:"records"`          // newest first
	Faults  []string `json:"faults,omitempty"` // lines that cannot be read; they are left out
}

// List returns all memories that were not forgotten, newest first.
func (s *Store) List() (Listing, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st, err := s.load()
	if err != nil {
		return Listing{}, err
	}
	out := Listing{Records: make([]Record, 0, len(st.live)), Faults: slices.Clone(st.faults)}
	for _, m := range slices.Backward(st.live) {
		out.Records = append(out.Records, m.Record)
	}
	return out, nil
}

// Add appends a memory and returns its id. A text that is remembered already is not
// written twice: the id is that of the first, and known is true. One that a person had
// forgotten is ErrForgotten.
func (s *Store) Add(ctx context.Context, r Record) (id string, known bool, err error) {
	if r, err = r.sound(); err != nil {
		return "", false, fmt.Errorf("remember: %w", err)
	}
	if kind := secret.Looks(r.Content); kind != "" {
		return "", false, fmt.Errorf("remember: the content seems to hold %s; say where it is instead", kind)
	}
	err = s.exclusively(ctx, func(st *state) error {
		digest := digestOf(r.Content)
		if st.forgotten[digest] {
			return ErrForgotten
		}
		if id, known = st.known[digest]; known {
			return nil
		}
		if st.size > maxFile-maxLine {
			return fmt.Errorf("%s has reached %d MB; 'si memory forget' with --erase makes room", s.path(), maxFile>>20)
		}
		r.ID, r.CreatedAt = fmt.Sprintf("M-%d", st.last+1), s.now().UTC()
		id = r.ID
		return s.append(line{Record: r})
	})
	if err != nil {
		return "", false, fmt.Errorf("remember: %w", err)
	}
	return id, known, nil
}
