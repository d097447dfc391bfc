package memory

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
)

// Forget takes a memory out of every list and recall, and its text is not taken
// again. Without erase the line stays in the file; erase writes the file anew without
// the text, of which only a digest is kept.
func (s *Store) Forget(ctx context.Context, id string, erase bool) error {
	err := s.exclusively(ctx, func(st *state) error {
		if _, ok := st.digests[id]; !ok {
			return fmt.Errorf("%w: %q; 'si memory list' has the ids", ErrNotFound, short(id))
		}
		if !erase {
			return s.append(line{Forget: id})
		}
		return s.erase(st, st.digests[id])
	})
	if err != nil {
		return fmt.Errorf("forget a memory: %w", err)
	}
	return nil
}

// erase writes every line again but those whose text has the digest.
func (s *Store) erase(st *state, digest string) error {
	data, err := s.whole(st.size)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	for text := range bytes.Lines(data) {
		var l line
		if json.Unmarshal(text, &l) == nil && l.Content != "" && st.digests[l.ID] == digest {
			if text, err = json.Marshal(erased{l.ID, digest}); err != nil {
				return err
			}
			text = append(text, '\n')
		}
		out.Write(text)
	}
	return s.store.Replace(s.path(), out.Bytes(), 0o644)
}

// erased is what is left of a record.
type erased struct {
	ID     string `json:"id"`
	Digest string `json:"digest"`
}
